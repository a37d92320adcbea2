"""Scores from a tanh layer that sees query and position (A2, A4), and the one that also sees where it has looked."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from seqloom.models.attention.contract import Attention, Carry, Keys, Look, Read, ScoredAttention, masked_softmax
from seqloom.models.initialisation import start_matrix, start_small
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear, linear


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
