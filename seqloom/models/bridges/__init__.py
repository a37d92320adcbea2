"""Bridges: how the decoder sees the source. As its first state only, the same at every step, or by attention."""

from seqloom.models.bridges.attention import AttentionBridge
from seqloom.models.bridges.building import build_bridge
from seqloom.models.bridges.contract import Bridge, BridgeRead, ContextUses, Link
from seqloom.models.bridges.cross_attention import CrossAttentionBridge
from seqloom.models.bridges.monotonic import MonotonicBridge
from seqloom.models.bridges.summaries import EveryStepBridge, InitialBridge

__all__ = [
    "AttentionBridge",
    "Bridge",
    "BridgeRead",
    "ContextUses",
    "CrossAttentionBridge",
    "EveryStepBridge",
    "InitialBridge",
    "Link",
    "MonotonicBridge",
    "build_bridge",
]
