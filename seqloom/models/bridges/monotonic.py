"""One position for each symbol, never back (Wu and Cotterell 2019)."""

import torch
from torch import Tensor, nn

from seqloom.models.attention import build_score
from seqloom.models.bridges.contract import Bridge, Link
from seqloom.models.operations import Multiplications
from seqloom.models.starts import DecoderShape, Memories, MemorySizes
from seqloom.recipe import sections
from seqloom.system.cpu import TorchPrecision


class MonotonicBridge(Bridge):
    """One position for each symbol, never back: how probable each move along the source is, `p(i -> j | s_t)`.

    It is a softmax over all positions j from i on, of how well they fit the state and how far they are from i.
    """

    def __init__(self, section: sections.MonotonicBridge, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__()
        (size,) = memory_sizes.values()
        self.score = build_score(section.score, decoder.size, size.states)
        self.distances = nn.Parameter(torch.zeros(section.reach + 1))

    def link(self, memories: Memories) -> Link:
        """Keys of the source."""
        ((name, memory),) = memories.items()
        return Link(keys={name: self.score.prepare(memory)})

    def moves(self, query: Tensor, link: Link) -> Tensor:
        """How probable it is to go from each position to each: query [B, Q, D] -> [B, Q, S, S]."""
        (keys,) = link.keys.values()
        places = torch.arange(keys.mask.shape[1], device=keys.mask.device)
        ahead = places - places[:, None]
        fits = self.score.scores(query, keys)[:, 0, :, None] + self.distances[ahead.clamp(0, len(self.distances) - 1)]
        there = keys.mask | (places == 0)  # the first position of a source without any
        return torch.softmax(fits.masked_fill(~((ahead >= 0) & there[:, None, None]), torch.finfo(fits.dtype).min), dim=-1)

    @property
    def multiplications(self) -> Multiplications:
        """Keys and scores; of the kinds of score, each counts a context for a pair, too, which is not made here."""
        return self.score.multiplications + Multiplications(pair=-self.score.context_size)

    def for_prediction(self, precision: TorchPrecision) -> Bridge:
        """The score in its own form."""
        self.score = self.score.for_prediction(precision)
        return self
