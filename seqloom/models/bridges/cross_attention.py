"""A fresh context in every layer of a transformer decoder (A9)."""

from functools import reduce

import torch
from torch import Tensor, nn

from seqloom.models.attention import Attention, KeyValues, MultiHeadAttention
from seqloom.models.bridges.contract import Bridge, BridgeRead, Link
from seqloom.models.initialisation import DECODER_PARTS, start_added
from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications
from seqloom.models.starts import DecoderShape, Memories, MemorySizes
from seqloom.recipe import sections


class CrossAttentionBridge(Bridge):
    """A fresh context in every layer of a transformer decoder: `x + sum over sources of MultiHead(norm(x), h)` (A9).

    It is the attention that recurrent decoders know as `multi_head`, once for each layer and source.
    """

    def __init__(self, section: sections.CrossAttentionBridge, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__()
        self.size = decoder.size
        self.norms = nn.ModuleList(nn.LayerNorm(decoder.size) for _ in range(decoder.layers))
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    name: MultiHeadAttention(decoder.size, size.states, heads=decoder.heads, size=decoder.size)
                    for name, size in memory_sizes.items()
                }
            )
            for _ in range(decoder.layers)
        )
        for attention in (one for one in self.layers.modules() if isinstance(one, MultiHeadAttention)):
            start_added(attention.to_context.weight, parts=DECODER_PARTS * decoder.layers)
        match section.weights_of:
            case "mean":
                self.shown = range(decoder.layers)
            case "last":
                self.shown = range(decoder.layers - 1, decoder.layers)
            case int(layer):
                self.shown = range(layer - 1, layer)

    def link(self, memories: Memories) -> Link:
        """KeyValues of every source, those of all layers side by side."""
        return Link(keys={name: self._prepared(name, memory) for name, memory in memories.items()})

    def _prepared(self, name: str, memory: Memory) -> KeyValues:
        layers = [self._attention(layer, name).prepare(memory) for layer in range(len(self.layers))]
        keys = torch.cat([one.keys for one in layers], dim=-1)
        return KeyValues(keys, torch.cat([one.values for one in layers], dim=-1), memory.mask)

    def read_in(self, layer: int, states: Tensor, link: Link) -> BridgeRead:
        """What a layer's states [B, Q, D] see of the sources. Weights come back from the layers whose weights are shown."""
        query = self.norms[layer](states)
        reads = {name: self._read_one(layer, query, name, link) for name in link.keys}
        context = reduce(torch.add, [context for context, _ in reads.values()])
        return BridgeRead(context, {name: weights for name, (_, weights) in reads.items() if weights is not None}, {})

    def _read_one(self, layer: int, query: Tensor, name: str, link: Link) -> tuple[Tensor, Tensor | None]:
        attention, keys = self._attention(layer, name), self._of_layer(link.keys[name], layer)
        if layer not in self.shown and name not in link.oracle:
            return attention.fused_context(query, keys.keys, keys.values, mask=keys.mask[:, None, None]), None
        weights = attention.look(query, keys, ()).weights
        if name in link.oracle:
            weights = link.oracle[name].over(weights)
        return attention.context(weights, keys), weights if layer in self.shown else None

    @property
    def multiplications(self) -> Multiplications:
        """All attentions of all layers."""
        attentions = [one for one in self.layers.modules() if isinstance(one, Attention)]
        return sum((one.multiplications for one in attentions), start=Multiplications())

    def _of_layer(self, keys: KeyValues, layer: int) -> KeyValues:
        own = slice(layer * self.size, (layer + 1) * self.size)
        return KeyValues(keys.keys[..., own], keys.values[..., own], keys.mask)

    def _attention(self, layer: int, name: str) -> MultiHeadAttention:
        by_source = self.layers[layer]
        attention = by_source[name] if isinstance(by_source, nn.ModuleDict) else None
        if not isinstance(attention, MultiHeadAttention):
            raise TypeError(attention)
        return attention
