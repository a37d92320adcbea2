"""Scores from a tanh layer that sees query and position (A2, A4); one kind also sees where it has looked.

For prediction, the tanh of every query and position becomes exponentials of queries and of positions (`ExponentialAttention`).
"""

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
from seqloom.models.products import Product, build_product
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

    def for_prediction(self, precision: TorchPrecision) -> ScoredAttention:
        """Without a tanh, if the weights allow."""
        parts = self.from_query.weight, self.from_memory.weight
        return _without_tanh(self, *parts, precision) or super().for_prediction(precision)


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

    def for_prediction(self, precision: TorchPrecision) -> ScoredAttention:
        """Without a tanh, if the weights allow."""
        return _without_tanh(self, *self.parts, precision) or self


_MOST_QUERY, _MOST_KEY = 43.0, 34.0
"""e^(2 * 43) is almost the largest number in float32. Cut off there, a sum with a key up to 34 is still 9 or more, where
tanh is 1."""


class ExponentialAttention(ScoredAttention):
    """Additive and concat attention, `v^T tanh(q + k_j)`, without a tanh for every query and position.

    `tanh(q + k) = 1 - 2 / (1 + e^2q e^2k)`: the exponentials of queries and keys are few, and what is left for every pair is
    a product and a quotient. The 1 adds the same to all positions of a source, which the softmax does not see.
    """

    def __init__(self, attention: AdditiveAttention | ConcatAttention, from_query: Product, from_memory: Product) -> None:
        super().__init__()
        self.context_size, self._multiplications = attention.context_size, attention.multiplications
        self.from_query, self.from_memory = from_query, from_memory
        energy = attention.energy.weight[0].detach()
        self.register_buffer("energy", -2.0 * energy, persistent=False)
        self.register_buffer("one", energy.new_ones(()), persistent=False)

    def prepare(self, memory: Memory) -> KeyValues:
        """KeyValues `e^2k`."""
        return KeyValues(_exponentials(self.from_memory(memory.states)), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        """Energies of the tanh layer, less a constant."""
        queries = _exponentials(self.from_query(query))
        hidden = torch.addcmul(self.get_buffer("one"), queries[:, :, None], keys.keys[:, None]).reciprocal_()  # [B, Q, S, A]
        return (hidden @ self.get_buffer("energy"))[:, None]

    @property
    def multiplications(self) -> Multiplications:
        """Those of the attention that it stands for."""
        return self._multiplications


def _exponentials(values: Tensor) -> Tensor:
    return values.clamp_(-_MOST_QUERY, _MOST_QUERY).mul_(2.0).exp_()


def _is_in_range(from_query: Tensor, from_memory: Tensor) -> bool:
    """Whether no unit can be cut off on both sides. States are between -1 and 1: a row's absolute values bound its sum."""
    beyond = (from_query.abs().sum(dim=1) > _MOST_QUERY) & (from_memory.abs().sum(dim=1) > _MOST_KEY)
    return not bool(beyond.any())


def _without_tanh(
    attention: AdditiveAttention | ConcatAttention, from_query: Tensor, from_memory: Tensor, precision: TorchPrecision
) -> ExponentialAttention | None:
    """The form for prediction, unless its exponentials would be cut off."""
    if not _is_in_range(from_query, from_memory):
        return None
    return ExponentialAttention(attention, build_product(precision, from_query), build_product(precision, from_memory))
