"""Weights beside the loop: parts with rates of their own, those of another run to start from, those kept and averaged."""
