"""Whole pages about a run: the report, and what goes wrong."""
