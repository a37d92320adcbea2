"""The attacks of `benchmarks/reliability.py`: one module for each kind, each of which can be run alone."""
