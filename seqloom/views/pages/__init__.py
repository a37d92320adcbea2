"""Whole pages about a run: the report, what goes wrong, a gallery of pictures."""
