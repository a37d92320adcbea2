"""The speed benchmark: ours beside a plain textbook implementation, interleaved in one run on the same data."""
