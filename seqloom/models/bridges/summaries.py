"""The source as one vector: as the first state only (E3), or at every step (E4)."""

from collections.abc import Mapping

import torch
from torch import Tensor

from seqloom.models.attention import Carry
from seqloom.models.bridges.contract import Bridge, BridgeRead, Link
from seqloom.models.memory import CellState
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.starts import DecoderShape, Memories, MemorySizes, Start, summary_size
from seqloom.recipe import sections


class InitialBridge(Bridge):
    """Option 1 (E3): `s_0 = f(h_T)`, the identity or dense layers, and nothing afterwards."""

    gives_start = True

    def __init__(self, start: sections.Start, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__()
        self.first = Start(start, decoder, memory_sizes)

    def start(self, memories: Memories) -> tuple[CellState, ...]:
        """`s_0` of every decoder layer."""
        first: tuple[CellState, ...] = self.first(memories)
        return first

    @property
    def multiplications(self) -> Multiplications:
        """The first state."""
        return Multiplications(sentence=matrix_entries(self.first))


class EveryStepBridge(InitialBridge):
    """Option 2 (E4): `s_0` as in option 1, and `h_T` in the cell's input at every step."""

    def __init__(self, start: sections.Start, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__(start, decoder, memory_sizes)
        self.context_size = summary_size(memory_sizes)

    def link(self, memories: Memories) -> Link:
        """The summaries of all sources, side by side."""
        return Link(context=torch.cat([memory.summary for memory in memories.values()], dim=-1)[:, None])

    def read(self, query: Tensor, link: Link, carry: Mapping[str, Carry]) -> BridgeRead:
        """The same context for every query."""
        if link.context is None:
            raise TypeError("the link of an every_step bridge has a context")
        return BridgeRead(link.context.expand(-1, query.shape[1], -1), {}, carry)
