"""The encoder of vectors."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from seqloom.models.dropout import SequenceDropout
from seqloom.models.encoders.contract import Encoder
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.recipe import sections

_ACTIVATIONS: Mapping[str, type[nn.Module]] = {"tanh": nn.Tanh, "logistic": nn.Sigmoid, "relu": nn.ReLU}


class DenseEncoder(Encoder):
    """Reads a vector with fully connected layers, `h = sigma(W x + b)` (E11). input_size: how many numbers a vector has.

    What it writes has one position, whose state is also the summary and the last state, so that every bridge can read it.
    """

    def __init__(self, section: sections.DenseEncoder, input_size: int) -> None:
        super().__init__()
        self.memory_size = self.summary_size = section.memory_size
        self.dropout = SequenceDropout(section.dropout, locked=False)
        self.activation = _ACTIVATIONS[section.activation]()
        widths = [input_size] + [section.size] * (section.layers - 1)
        self.layers = nn.ModuleList(Linear(width, section.size) for width in widths)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Memory:
        """Vectors [B, 1, D], lengths [B] (all 1) -> Memory."""
        states = vectors.to(next(self.parameters()).dtype)
        for index, layer in enumerate(self.layers):
            states = self.activation(layer(self.dropout(states) if index > 0 else states))
        mask = torch.arange(states.shape[1], device=states.device) < lengths[:, None]
        return Memory(states, mask, states[:, 0], ((states[:, 0],),))

    @property
    def multiplications(self) -> Multiplications:
        """All layers."""
        return Multiplications(source=matrix_entries(self.layers))
