"""The bridge that a recipe names."""

from typing import assert_never

from seqloom.models.bridges.attention import AttentionBridge
from seqloom.models.bridges.contract import Bridge
from seqloom.models.bridges.cross_attention import CrossAttentionBridge
from seqloom.models.bridges.monotonic import MonotonicBridge
from seqloom.models.bridges.summaries import EveryStepBridge, InitialBridge
from seqloom.models.starts import DecoderShape, MemorySizes
from seqloom.recipe import sections


def build_bridge(section: sections.Bridge, decoder: DecoderShape, memory_sizes: MemorySizes) -> Bridge:
    """The bridge that a recipe names, between a decoder and memories of the given widths."""
    match section:
        case sections.NoBridge():
            return Bridge()
        case sections.InitialBridge(start=start):
            return InitialBridge(start, decoder, memory_sizes)
        case sections.EveryStepBridge(start=start):
            return EveryStepBridge(start, decoder, memory_sizes)
        case sections.AttentionBridge():
            return AttentionBridge(section, decoder, memory_sizes)
        case sections.MonotonicBridge():
            return MonotonicBridge(section, decoder, memory_sizes)
        case sections.CrossAttentionBridge():
            return CrossAttentionBridge(section, decoder, memory_sizes)
        case _:
            assert_never(section)
