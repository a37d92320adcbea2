"""Scores from a tanh layer that sees query and position (A2, A4); one kind also sees where it has looked."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from seqloom.models.attention.contract import (
    Attention,
    AttentionWeights,
    Carry,
    KeyValues,
    Read,
    ScoredAttention,
    masked_softmax,
)
from seqloom.models.initialisation import start_matrix, start_small
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear, linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.system.cpu import TorchPrecision


class AdditiveAttention(ScoredAttention):
    """A2: `V^T tanh(U s + W h_j)`, all three learned, no bias; `W h_j` is prepared once."""

    def __init__(self, query_size: int, memory_size: int, size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.from_query = Linear(query_size, size, bias=False)
        self.from_memory = Linear(memory_size, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)
        start_matrix(self.energy.weight)

    def prepare(self, memory: Memory) -> KeyValues:
        """KeyValues `W h_j`."""
        return KeyValues(self.from_memory(memory.states), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        """Energies of the tanh layer."""
        hidden = torch.tanh(self.from_query(query)[:, :, None] + keys.keys[:, None])  # [B, Q, S, A]
        energies: Tensor = self.energy(hidden)
        return energies.squeeze(-1)[:, None]

    @property
    def multiplications(self) -> Multiplications:
        """KeyValues and queries; energies and contexts."""
        return Multiplications(
            source=matrix_entries(self.from_memory),
            target=matrix_entries(self.from_query),
            pair=matrix_entries(self.energy) + self.context_size,
        )


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

    def prepare(self, memory: Memory) -> KeyValues:
        """KeyValues `W h_j`."""
        return KeyValues(self.from_memory(memory.states), memory.states, memory.mask)

    def start(self, keys: KeyValues) -> Carry:
        """Nothing has been looked at."""
        return (torch.zeros_like(keys.mask, dtype=keys.values.dtype)[:, None],)

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """A softmax of energies that see the coverage, which grows by the weights."""
        (coverage,) = carry
        hidden = self.from_query(query)[:, :, None] + keys.keys[:, None] + coverage[..., None] * self.from_coverage
        energies: Tensor = self.energy(torch.tanh(hidden))  # [B, Q, S, 1]
        weights = masked_softmax(energies.squeeze(-1)[:, None], keys.mask[:, None, None])
        return AttentionWeights(weights, (coverage + weights[:, 0],))

    def redirected(self, read: Read, weights: Tensor, keys: KeyValues, carry: Carry) -> Read:
        """What would have been read, and is covered, with other weights."""
        (coverage,) = carry
        return replace(super().redirected(read, weights, keys, carry), carry=(coverage + weights[:, 0],))

    @property
    def multiplications(self) -> Multiplications:
        """KeyValues and queries; energies and contexts."""
        return Multiplications(
            source=matrix_entries(self.from_memory),
            target=matrix_entries(self.from_query),
            pair=matrix_entries(self.energy) + self.context_size,
        )


class ConcatAttention(ScoredAttention):
    """A4, MLP: `w_2^T tanh(W_1 [s; h_j])`: additive attention with one matrix, whose columns for `h_j` are applied once."""

    def __init__(self, query_size: int, memory_size: int, size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.query_size = query_size
        self.hidden = Linear(query_size + memory_size, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)
        start_matrix(self.energy.weight)

    @property
    def parts(self) -> tuple[Tensor, Tensor]:
        """The columns of `W_1` for `s`, and those for `h_j`."""
        return self.hidden.weight[:, : self.query_size], self.hidden.weight[:, self.query_size :]

    def prepare(self, memory: Memory) -> KeyValues:
        """KeyValues: the part of `W_1 [s; h_j]` that comes from `h_j`."""
        return KeyValues(linear(memory.states, self.parts[1]), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        """Energies of the tanh layer."""
        hidden = torch.tanh(linear(query, self.parts[0])[:, :, None] + keys.keys[:, None])  # [B, Q, S, A]
        energies: Tensor = self.energy(hidden)
        return energies.squeeze(-1)[:, None]

    @property
    def multiplications(self) -> Multiplications:
        """KeyValues and queries; energies and contexts."""
        of_query, of_memory = self.parts
        pair = matrix_entries(self.energy) + self.context_size
        return Multiplications(source=of_memory.numel(), target=of_query.numel(), pair=pair)

    def for_prediction(self, precision: TorchPrecision) -> ScoredAttention:  # noqa: ARG002
        """As it is: its two parts are columns of one matrix."""
        return self
