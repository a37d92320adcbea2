"""What the processor can multiply fast. Known without torch, so that a command can warn before anything is loaded."""

import platform
from pathlib import Path
from typing import Literal

InferencePrecision = Literal["fp32", "bf16", "int8"]
"""What prediction may compute its matrix products in: an exported model in fp32 or int8, a run in fp32 or bf16."""
TorchPrecision = Literal["fp32", "bf16"]

_BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""Processor flags, of x86 and of Arm, that mean bfloat16 products in hardware. Without them they are emulated."""


def has_bf16_products() -> bool:
    """Whether the processor multiplies bfloat16 numbers in hardware."""
    return bool(_BF16_FLAGS & processor_flags())


def processor_flags() -> frozenset[str]:
    """What the processor says it can do; empty where it cannot be asked."""
    return frozenset(_told("flags", "Features").split())


def processor_name() -> str:
    """What the processor is called, and which of its instructions decide how fast small integers are multiplied."""
    flags = processor_flags()
    vector = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else ""
    vnni = ("with" if any("vnni" in flag for flag in flags) else "without") + " VNNI" if vector else ""
    return ", ".join(part for part in (_told("model name") or platform.machine(), vector, vnni) if part)


def _told(*names: str) -> str:
    """What the system says of the first processor under one of these names."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in pairs if name.strip() in names), "")
