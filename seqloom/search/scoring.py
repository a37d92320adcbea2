"""What ranks finished outputs: log-probability by length (S4), and how much of the source was looked at."""

from collections.abc import Mapping

import numpy as np

from seqloom.errors import UsageError
from seqloom.search.contracts import FloatArray, IntArray, Step
from seqloom.search.request import Request
from seqloom.search.traces import BoolArray, Sums

_NEVER_SEEN = float(np.finfo(np.float32).tiny)
"""A position without any weight counts as this much: it costs much, not everything, so that order remains."""


def by_length(sums: Sums, length: int | IntArray, power: float) -> Sums:
    """`log_prob / length^power`; an empty output, which has log-probability 0, scores 0."""
    return sums / np.maximum(length, 1) ** power


class Coverage:
    """The term `weight * sum_j log(min(1, sum_t a_jt))` over the real positions j of all sources, a averaged over heads.

    The totals `sum_t a_jt` of a row are an array [B, K, S] over the positions of all sources side by side.
    """

    def __init__(self, weight: float, request: Request) -> None:
        self._weight = weight
        self._lengths = request.source_lengths

    def totals(self, step: Step, before: FloatArray | None) -> FloatArray:
        """Add this step to the totals of the same rows before it (None at the first step)."""
        if not step.weights:
            raise UsageError(
                f"search.coverage is {self._weight}, but this model has no attention, so nothing tells what it looked at. "
                "Write `coverage: 0`, or use a model with an attention bridge"
            )
        now = np.concatenate([weights.mean(axis=2) for weights in step.weights.values()], axis=2)
        return now if before is None else before + now

    def penalties(self, totals: FloatArray, step: Step, sentences: IntArray) -> Sums:
        """Compute the term itself for each row, [B, K]; it is never above 0."""
        logs = np.log(np.clip(totals, _NEVER_SEEN, 1.0)).astype(np.float64)
        real = _real_positions(step.weights, self._lengths, sentences)
        penalties: Sums = self._weight * np.where(real[:, None], logs, 0.0).sum(axis=2)
        return penalties


def _real_positions(weights: Mapping[str, FloatArray], lengths: Mapping[str, IntArray], sentences: IntArray) -> BoolArray:
    """Which positions of all sources side by side are real, [B, S]."""
    parts = []
    for name, values in weights.items():
        size = values.shape[3]
        ends = lengths[name][sentences] if name in lengths else np.full(len(sentences), size)
        parts.append(np.arange(size) < ends[:, None])
    return np.concatenate(parts, axis=1)
