"""What the processor can multiply fast. Known without torch, so that a command can warn before anything is loaded."""

from pathlib import Path
from typing import Literal

InferencePrecision = Literal["fp32", "bf16", "int8"]
"""What prediction may compute its matrix products in."""

_BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""Processor flags, of x86 and of Arm, that mean bfloat16 products in hardware. Without them they are emulated."""


def has_bf16_products() -> bool:
    """Whether the processor multiplies bfloat16 numbers in hardware."""
    return bool(_BF16_FLAGS & processor_flags())


def processor_flags() -> frozenset[str]:
    """What the processor says it can do; empty where it cannot be asked."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in {"flags", "Features"}:
            return frozenset(value.split())
    return frozenset()
