"""What every attention is (A1): scores, weights, context. Each kind supplies only what is its own.

KeyValues are prepared once per source and returned, never kept on the module, so that two requests cannot meet.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications
from seqloom.models.products import lay_out
from seqloom.system.cpu import TorchPrecision

Carry = tuple[Tensor, ...]
"""What an attention remembers from one step to the next, leaves [B, K, ...]. One that remembers nothing needs no order: it
can be asked for all steps at once."""


@dataclass(frozen=True)
class KeyValues:
    """A memory made ready for queries: keys [B, S, A] to compare with, values [B, S, C] to average, mask [B, S]."""

    keys: Tensor
    values: Tensor
    mask: Tensor

    def select(self, sentences: Tensor) -> "KeyValues":
        """Keep the given sentences."""
        return KeyValues(self.keys[sentences], self.values[sentences], self.mask[sentences])


@dataclass(frozen=True)
class Chance:
    """What training must know of positions that were drawn, [B, Q] each.

    log_probs: of what was drawn, zero where nothing was; entropies: of what it was drawn from.
    """

    log_probs: Tensor
    entropies: Tensor

    @classmethod
    def joined(cls, steps: Sequence["Chance"]) -> "Chance":
        """What was drawn at one step after the other, [B, T]."""
        return cls(torch.cat([step.log_probs for step in steps], dim=1), torch.cat([step.entropies for step in steps], dim=1))


@dataclass(frozen=True)
class AttentionWeights:
    """Where queries look: weights [B, H, Q, S], the carry for the next step, and what chance had to do with it, if anything."""

    weights: Tensor
    carry: Carry
    chance: Chance | None = None


@dataclass(frozen=True)
class Read:
    """What queries found: a context [B, Q, C], and where they looked for it, as in `AttentionWeights`."""

    context: Tensor
    weights: Tensor
    carry: Carry
    chance: Chance | None = None


class Attention(nn.Module, ABC):
    """Queries have weights over the positions of a source, and weights make a context (A1). context_size: C."""

    context_size: int
    averages_values = True
    """Whether a context is a mean of values, so that it can be multiplied by multiplying these."""

    @abstractmethod
    def prepare(self, memory: Memory) -> KeyValues:
        """All that does not depend on the query, once per source."""

    @abstractmethod
    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """`a_jt`: the weights of each query [B, Q, D]. With a carry, the queries are of one step, one for each of its rows."""

    def start(self, keys: KeyValues) -> Carry:  # noqa: ARG002 (kinds that remember need the keys)
        """The carry before the first step."""
        return ()

    def context(self, weights: Tensor, keys: KeyValues) -> Tensor:
        """`c_t = sum_j a_jt h_j`; weights [B, H, Q, S] -> [B, Q, C]."""
        return weights.mean(dim=1) @ keys.values

    def forward(self, query: Tensor, keys: KeyValues, carry: Carry) -> Read:
        """Read the source once for each query; query [B, Q, D]."""
        look = self.look(query, keys, carry)
        return Read(self.context(look.weights, keys), look.weights, look.carry, look.chance)

    def redirected(self, read: Read, weights: Tensor, keys: KeyValues, carry: Carry) -> Read:  # noqa: ARG002 (as in `start`)
        """What would have been read with other weights [B, H, Q, S] (A10). carry: that of before the reading."""
        return replace(read, context=self.context(weights, keys), weights=weights)

    @property
    @abstractmethod
    def multiplications(self) -> Multiplications:
        """What it costs: keys per source position, queries per target position, scores and contexts per pair."""

    def for_prediction(self, precision: TorchPrecision) -> "Attention":
        """The same, laid out for speed in a precision."""
        lay_out(self, precision)
        return self


class ScoredAttention(Attention):
    """Weights are a softmax of scores, which depend on nothing but query and keys (A1): other kinds can build on them."""

    @abstractmethod
    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        """`e_jt`: how well each query fits each position; query [B, Q, D] -> [B, H, Q, S]."""

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """The softmax over real positions."""
        return AttentionWeights(masked_softmax(self.scores(query, keys), keys.mask[:, None, None]), carry)

    def for_prediction(self, precision: TorchPrecision) -> "ScoredAttention":
        """The same, laid out for speed in a precision."""
        lay_out(self, precision)
        return self


class AttentionOnScore(Attention):
    """A kind that makes its own weights of a score. score: says how well positions fit."""

    def __init__(self, score: ScoredAttention) -> None:
        super().__init__()
        self.score, self.context_size = score, score.context_size

    def prepare(self, memory: Memory) -> KeyValues:
        """Those of the score."""
        return self.score.prepare(memory)

    @property
    def multiplications(self) -> Multiplications:
        """Those of the score."""
        return self.score.multiplications

    def for_prediction(self, precision: TorchPrecision) -> Attention:
        """The score in its own form."""
        self.score = self.score.for_prediction(precision)
        return self


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Weights over the positions that the mask lets through; scores [B, H, Q, S], mask: the like, or a shape that fits it."""
    # Finite, and zeros afterwards: a source without any position gets no weights and no context, rather than NaN.
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
