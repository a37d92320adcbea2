"""Local attention (Luong et al. 2015): a score as in any other kind, but only the positions in a window are looked at.

Positions and steps count from 1. The window is `[p_t - D, p_t + D]`; where it lies is what the kinds differ in.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from seqloom.models.attention.contract import (
    Attention,
    AttentionOnScore,
    AttentionWeights,
    Carry,
    KeyValues,
    Read,
    ScoredAttention,
    masked_softmax,
)
from seqloom.models.initialisation import start_matrix
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries


class LocalAttention(AttentionOnScore):
    """window: D, at least 1, so that there is always a position in it."""

    def __init__(self, score: ScoredAttention, *, window: int) -> None:
        super().__init__(score)
        self.window = window

    def _mask(self, distances: Tensor, keys: KeyValues) -> Tensor:
        """Which positions are looked at, [B, 1, Q, S], by their distances from the centre [B, Q, S]."""
        return ((distances.abs() <= self.window) & keys.mask[:, None])[:, None]


class MonotonicAttention(LocalAttention):
    """`p_t = t`, or the last position once there is none for t: for targets that run along with their sources.

    Carried is t, [B, K].
    """

    def start(self, keys: KeyValues) -> Carry:
        """The first step is step 1."""
        return _first_step(keys)

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """The softmax over the window around t."""
        (time,) = carry
        centres = torch.minimum(time, _lengths(keys))
        mask = self._mask(distances_from(centres, keys), keys)
        return AttentionWeights(masked_softmax(self.score.scores(query, keys), mask), (time + 1,))


class InStepAttention(Attention):
    """Step t looks at position t, and nowhere once there is none, so that a tagger knows when it is done. Carried is t, [B, K].

    A window of `MonotonicAttention` would be of no use to a tagger: scores know states, not which of them is in the middle.
    """

    def __init__(self, memory_size: int) -> None:
        super().__init__()
        self.context_size = memory_size

    def prepare(self, memory: Memory) -> KeyValues:
        """The states: nothing is compared with them."""
        return KeyValues(memory.states, memory.states, memory.mask)

    def start(self, keys: KeyValues) -> Carry:
        """The first step is step 1."""
        return _first_step(keys)

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """All weight at t, whatever is asked."""
        (time,) = carry
        there = (distances_from(time, keys) == 0) & keys.mask[:, None]
        return AttentionWeights(there[:, None].to(query), (time + 1,))

    @property
    def multiplications(self) -> Multiplications:
        """Contexts alone."""
        return Multiplications(pair=self.context_size)


class FollowingAttention(LocalAttention):
    """`p_t = sum_j j a_{j,t-1}`, the centre of where the step before looked; before the first step, the first position.

    For targets that run along with their sources at a pace of their own. Carried is p_t, [B, K].
    """

    def start(self, keys: KeyValues) -> Carry:
        """The first step looks at the beginning."""
        return (torch.ones_like(keys.mask[:, :1], dtype=keys.values.dtype),)

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """The softmax over the window around the centre of the step before."""
        mask = self._mask(distances_from(carry[0], keys), keys)
        weights = masked_softmax(self.score.scores(query, keys), mask)
        return AttentionWeights(weights, (centres_of(weights[:, 0]),))

    def redirected(self, read: Read, weights: Tensor, keys: KeyValues, carry: Carry) -> Read:
        """What would have been read with other weights, around whose centre the next step looks."""
        return replace(super().redirected(read, weights, keys, carry), carry=(centres_of(weights[:, 0]),))


class PredictiveAttention(LocalAttention):
    """`p_t = S sigmoid(v^T tanh(W s))`: the query says where to look. Positions far from there count less, by a Gaussian.

    The Gaussian (of standard deviation D / 2) multiplies the exponentials of the scores before these are divided by their
    sum, where the paper does so afterwards: weights sum to one here, as those of all kinds do.
    """

    def __init__(self, score: ScoredAttention, query_size: int, *, window: int) -> None:
        super().__init__(score, window=window)
        self.to_hidden = Linear(query_size, query_size, bias=False)
        self.to_place = nn.Linear(query_size, 1, bias=False)
        start_matrix(self.to_place.weight)

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """The softmax over the window around the place that each query names."""
        place = torch.sigmoid(self.to_place(torch.tanh(self.to_hidden(query)))).squeeze(-1)  # [B, Q]
        distances = distances_from(_lengths(keys) * place, keys)
        gaussian = -distances.square() / (2.0 * (self.window / 2.0) ** 2)
        scores = self.score.scores(query, keys) + gaussian[:, None]
        return AttentionWeights(masked_softmax(scores, self._mask(distances, keys)), carry)

    @property
    def multiplications(self) -> Multiplications:
        """Those of the score, positions beyond the window too, and what says where to look."""
        return super().multiplications + Multiplications(target=matrix_entries(self.to_hidden, self.to_place))


def _first_step(keys: KeyValues) -> Carry:
    return (torch.ones_like(keys.mask[:, :1], dtype=torch.long),)


def _lengths(keys: KeyValues) -> Tensor:
    """S of each sentence, [B, 1]: real positions, which come before all padding."""
    return keys.mask.sum(dim=1, keepdim=True)


def centres_of(weights: Tensor) -> Tensor:
    """The mean position, counted from 1, by weights [B, Q, S]: [B, Q]. No gradient goes through it: windows have edges."""
    positions = torch.arange(1, weights.shape[-1] + 1, device=weights.device, dtype=weights.dtype)
    return (weights.detach() * positions).sum(dim=-1)


def distances_from(centres: Tensor, keys: KeyValues) -> Tensor:
    """How far every position is from the centres [B, Q], with its sign: [B, Q, S]."""
    positions = torch.arange(1, keys.mask.shape[1] + 1, device=keys.mask.device)
    return positions - centres[..., None]
