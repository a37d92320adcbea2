"""How fast this machine multiplies the shapes of a translation update, beside square matrices.

python benchmarks/shapes.py
"""

import statistics
import time

import torch

SHAPES = {
    "square": (1024, 1024, 1024),
    "one recurrent step": (64, 512, 2048),
    "the same, back": (64, 2048, 512),
    "a query": (64, 512, 512),
    "inputs of all steps": (820, 256, 2048),
    "a weight gradient": (2048, 820, 512),
    "the output layer in training": (820, 512, 7900),
    "the output layer of a beam": (320, 512, 7900),
}
REPEATS = 60


def gflops(rows: int, inner: int, columns: int) -> float:
    """The median rate of a product with a matrix that lies transposed, as layers have it."""
    left, right = torch.randn(rows, inner), torch.randn(columns, inner).t()
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        torch.mm(left, right)
        seconds.append(time.perf_counter() - began)
    return 2 * rows * inner * columns / statistics.median(seconds) / 1e9


if __name__ == "__main__":
    for name, shape in SHAPES.items():
        print(f"{name:30} {' x '.join(map(str, shape)):20} {gflops(*shape):6.0f} GFLOP/s")
