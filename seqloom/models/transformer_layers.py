"""The layers of transformers, in which positions read one another by attention.

The attention is the one that bridges use to read a source (A9). Here the source is the sequence itself, so that queries, keys
and values all come from the same states. Every part of a layer adds to what it was given: `x + part(norm(x))`.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from seqloom.models.attention import MultiHeadAttention
from seqloom.models.initialisation import start_added
from seqloom.models.mixed_precision import Linear
from seqloom.recipe import sections


class SelfAttention(nn.Module):
    """`MultiHead(norm(x), norm(x))`: what each position reads in others."""

    def __init__(self, section: sections.Transformer) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(section.size)
        self.attention = MultiHeadAttention(section.size, section.size, heads=section.heads, size=section.size)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """What states [B, S, D] read that see all positions of the mask [B, S]."""
        normed = self.norm(states)
        return self.attention.fused_context(normed, *self.attention.remember(normed), mask=mask[:, None, None])

    def remember(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """KeyValues and values of states [..., D], for later positions to look back at."""
        return self.attention.remember(self.norm(states))

    def look_back(self, states: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What T states of K rows [B, K * T, D] read that see themselves and what came before.

        keys, values [B, K, t, D]: of what came before; they come back longer by the states' own.
        """
        batch, rows, before, size = keys.shape
        normed = self.norm(states).view(batch, rows, -1, size)
        own_keys, own_values = self.attention.remember(normed)
        keys, values = torch.cat([keys, own_keys], dim=2), torch.cat([values, own_values], dim=2)
        steps = normed.shape[2]
        mask = None
        if before and steps > 1:  # torch's own causal mask knows of nothing that came before
            mask = torch.ones(steps, before + steps, dtype=torch.bool, device=states.device).tril(before)[None, None]
        read = self.attention.fused_context(
            normed.flatten(0, 1), keys.flatten(0, 1), values.flatten(0, 1), mask=mask, causal=not before and steps > 1
        )
        return read.view_as(states), keys, values


class FeedForward(nn.Module):
    """`W_2 relu(W_1 norm(x) + b_1) + b_2`: what each position makes of what it has read."""

    def __init__(self, section: sections.Transformer) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(section.size)
        self.inner = Linear(section.size, section.feed_forward_size)
        self.outer = Linear(section.feed_forward_size, section.size)

    def forward(self, states: Tensor) -> Tensor:
        """States [..., D]."""
        read: Tensor = self.outer(torch.relu(self.inner(self.norm(states))))
        return read


class Layer(nn.Module):
    """Attention to other positions of the sequence, and the feed-forward part. Between the two a decoder reads its sources.

    parts: how many parts of each layer add to the states.
    """

    def __init__(self, section: sections.Transformer, *, parts: int) -> None:
        super().__init__()
        self.self_attention = SelfAttention(section)
        self.feed_forward = FeedForward(section)
        for writing in (self.self_attention.attention.to_context, self.feed_forward.outer):
            start_added(writing.weight, parts=parts * section.layers)


def layers_of(stack: nn.ModuleList) -> Iterator[Layer]:
    """The layers of an encoder or a decoder, from the first to the last."""
    for layer in stack:
        if not isinstance(layer, Layer):
            raise TypeError(layer)
        yield layer
