"""The recurrent encoder of text."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from seqloom.models.cells import Cell, build_cell, unroll
from seqloom.models.dropout import InputDropout, SequenceDropout
from seqloom.models.embeddings import build_embedding
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.directions import at_positions, gathered, real_positions, turn_round
from seqloom.models.memory import CellState, Memory
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.recipe import sections
from seqloom.recipe.sections.recurrent import Directed
from seqloom.symbols import UNKNOWN


class RecurrentEncoder(Encoder):
    """Has layers that read vectors one after the other, `h_t = RNN(h_{t-1}, x_t)` (E2), in one direction or two.

    No step needs a mask: what lies behind a sequence's end cannot flow into its real positions, because a sequence that is
    read backwards is first turned round within its own length.
    """

    def __init__(self, section: Directed) -> None:
        super().__init__()
        self.memory_size = self.summary_size = section.memory_size
        self.dropout = SequenceDropout(section.dropout, locked=section.locked)

    def _add_layers(self, section: Directed, input_size: int, *, reads_embedding: bool = True) -> None:
        """Draw the weights of the layers. input_size: the width of the vectors that the first one reads."""
        widths = [input_size] + [section.memory_size] * (section.layers - 1)
        self.forwards = _cells(section, widths, reads_embedding=reads_embedding)
        self.backwards = _cells(section, widths if section.bidirectional else [], reads_embedding=reads_embedding)

    def read(
        self, vectors: Tensor, lengths: Tensor, first: Sequence[CellState] | None = None
    ) -> tuple[Tensor, tuple[CellState, ...]]:
        """Vectors [B, S, I], lengths [B] -> states [B, S, D], and the last state of each layer.

        first: the states to begin with, as another reading ended; zeros if there are none.
        """
        turned = turn_round(vectors.shape[1], lengths)
        states, finals = vectors, []
        for index, cell in enumerate(self.forwards):
            begin = _by_direction(None if first is None else first[index], both=len(self.backwards) > 0)
            states = self.dropout(states) if index > 0 else states
            leaves = _read(cell, states, begin[0])
            ends = at_positions(leaves, lengths - 1, begin[0])
            if self.backwards:
                ahead = _read(self.backwards[index], gathered(states, turned), begin[1])
                last = at_positions(ahead, lengths - 1, begin[1])
                ends = tuple(torch.cat(pair, dim=-1) for pair in zip(ends, last, strict=True))
                leaves = (torch.cat([leaves[0], gathered(ahead[0], turned)], dim=-1),)
            states = leaves[0]
            finals.append(ends)
        return states, tuple(finals)

    @property
    def multiplications(self) -> Multiplications:
        """All cells, at every position."""
        return Multiplications(source=matrix_entries(self.forwards, self.backwards))


class TextEncoder(RecurrentEncoder):
    """Reads symbols one after the other (E2), in one layer or several.

    shared: the embedding of the source that it reads on from, if it does.
    """

    def __init__(self, section: sections.TextEncoder, vocabulary_size: int, shared: nn.Embedding | None = None) -> None:
        super().__init__(section)
        self.neighbour, self.pooled = section.after, section.summary == "max"
        self.embedding = shared or build_embedding(vocabulary_size, section.embedding)
        self.input_dropout = InputDropout(section)
        self._add_layers(section, section.embedding)

    def read_beside(self, memories: Mapping[str, Memory], values: Tensor, lengths: Tensor) -> Memory:
        """Read it on from where another source ends, if it does."""
        memory: Memory = self(values, lengths, None if self.neighbour is None else memories[self.neighbour])
        return memory

    def forward(self, symbols: Tensor, lengths: Tensor, neighbour: Memory | None = None) -> Memory:
        """Symbols [B, S], lengths [B] -> Memory. All that lies outside the vocabulary is unknown alike."""
        mask = real_positions(symbols.shape[1], lengths)
        known = torch.where(symbols < self.embedding.num_embeddings, symbols, UNKNOWN)
        vectors = self.input_dropout(self.embedding, known)
        states, finals = self.read(vectors, lengths, None if neighbour is None else neighbour.finals)
        if self.pooled:
            summary = largest(states, mask)
            return Memory(states, mask, summary, ((summary,),), symbols)
        return Memory(states, mask, finals[-1][0], finals, symbols)


def largest(states: Tensor, mask: Tensor) -> Tensor:
    """The largest entries [B, D] of the states [B, S, D] at real positions; zeros where there is none."""
    found = states.masked_fill(~mask[..., None], -torch.inf).amax(dim=1)
    return found.masked_fill(~mask.any(dim=1)[:, None], 0.0)


def mean(states: Tensor, mask: Tensor) -> Tensor:
    """The mean [B, D] of the states [B, S, D] at real positions; zeros where there is none."""
    return states.masked_fill(~mask[..., None], 0.0).sum(dim=1) / mask.sum(dim=1).clamp(min=1)[:, None]


def _cells(section: Directed, widths: Sequence[int], *, reads_embedding: bool) -> nn.ModuleList:
    """A cell for each width of inputs, the first of which may be embeddings."""
    return nn.ModuleList(
        build_cell(section, [width], embedding_length=1.0 if reads_embedding and index == 0 else None)
        for index, width in enumerate(widths)
    )


def _read(cell: nn.Module, inputs: Tensor, first: CellState | None) -> CellState:
    if not isinstance(cell, Cell):
        raise TypeError(cell)
    return unroll(cell, cell.project(inputs), cell.zeros(len(inputs), like=inputs) if first is None else first)


def _by_direction(state: CellState | None, *, both: bool) -> tuple[CellState | None, CellState | None]:
    """The last states of the two directions, which lie side by side."""
    if state is None or not both:
        return state, None
    halves = [leaf.chunk(2, dim=-1) for leaf in state]
    return tuple(half[0] for half in halves), tuple(half[1] for half in halves)
