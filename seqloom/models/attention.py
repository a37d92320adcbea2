"""Attention (A1-A4, A6, A9): scores, weights, context. One class per kind, which supplies only what is its own.

Keys are prepared once per source and returned, never kept on the module, so that two requests cannot meet.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from seqloom.models.initialisation import start_matrix, start_small
from seqloom.models.memory import Memory
from seqloom.models.multiplying import Linear, linear

Carry = tuple[Tensor, ...]
"""What an attention remembers from one step to the next, leaves [B, K, ...]. One that remembers nothing needs no order: it
can be asked for all steps at once."""


@dataclass(frozen=True)
class Keys:
    """A memory made ready for queries: keys [B, S, A] to compare with, values [B, S, C] to average, mask [B, S]."""

    keys: Tensor
    values: Tensor
    mask: Tensor

    def select(self, sentences: Tensor) -> "Keys":
        """Keep the given sentences."""
        return Keys(self.keys[sentences], self.values[sentences], self.mask[sentences])


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
class Look:
    """Where queries look: weights [B, H, Q, S], the carry for the next step, and what chance had to do with it, if anything."""

    weights: Tensor
    carry: Carry
    chance: Chance | None = None


@dataclass(frozen=True)
class Read:
    """What queries found: a context [B, Q, C], and where they looked for it, as in `Look`."""

    context: Tensor
    weights: Tensor
    carry: Carry
    chance: Chance | None = None


class Attention(nn.Module, ABC):
    """Queries have weights over the positions of a source, and weights make a context (A1). context_size: C."""

    context_size: int

    @abstractmethod
    def prepare(self, memory: Memory) -> Keys:
        """All that does not depend on the query, once per source."""

    @abstractmethod
    def look(self, query: Tensor, keys: Keys, carry: Carry) -> Look:
        """`a_jt`: the weights of each query [B, Q, D]. With a carry, the queries are of one step, one for each of its rows."""

    def start(self, keys: Keys) -> Carry:  # noqa: ARG002 (kinds that remember need the keys)
        """The carry before the first step."""
        return ()

    def context(self, weights: Tensor, keys: Keys) -> Tensor:
        """`c_t = sum_j a_jt h_j`; weights [B, H, Q, S] -> [B, Q, C]."""
        return weights.mean(dim=1) @ keys.values

    def forward(self, query: Tensor, keys: Keys, carry: Carry) -> Read:
        """Read the source once for each query; query [B, Q, D]."""
        look = self.look(query, keys, carry)
        return Read(self.context(look.weights, keys), look.weights, look.carry, look.chance)

    def redirected(self, read: Read, weights: Tensor, keys: Keys, carry: Carry) -> Read:  # noqa: ARG002 (as in `start`)
        """What would have been read with other weights [B, H, Q, S] (A10). carry: that of before the reading."""
        return replace(read, context=self.context(weights, keys), weights=weights)


class ScoredAttention(Attention):
    """Weights are a softmax of scores, which depend on nothing but query and keys (A1): other kinds can build on them."""

    @abstractmethod
    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """`e_jt`: how well each query fits each position; query [B, Q, D] -> [B, H, Q, S]."""

    def look(self, query: Tensor, keys: Keys, carry: Carry) -> Look:
        """The softmax over real positions."""
        return Look(masked_softmax(self.scores(query, keys), keys.mask[:, None, None]), carry)


def masked_softmax(scores: Tensor, seen: Tensor) -> Tensor:
    """Weights over the positions that are seen; scores [B, H, Q, S], seen: the like, or a shape that fits it."""
    # Finite, and zeros afterwards: a source without any position gets no weights and no context, rather than NaN.
    scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1).masked_fill(~seen, 0.0)


class DotAttention(ScoredAttention):
    """A4: `s^T h_j`, optionally divided by the square root of the width."""

    def __init__(self, size: int, *, scaled: bool) -> None:
        super().__init__()
        self.context_size = size
        self.scale = 1.0 / math.sqrt(size) if scaled else 1.0

    def prepare(self, memory: Memory) -> Keys:
        """The states are the keys."""
        return Keys(memory.states, memory.states, memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Dot products."""
        return (self.scale * query @ keys.keys.transpose(1, 2))[:, None]


class BilinearAttention(ScoredAttention):
    """A4: `s^T W h_j`; `W h_j` is prepared once."""

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.matrix = Linear(memory_size, query_size, bias=False)

    def prepare(self, memory: Memory) -> Keys:
        """Keys `W h_j`."""
        return Keys(self.matrix(memory.states), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Dot products with the prepared keys."""
        return (query @ keys.keys.transpose(1, 2))[:, None]


class AdditiveAttention(ScoredAttention):
    """A2: `V^T tanh(U s + W h_j)`, all three learned, no bias; `W h_j` is prepared once."""

    def __init__(self, query_size: int, memory_size: int, size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.from_query = Linear(query_size, size, bias=False)
        self.from_memory = Linear(memory_size, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)
        start_matrix(self.energy.weight)

    def prepare(self, memory: Memory) -> Keys:
        """Keys `W h_j`."""
        return Keys(self.from_memory(memory.states), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Energies of the tanh layer."""
        hidden = torch.tanh(self.from_query(query)[:, :, None] + keys.keys[:, None])  # [B, Q, S, A]
        energies: Tensor = self.energy(hidden)
        return energies.squeeze(-1)[:, None]


class CoverageAttention(Attention):
    """Additive attention that knows where it has looked (Tu et al. 2016): `V^T tanh(U s + W h_j + w g_jt)`, `w` learned.

    The coverage `g_jt` is the sum of the weights that position j had before step t. It is what is carried, [B, K, S].
    """

    def __init__(self, query_size: int, memory_size: int, size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.from_query = Linear(query_size, size, bias=False)
        self.from_memory = Linear(memory_size, size, bias=False)
        self.from_coverage = nn.Parameter(torch.empty(size))
        self.energy = nn.Linear(size, 1, bias=False)
        start_matrix(self.energy.weight)
        start_small(self.from_coverage)

    def prepare(self, memory: Memory) -> Keys:
        """Keys `W h_j`."""
        return Keys(self.from_memory(memory.states), memory.states, memory.mask)

    def start(self, keys: Keys) -> Carry:
        """Nothing has been looked at."""
        return (torch.zeros_like(keys.mask, dtype=keys.values.dtype)[:, None],)

    def look(self, query: Tensor, keys: Keys, carry: Carry) -> Look:
        """A softmax of energies that see the coverage, which grows by the weights."""
        (coverage,) = carry
        hidden = self.from_query(query)[:, :, None] + keys.keys[:, None] + coverage[..., None] * self.from_coverage
        energies: Tensor = self.energy(torch.tanh(hidden))  # [B, Q, S, 1]
        weights = masked_softmax(energies.squeeze(-1)[:, None], keys.mask[:, None, None])
        return Look(weights, (coverage + weights[:, 0],))

    def redirected(self, read: Read, weights: Tensor, keys: Keys, carry: Carry) -> Read:
        """What would have been read, and is covered, with other weights."""
        (coverage,) = carry
        return replace(super().redirected(read, weights, keys, carry), carry=(coverage + weights[:, 0],))


class ConcatAttention(ScoredAttention):
    """A4, MLP: `w_2^T tanh(W_1 [s; h_j])`: additive attention with one matrix, whose columns for `h_j` are applied once."""

    def __init__(self, query_size: int, memory_size: int, size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.query_size = query_size
        self.hidden = Linear(query_size + memory_size, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)
        start_matrix(self.energy.weight)

    def prepare(self, memory: Memory) -> Keys:
        """Keys: the part of `W_1 [s; h_j]` that comes from `h_j`."""
        columns = self.hidden.weight[:, self.query_size :]
        return Keys(linear(memory.states, columns), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Energies of the tanh layer."""
        columns = self.hidden.weight[:, : self.query_size]
        hidden = torch.tanh(linear(query, columns)[:, :, None] + keys.keys[:, None])  # [B, Q, S, A]
        energies: Tensor = self.energy(hidden)
        return energies.squeeze(-1)[:, None]


SQUASHING: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "logistic": nn.Sigmoid, "relu": nn.ReLU, "none": nn.Identity}
"""The functions that may follow a layer of keys or queries, by the recipe's words."""


class ProjectedAttention(ScoredAttention):
    """A6: `k_j^T q` of keys `k_j = sigma(W_k h_j)` and queries `q = sigma(W_q s)`, one such layer or several, no bias.

    size: the width of keys and queries; squashing: a word of `SQUASHING`; scaled: divide by the square root of the width.
    """

    def __init__(self, query_size: int, memory_size: int, size: int, *, layers: int, squashing: str, scaled: bool) -> None:
        super().__init__()
        self.context_size = memory_size
        self.scale = 1.0 / math.sqrt(size) if scaled else 1.0
        self.squashing = squashing
        self.to_query = _squashing_layers(query_size, size, layers, squashing)
        self.to_key = _squashing_layers(memory_size, size, layers, squashing)

    def prepare(self, memory: Memory) -> Keys:
        """Learned keys; the states themselves are averaged."""
        return Keys(self.to_key(memory.states), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Dot products of learned queries with the prepared keys."""
        queries: Tensor = self.to_query(query)
        return (self.scale * queries @ keys.keys.transpose(1, 2))[:, None]


def _squashing_layers(input_size: int, size: int, layers: int, squashing: str) -> nn.Sequential:
    parts: list[nn.Module] = []
    for index in range(layers):
        parts += [Linear(input_size if index == 0 else size, size, bias=False), SQUASHING[squashing]()]
    return nn.Sequential(*parts)


class MultiHeadAttention(ScoredAttention):
    """A9: H scaled dot products side by side, on learned keys, queries and values; equals torch.nn.MultiheadAttention."""

    def __init__(self, query_size: int, memory_size: int, *, heads: int, size: int) -> None:
        super().__init__()
        self.context_size = size
        self.heads = heads
        self.to_query = Linear(query_size, size)
        self.to_key = Linear(memory_size, size)
        self.to_value = Linear(memory_size, size)
        self.to_context = Linear(size, size)

    def prepare(self, memory: Memory) -> Keys:
        """Learned keys and values."""
        return Keys(*self.remember(memory.states), memory.mask)

    def remember(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of states [..., D]."""
        return self.to_key(states), self.to_value(states)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Scaled dot products per head."""
        queries = self._split(self.to_query(query))  # [B, H, Q, D/H]
        return queries @ self._split(keys.keys).transpose(2, 3) / math.sqrt(queries.shape[-1])

    def context(self, weights: Tensor, keys: Keys) -> Tensor:
        """Each head averages its own share of the values; one matrix joins them."""
        return self._join(weights @ self._split(keys.values))

    def read_unseen(self, query: Tensor, keys: Tensor, values: Tensor, *, seen: Tensor | None, causal: bool = False) -> Tensor:
        """The context alone [B, Q, C], by torch's fused kernel: nobody is told where the queries looked.

        keys, values [B, S, D]; seen: which positions are, in a shape that fits [B, H, Q, S], None for all; causal: query t sees
        the positions up to t.
        """
        mask = None
        if seen is not None:  # finite, and zeros afterwards, as in `masked_softmax`
            mask = query.new_zeros(seen.shape).masked_fill(~seen, torch.finfo(query.dtype).min)
        heads = scaled_dot_product_attention(
            self._split(self.to_query(query)), self._split(keys), self._split(values), attn_mask=mask, is_causal=causal
        )
        return self._join(heads if seen is None else heads.masked_fill(~seen.any(dim=-1, keepdim=True), 0.0))

    def _join(self, heads: Tensor) -> Tensor:
        """The heads' own contexts [B, H, Q, D/H] as one [B, Q, C]."""
        joined: Tensor = self.to_context(heads.transpose(1, 2).flatten(2))
        return joined

    def _split(self, joined: Tensor) -> Tensor:
        return joined.view(*joined.shape[:-1], self.heads, -1).transpose(1, 2)
