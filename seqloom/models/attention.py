"""Attention (A1-A4, A9): scores, weights, context. One class per kind, which supplies only what is its own.

Keys are prepared once per source and returned, never kept on the module, so that two requests cannot meet.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

import torch
from torch import Tensor, nn

from seqloom.models.memory import Memory
from seqloom.models.multiplying import Linear, linear
from seqloom.recipe import sections

Carry = tuple[Tensor, ...]
"""What an attention remembers from one step to the next, leaves [B, K, ...]; the soft kinds remember nothing."""


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
class Read:
    """What queries found: context [B, Q, C], weights [B, H, Q, S], the carry for the next step, terms for the loss by name."""

    context: Tensor
    weights: Tensor
    carry: Carry
    penalties: Mapping[str, Tensor] = field(default_factory=dict)


class Attention(nn.Module, ABC):
    """Scores become weights by a softmax over real positions, and weights a context (A1). context_size: C."""

    context_size: int

    @abstractmethod
    def prepare(self, memory: Memory) -> Keys:
        """All that does not depend on the query, once per source."""

    @abstractmethod
    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """`e_jt`: how well each query fits each position; query [B, Q, D] -> [B, H, Q, S]."""

    def start(self, keys: Keys) -> Carry:  # noqa: ARG002 (kinds that remember need the keys)
        """The carry before the first step."""
        return ()

    def context(self, weights: Tensor, keys: Keys) -> Tensor:
        """`c_t = sum_j a_jt h_j`; weights [B, H, Q, S] -> [B, Q, C]."""
        return weights.mean(dim=1) @ keys.values

    def forward(self, query: Tensor, keys: Keys, carry: Carry) -> Read:
        """Read the source once for each query; query [B, Q, D]."""
        padding = ~keys.mask[:, None, None, :]
        scores = self.scores(query, keys)
        # Finite, and zeros afterwards: a source without any position gets no weights and no context, rather than NaN.
        scores = scores.masked_fill(padding, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1).masked_fill(padding, 0.0)
        return Read(self.context(weights, keys), weights, carry)


class DotAttention(Attention):
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


class BilinearAttention(Attention):
    """A4: `s^T W h_j`; `W h_j` is prepared once."""

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.matrix = Linear(memory_size, query_size, bias=False)
        nn.init.xavier_uniform_(self.matrix.weight)

    def prepare(self, memory: Memory) -> Keys:
        """Keys `W h_j`."""
        return Keys(self.matrix(memory.states), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Dot products with the prepared keys."""
        return (query @ keys.keys.transpose(1, 2))[:, None]


class AdditiveAttention(Attention):
    """A2: `V^T tanh(U s + W h_j)`, all three learned, no bias; `W h_j` is prepared once."""

    def __init__(self, query_size: int, memory_size: int, size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.from_query = Linear(query_size, size, bias=False)
        self.from_memory = Linear(memory_size, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)
        for matrix in (self.from_query, self.from_memory, self.energy):
            nn.init.xavier_uniform_(matrix.weight)

    def prepare(self, memory: Memory) -> Keys:
        """Keys `W h_j`."""
        return Keys(self.from_memory(memory.states), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Energies of the tanh layer."""
        hidden = torch.tanh(self.from_query(query)[:, :, None] + keys.keys[:, None])  # [B, Q, S, A]
        energies: Tensor = self.energy(hidden)
        return energies.squeeze(-1)[:, None]


class ConcatAttention(Attention):
    """A4, MLP: `w_2^T tanh(W_1 [s; h_j])`: additive attention with one matrix, whose columns for `h_j` are applied once."""

    def __init__(self, query_size: int, memory_size: int, size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.query_size = query_size
        self.hidden = Linear(query_size + memory_size, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)
        for matrix in (self.hidden, self.energy):
            nn.init.xavier_uniform_(matrix.weight)

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


class MultiHeadAttention(Attention):
    """A9: H scaled dot products side by side, on learned keys, queries and values; equals torch.nn.MultiheadAttention."""

    def __init__(self, query_size: int, memory_size: int, *, heads: int, size: int) -> None:
        super().__init__()
        self.context_size = size
        self.heads = heads
        self.to_query = Linear(query_size, size)
        self.to_key = Linear(memory_size, size)
        self.to_value = Linear(memory_size, size)
        self.to_context = Linear(size, size)
        for matrix in (self.to_query, self.to_key, self.to_value, self.to_context):
            nn.init.xavier_uniform_(matrix.weight)
            nn.init.zeros_(matrix.bias)

    def prepare(self, memory: Memory) -> Keys:
        """Learned keys and values."""
        return Keys(self.to_key(memory.states), self.to_value(memory.states), memory.mask)

    def scores(self, query: Tensor, keys: Keys) -> Tensor:
        """Scaled dot products per head."""
        queries = self._split(self.to_query(query))  # [B, H, Q, D/H]
        return queries @ self._split(keys.keys).transpose(2, 3) / math.sqrt(queries.shape[-1])

    def context(self, weights: Tensor, keys: Keys) -> Tensor:
        """Each head averages its own share of the values; one matrix joins them."""
        heads = weights @ self._split(keys.values)  # [B, H, Q, D/H]
        joined: Tensor = self.to_context(heads.transpose(1, 2).flatten(2))
        return joined

    def _split(self, joined: Tensor) -> Tensor:
        return joined.view(*joined.shape[:-1], self.heads, -1).transpose(1, 2)


def build_attention(section: sections.Attention, query_size: int, memory_size: int) -> Attention:
    """The attention that a recipe names. A new kind is a class, a recipe section and an arm here."""
    match section:
        case sections.Dot(scaled=scaled):
            return DotAttention(memory_size, scaled=scaled)
        case sections.Bilinear():
            return BilinearAttention(query_size, memory_size)
        case sections.Additive(size=size):
            return AdditiveAttention(query_size, memory_size, size)
        case sections.Concat(size=size):
            return ConcatAttention(query_size, memory_size, size)
        case sections.MultiHead(heads=heads, size=size):
            return MultiHeadAttention(query_size, memory_size, heads=heads, size=size)
        case _:
            assert_never(section)
