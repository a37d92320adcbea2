"""Attention that sees where it looked last (Chorowski et al. 2015): a convolution over the weights of the step before."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from seqloom.models.attention.contract import Attention, AttentionWeights, Carry, KeyValues, Read, masked_softmax
from seqloom.models.attention.local import centres_of, distances_from
from seqloom.models.initialisation import start_matrix
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries


class LocationAttention(Attention):
    """`V^T tanh(U s + W h_j + F f_jt)`, where `f_t = K * a_{t-1}` are what `filters` see in the weights of the step before.

    So equal sounds at different times can be told apart, and looking can move on. Carried are these weights, [B, K, S]; before
    the first step there are none. window: only positions so near to the centre of these weights are looked at.
    """

    def __init__(
        self, query_size: int, memory_size: int, size: int, *, filters: int, width: int, window: int | None = None
    ) -> None:
        super().__init__()
        self.context_size, self.window = memory_size, window
        self.from_query = Linear(query_size, size, bias=False)
        self.from_memory = Linear(memory_size, size, bias=False)
        self.filters = nn.Conv1d(1, filters, width, padding=width // 2, bias=False)
        self.from_location = Linear(filters, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)
        start_matrix(self.energy.weight)
        nn.init.normal_(self.filters.weight, std=1.0)  # they see weights, whose squares add up to less than 1

    def prepare(self, memory: Memory) -> KeyValues:
        """KeyValues `W h_j`."""
        return KeyValues(self.from_memory(memory.states), memory.states, memory.mask)

    def start(self, keys: KeyValues) -> Carry:
        """Nothing has been looked at."""
        return (torch.zeros_like(keys.mask, dtype=keys.values.dtype)[:, None],)

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """A softmax of energies that see where the step before looked."""
        (before,) = carry
        seen = self.filters(before.flatten(0, 1)[:, None]).transpose(1, 2).unflatten(0, before.shape[:2])  # [B, K, S, F]
        hidden = self.from_query(query)[:, :, None] + keys.keys[:, None] + self.from_location(seen)
        energies: Tensor = self.energy(torch.tanh(hidden))  # [B, Q, S, 1]
        mask = keys.mask[:, None, None]
        if self.window is not None:
            centres = centres_of(before).clamp(min=1.0)
            mask = mask & (distances_from(centres, keys).abs() <= self.window)[:, None]
        weights = masked_softmax(energies.squeeze(-1)[:, None], mask)
        return AttentionWeights(weights, (weights[:, 0],))

    def redirected(self, read: Read, weights: Tensor, keys: KeyValues, carry: Carry) -> Read:
        """What would have been read, and is remembered, with other weights."""
        return replace(super().redirected(read, weights, keys, carry), carry=(weights[:, 0],))

    @property
    def multiplications(self) -> Multiplications:
        """KeyValues and queries; filters, energies and contexts, positions beyond a window too."""
        filters = self.filters.weight.numel() + matrix_entries(self.from_location)
        return Multiplications(
            source=matrix_entries(self.from_memory),
            target=matrix_entries(self.from_query),
            pair=filters + matrix_entries(self.energy) + self.context_size,
        )
