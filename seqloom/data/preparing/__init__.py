"""Examples -> symbols -> memory-mapped splits -> batches."""
