"""Scores that are dot products (A4, A6): of state and query as they are, through a matrix, or through layers of each."""

import math

from torch import Tensor, nn

from seqloom.models.attention.contract import KeyValues, ScoredAttention
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries


class DotAttention(ScoredAttention):
    """A4: `s^T h_j`, optionally divided by the square root of the width."""

    def __init__(self, size: int, *, scaled: bool) -> None:
        super().__init__()
        self.context_size = size
        self.scale = 1.0 / math.sqrt(size) if scaled else 1.0

    def prepare(self, memory: Memory) -> KeyValues:
        """The states are the keys."""
        return KeyValues(memory.states, memory.states, memory.mask)

    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        """Dot products."""
        return (self.scale * query @ keys.keys.transpose(1, 2))[:, None]

    @property
    def multiplications(self) -> Multiplications:
        """Scores and contexts."""
        return Multiplications(pair=2 * self.context_size)


class BilinearAttention(ScoredAttention):
    """A4: `s^T W h_j`; `W h_j` is prepared once."""

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.matrix = Linear(memory_size, query_size, bias=False)

    def prepare(self, memory: Memory) -> KeyValues:
        """KeyValues `W h_j`."""
        return KeyValues(self.matrix(memory.states), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        """Dot products with the prepared keys."""
        return (query @ keys.keys.transpose(1, 2))[:, None]

    @property
    def multiplications(self) -> Multiplications:
        """KeyValues; scores and contexts."""
        return Multiplications(source=matrix_entries(self.matrix), pair=self.matrix.out_features + self.context_size)


ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "logistic": nn.Sigmoid, "relu": nn.ReLU, "none": nn.Identity}
"""The functions that may follow a layer of keys or queries, by the recipe's words."""


class ProjectedAttention(ScoredAttention):
    """A6: `k_j^T q` of keys `k_j = sigma(W_k h_j)` and queries `q = sigma(W_q s)`, one such layer or several, no bias.

    size: the width of keys and queries; activation: a word of `ACTIVATIONS`; scaled: divide by the square root of the width.
    """

    def __init__(self, query_size: int, memory_size: int, size: int, *, layers: int, activation: str, scaled: bool) -> None:
        super().__init__()
        self.context_size, self.size = memory_size, size
        self.scale = 1.0 / math.sqrt(size) if scaled else 1.0
        self.activation = activation
        self.to_query = _activated_layers(query_size, size, layers, activation)
        self.to_key = _activated_layers(memory_size, size, layers, activation)

    def prepare(self, memory: Memory) -> KeyValues:
        """Learned keys; the states themselves are averaged."""
        return KeyValues(self.to_key(memory.states), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        """Dot products of learned queries with the prepared keys."""
        queries: Tensor = self.to_query(query)
        return (self.scale * queries @ keys.keys.transpose(1, 2))[:, None]

    @property
    def multiplications(self) -> Multiplications:
        """KeyValues and queries; scores and contexts."""
        return Multiplications(
            source=matrix_entries(self.to_key), target=matrix_entries(self.to_query), pair=self.size + self.context_size
        )


def _activated_layers(input_size: int, size: int, layers: int, activation: str) -> nn.Sequential:
    parts: list[nn.Module] = []
    for index in range(layers):
        parts += [Linear(input_size if index == 0 else size, size, bias=False), ACTIVATIONS[activation]()]
    return nn.Sequential(*parts)
