"""The recurrent encoder of text."""

from collections.abc import Sequence

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
from seqloom.symbols import UNKNOWN


class TextEncoder(Encoder):
    """Reads symbols one after the other, `h_t = RNN(h_{t-1}, x_t)` (E2), in one direction or two, in one layer or several.

    No step needs a mask: what lies behind a sequence's end cannot flow into its real positions, because a sequence that is
    read backwards is first turned round within its own length.
    """

    def __init__(self, section: sections.TextEncoder, vocabulary_size: int) -> None:
        super().__init__()
        self.memory_size = self.summary_size = section.memory_size
        self.embedding = build_embedding(vocabulary_size, section.embedding)
        self.input_dropout = InputDropout(section)
        self.dropout = SequenceDropout(section.dropout, locked=section.locked)
        widths = [section.embedding] + [section.memory_size] * (section.layers - 1)
        self.forwards = _layers(section, widths)
        self.backwards = _layers(section, widths if section.bidirectional else [])

    def forward(self, symbols: Tensor, lengths: Tensor) -> Memory:
        """Symbols [B, S], lengths [B] -> Memory. All that lies outside the vocabulary is unknown alike."""
        mask = real_positions(symbols.shape[1], lengths)
        turned = turn_round(symbols.shape[1], lengths)
        known = torch.where(symbols < self.embedding.num_embeddings, symbols, UNKNOWN)
        states: Tensor = self.input_dropout(self.embedding, known)
        finals = []
        for index, cell in enumerate(self.forwards):
            states = self.dropout(states) if index > 0 else states
            leaves = self._read(cell, states)
            ends = at_positions(leaves, lengths - 1)
            if self.backwards:
                ahead = self._read(self.backwards[index], gathered(states, turned))
                ends = tuple(torch.cat(pair, dim=-1) for pair in zip(ends, at_positions(ahead, lengths - 1), strict=True))
                leaves = (torch.cat([leaves[0], gathered(ahead[0], turned)], dim=-1),)
            states = leaves[0]
            finals.append(ends)
        return Memory(states, mask, finals[-1][0], tuple(finals), symbols)

    @property
    def multiplications(self) -> Multiplications:
        """All cells, at every position."""
        return Multiplications(source=matrix_entries(self.forwards, self.backwards))

    def _read(self, cell: nn.Module, inputs: Tensor) -> CellState:
        if not isinstance(cell, Cell):
            raise TypeError(cell)
        return unroll(cell, cell.project(inputs), cell.zeros(len(inputs), like=inputs))


def _layers(section: sections.TextEncoder, widths: Sequence[int]) -> nn.ModuleList:
    """A cell for each width of inputs, the first of which are embeddings."""
    return nn.ModuleList(build_cell(section, [width], reads_embedding=index == 0) for index, width in enumerate(widths))
