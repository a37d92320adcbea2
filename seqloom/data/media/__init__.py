"""Sources that are files: where names lead, what becomes of a file, and the store of arrays."""
