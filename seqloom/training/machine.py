"""What the machine offers: threads, precision, versions. Chosen by capability, never by timing, and recorded in the run."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import torch

from seqloom.system.cpu import has_bf16_products

Precision = Literal["fp32", "bf16"]


def choose_precision(wanted: Literal["auto", "fp32", "bf16"], device: torch.device) -> Precision:
    """The precision to train in: `auto` takes bfloat16 products where the hardware has them."""
    if wanted != "auto":
        return wanted
    return "bf16" if _has_bf16(device) else "fp32"


def _has_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return device.type == "cpu" and has_bf16_products()


def choose_threads(wanted: int | None) -> int:
    """How many threads to compute with: what the recipe says, else one per core that this process may use."""
    if wanted is not None:
        return wanted
    own = os.environ.get("OMP_NUM_THREADS", "")
    if own.isdigit() and int(own) > 0:
        return int(own)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def computing(threads: int) -> Iterator[None]:
    """Settings of the whole process, taken back afterwards: threads, and numbers next to zero as zero, which is faster."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before)


def describe() -> dict[str, str]:
    """The machine and the versions of what computes on it."""
    facts = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    for name in ("seqloom", "torch", "numpy", "tokenizers"):
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            facts[name] = "unknown"
    return facts
