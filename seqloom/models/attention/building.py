"""The attention that a recipe names."""

from typing import assert_never

from seqloom.models.attention.additive import AdditiveAttention, ConcatAttention, CoverageAttention
from seqloom.models.attention.contract import Attention, ScoredAttention
from seqloom.models.attention.dot import BilinearAttention, DotAttention, ProjectedAttention
from seqloom.models.attention.hard import HardAttention
from seqloom.models.attention.local import FollowingAttention, InStepAttention, MonotonicAttention, PredictiveAttention
from seqloom.models.attention.location import LocationAttention
from seqloom.models.attention.multi_head import MultiHeadAttention
from seqloom.recipe import sections


def build_attention(section: sections.Attention, query_size: int, memory_size: int) -> Attention:
    """Build a recipe's attention. A new kind is a class, a recipe section and an arm here."""
    match section:
        case sections.Additive(size=size, coverage=True):
            return CoverageAttention(query_size, memory_size, size)
        case sections.Location(size=size, filters=filters, width=width, window=window):
            return LocationAttention(query_size, memory_size, size, filters=filters, width=width, window=window)
        case sections.MultiHead(heads=heads, size=size):
            return MultiHeadAttention(query_size, memory_size, heads=heads, size=size)
        case sections.Local(centre="monotonic", window=window, score=score):
            return MonotonicAttention(build_score(score, query_size, memory_size), window=window)
        case sections.Local(centre="previous", window=window, score=score):
            return FollowingAttention(build_score(score, query_size, memory_size), window=window)
        case sections.Local(window=window, score=score):
            return PredictiveAttention(build_score(score, query_size, memory_size), query_size, window=window)
        case sections.InStep():
            return InStepAttention(memory_size)
        case sections.Hard(soft_share=soft_share, score=score):
            return HardAttention(build_score(score, query_size, memory_size), soft_share=soft_share)
        case _:
            return build_score(section, query_size, memory_size)


def build_score(section: sections.Score, query_size: int, memory_size: int) -> ScoredAttention:
    """The kinds of one head that know nothing but query and keys, on which others build."""
    match section:
        case sections.Dot(scaled=scaled):
            return DotAttention(memory_size, scaled=scaled)
        case sections.Bilinear():
            return BilinearAttention(query_size, memory_size)
        case sections.Additive(size=size):
            return AdditiveAttention(query_size, memory_size, size)
        case sections.Concat(size=size):
            return ConcatAttention(query_size, memory_size, size)
        case sections.Projected(size=size, layers=layers, nonlinearity=activation, scaled=scaled):
            return ProjectedAttention(query_size, memory_size, size, layers=layers, activation=activation, scaled=scaled)
        case _:
            assert_never(section)
