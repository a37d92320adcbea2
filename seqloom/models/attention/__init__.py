"""Attention: where a decoder looks in its sources, and what it finds there. One module per family of kinds."""

from seqloom.models.attention.additive import AdditiveAttention, ConcatAttention, CoverageAttention
from seqloom.models.attention.building import build_attention, build_score
from seqloom.models.attention.contract import (
    Attention,
    AttentionWeights,
    Carry,
    Chance,
    KeyValues,
    Read,
    ScoredAttention,
    masked_softmax,
)
from seqloom.models.attention.dot import BilinearAttention, DotAttention, ProjectedAttention
from seqloom.models.attention.hard import HardAttention
from seqloom.models.attention.local import LocalAttention
from seqloom.models.attention.location import LocationAttention
from seqloom.models.attention.multi_head import MultiHeadAttention
from seqloom.models.attention.premultiplied import PremultipliedAttention

__all__ = [
    "AdditiveAttention",
    "Attention",
    "AttentionWeights",
    "BilinearAttention",
    "Carry",
    "Chance",
    "ConcatAttention",
    "CoverageAttention",
    "DotAttention",
    "HardAttention",
    "KeyValues",
    "LocalAttention",
    "LocationAttention",
    "MultiHeadAttention",
    "PremultipliedAttention",
    "ProjectedAttention",
    "Read",
    "ScoredAttention",
    "build_attention",
    "build_score",
    "masked_softmax",
]
