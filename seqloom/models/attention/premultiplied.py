"""For prediction: a source is multiplied once, where its averages would be multiplied at every step of every row of a beam."""

from dataclasses import replace

from torch import Tensor

from seqloom.models.attention.contract import Attention, AttentionWeights, Carry, KeyValues, Read
from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications
from seqloom.models.products import Product

_MOST_POSITIONS = 48
"""Longer sources are not multiplied ahead: that would take much memory, and a step would have as much to average."""


class PremultipliedAttention(Attention):
    """Contexts `W c_t` in place of `c_t`: of short sources `sum_j a_j (W h_j)`, of long ones `W sum_j a_j h_j`.

    inner: says where to look. product: `W`, whose results are `context_size` wide.
    """

    def __init__(self, inner: Attention, product: Product, context_size: int) -> None:
        super().__init__()
        self.context_size = context_size
        self.inner, self.product = inner, product

    def prepare(self, memory: Memory) -> KeyValues:
        """Values `W h_j`, unless the source is long."""
        keys = self.inner.prepare(memory)
        return replace(keys, values=self.product(keys.values)) if _is_short(keys) else keys

    def start(self, keys: KeyValues) -> Carry:
        """What the attention itself remembers."""
        return self.inner.start(keys)

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """Where the attention itself looks."""
        return self.inner.look(query, keys, carry)

    def context(self, weights: Tensor, keys: KeyValues) -> Tensor:
        """`W c_t`."""
        context = super().context(weights, keys)
        return context if _is_short(keys) else self.product(context)

    def redirected(self, read: Read, weights: Tensor, keys: KeyValues, carry: Carry) -> Read:
        """What the attention itself would have read and remembered, multiplied."""
        return replace(self.inner.redirected(read, weights, keys, carry), context=self.context(weights, keys))

    @property
    def multiplications(self) -> Multiplications:
        """Those of the attention itself."""
        return self.inner.multiplications


def _is_short(keys: KeyValues) -> bool:
    return keys.mask.shape[1] <= _MOST_POSITIONS
