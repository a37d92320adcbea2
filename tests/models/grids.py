"""The simplest encoder whose memory is a grid: every pixel of a picture is a position."""

import torch
from torch import Tensor, nn

from seqloom.models.encoders import Encoder
from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.results.layouts import Grid

ROWS, COLUMNS = 2, 3


class GridEncoder(Encoder):
    """Pictures [B, 1, rows, columns, 3] of bytes become states `tanh(W p + b)`, one for each pixel p, and their mean."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.memory_size = self.summary_size = size
        self.layout = Grid(ROWS, COLUMNS)
        self.look = nn.Linear(3, size)

    def forward(self, pictures: Tensor, lengths: Tensor) -> Memory:
        """Lengths [B]: 1 where there is a picture."""
        states = torch.tanh(self.look(pictures[:, 0].to(self.look.weight.dtype).flatten(1, 2) / 255))
        there = lengths[:, None] > 0
        summary = states.mean(dim=1) * there
        return Memory(states, there.expand(-1, ROWS * COLUMNS), summary, ((summary,),))

    @property
    def multiplications(self) -> Multiplications:
        """One layer."""
        return Multiplications(source=matrix_entries(self.look))
