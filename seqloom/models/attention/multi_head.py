"""Several heads side by side (A9): the attention of transformers, and a kind of its own for recurrent decoders."""

import math

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from seqloom.models.attention.contract import KeyValues, ScoredAttention
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries


class MultiHeadAttention(ScoredAttention):
    """A9: H scaled dot products side by side, on learned keys, queries and values; equals torch.nn.MultiheadAttention."""

    averages_values = False

    def __init__(self, query_size: int, memory_size: int, *, heads: int, size: int) -> None:
        super().__init__()
        self.context_size = size
        self.heads = heads
        self.to_query = Linear(query_size, size)
        self.to_key = Linear(memory_size, size)
        self.to_value = Linear(memory_size, size)
        self.to_context = Linear(size, size)

    def prepare(self, memory: Memory) -> KeyValues:
        """Learned keys and values."""
        return KeyValues(*self.remember(memory.states), memory.mask)

    def remember(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """KeyValues and values of states [..., D]."""
        return self.to_key(states), self.to_value(states)

    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        """Scaled dot products per head."""
        queries = self._split(self.to_query(query))  # [B, H, Q, D/H]
        return queries @ self._split(keys.keys).transpose(2, 3) / math.sqrt(queries.shape[-1])

    def context(self, weights: Tensor, keys: KeyValues) -> Tensor:
        """Each head averages its own share of the values; one matrix joins them."""
        return self._join(weights @ self._split(keys.values))

    def fused_context(
        self, query: Tensor, keys: Tensor, values: Tensor, *, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """The context alone [B, Q, C], by torch's fused kernel: without weights.

        keys, values [B, S, D]; mask: which positions are seen, in a shape that fits [B, H, Q, S], None for all; causal: query t
        sees the positions up to t.
        """
        bias = None
        if mask is not None:  # finite, and zeros afterwards, as in `masked_softmax`
            bias = query.new_zeros(mask.shape).masked_fill(~mask, torch.finfo(query.dtype).min)
        heads = scaled_dot_product_attention(
            self._split(self.to_query(query)), self._split(keys), self._split(values), attn_mask=bias, is_causal=causal
        )
        return self._join(heads if mask is None else heads.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0))

    @property
    def multiplications(self) -> Multiplications:
        """KeyValues and values; queries and contexts; scores and means."""
        return Multiplications(
            source=matrix_entries(self.to_key, self.to_value),
            target=matrix_entries(self.to_query, self.to_context),
            pair=2 * self.context_size,
        )

    def _join(self, heads: Tensor) -> Tensor:
        """The heads' own contexts [B, H, Q, D/H] as one [B, Q, C]."""
        joined: Tensor = self.to_context(heads.transpose(1, 2).flatten(2))
        return joined

    def _split(self, joined: Tensor) -> Tensor:
        return joined.view(*joined.shape[:-1], self.heads, -1).transpose(1, 2)
