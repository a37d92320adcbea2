"""What figures are made of: threads, clocks, medians, the machine's matrix rate, peak memory."""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import torch

from seqloom.training.machine import Precision, choose_precision

MATRIX_SIZE = 1024
_SLOW_SECONDS = 0.25
"""A product that takes longer is emulated: sampled once, not in every round."""
_TYPES: dict[Precision, torch.dtype] = {"fp32": torch.float32, "bf16": torch.bfloat16}


def precision_here(wanted: Literal["auto", "fp32", "bf16"]) -> Precision:
    """The precision asked for; `auto` is what training would take on this machine's processor."""
    return choose_precision(wanted, torch.device("cpu"))


def timed(work: Callable[[], object]) -> float:
    """Seconds that the work took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Clock:
    """What work is timed by: with one thread the processor's time, which other programs disturb less, else the wall's."""

    def __init__(self, threads: int) -> None:
        self.name = "processor" if threads == 1 else "wall"
        self._now = time.process_time if threads == 1 else time.perf_counter

    def timed(self, work: Callable[[], object]) -> float:
        """Seconds that the work took."""
        began = self._now()
        work()
        return self._now() - began


class MatrixRates:
    """How fast this machine multiplies square matrices, sampled now and then in the same run as everything else."""

    def __init__(self, size: int = MATRIX_SIZE) -> None:
        self._size = size
        generator = torch.Generator().manual_seed(1)
        factors = torch.randn(2, size, size, generator=generator)
        self._factors = {precision: factors.to(kind) for precision, kind in _TYPES.items()}
        self._seconds: dict[Precision, list[float]] = {"fp32": [], "bf16": []}
        self._multiply("fp32")  # the first product also sets the threads up

    def sample(self, count: int = 5) -> None:
        """Time a few products in each precision; one that turned out to be emulated is not sampled again."""
        for precision, seconds in self._seconds.items():
            for _ in range(count):
                if seconds and min(seconds) > _SLOW_SECONDS:
                    break
                seconds.append(timed(lambda precision=precision: self._multiply(precision)))  # type: ignore[misc]

    def _multiply(self, precision: Precision) -> None:
        left, right = self._factors[precision]
        torch.mm(left, right)

    @property
    def gflops(self) -> dict[Precision, float]:
        """Medians, in thousand million operations a second."""
        operations = 2 * self._size**3
        return {name: operations / statistics.median(seconds) / 1e9 for name, seconds in self._seconds.items()}


class Deadline:
    """Says when a benchmark has run long enough; at least one round is always measured."""

    def __init__(self, seconds: float) -> None:
        self._end = time.perf_counter() + seconds

    @property
    def passed(self) -> bool:
        """Whether no further round should begin."""
        return time.perf_counter() > self._end


def peak_mb() -> float:
    """The peak resident set of this process, in MB.

    Linux hands the parent's peak down to a child in `ru_maxrss`, because a child shares its parent's memory until it
    becomes another program; VmHWM is the new program's own.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024
