"""Where a decoder starts from: what sources hand over to its first state."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqloom.errors import RecipeError
from seqloom.models.memory import CellState, Memory, MemorySize
from seqloom.models.mixed_precision import Linear
from seqloom.recipe import sections

Memories = Mapping[str, Memory]
"""One memory per source, by the source's name."""
MemorySizes = Mapping[str, MemorySize]
"""How wide they are."""


@dataclass(frozen=True)
class DecoderShape:
    """What a bridge must know of the decoder: its width, its layers, the leaves of a layer's first state, a layer's heads."""

    size: int
    layers: int
    leaves: int
    heads: int = 1


class Start(nn.Module):
    """`s_0 = f(h_T)` for every layer and leaf of the decoder's state (E3).

    Layers meet their counterparts where encoder and decoder have equally many; else every decoder layer starts from the
    encoder's last one. A leaf meets its counterpart too: h from h, s from s (C3), where the encoder has both. The states of
    several sources come side by side; two that are compared as `[u; v; |u - v|; u * v]`.
    """

    def __init__(self, section: sections.Start, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__()
        self.decoder, self.compare = decoder, section.compare
        self.sources = section.sources or tuple(memory_sizes)
        widths = [memory_sizes[name].summary for name in self.sources]
        if self.compare and len(set(widths)) != 1:
            raise RecipeError(
                f"model.bridge.start: `compare: true` compares entry by entry, and {self.sources[0]} ends in {widths[0]} "
                f"numbers, {self.sources[1]} in {widths[1]}. Make their encoders equally wide, or remove `compare`"
            )
        width = sum(widths) * (2 if self.compare else 1)
        self.leaves = nn.ModuleList(_dense(section.dense, width, decoder.size) for _ in range(decoder.layers * decoder.leaves))

    def forward(self, memories: Memories) -> tuple[CellState, ...]:
        """The first state, leaves [B, D]."""
        return tuple(
            tuple(
                self.leaves[layer * self.decoder.leaves + leaf](self._final(memories, layer, leaf))
                for leaf in range(self.decoder.leaves)
            )
            for layer in range(self.decoder.layers)
        )

    def _final(self, memories: Memories, layer: int, leaf: int) -> Tensor:
        parts = []
        for memory in (memories[name] for name in self.sources):
            state = memory.finals[layer] if len(memory.finals) == self.decoder.layers else memory.finals[-1]
            parts.append(state[leaf] if leaf < len(state) else state[0])
        if self.compare:
            one, other = parts
            parts += [(one - other).abs(), one * other]
        return torch.cat(parts, dim=-1)


def summary_size(memory_sizes: MemorySizes) -> int:
    """How wide the summaries of all sources are side by side."""
    return sum(size.summary for size in memory_sizes.values())


def _dense(count: int, summary_size: int, size: int) -> nn.Module:
    layers: list[nn.Module] = []
    for index in range(count):
        layers += [Linear(summary_size if index == 0 else size, size), nn.Tanh()]
    return nn.Sequential(*layers)  # without layers: the identity
