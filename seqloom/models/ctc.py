"""CTC beside attention (Graves et al. 2006, Watanabe et al. 2017): what every position of a source may stand for."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.symbols import BEGIN

BLANK = BEGIN
"""`begin` is never written, so it stands for saying nothing."""


class CtcHead(nn.Module):
    """`log softmax(W h_j + b)` over the target's symbols, at every position of one source.

    weight: its share of the loss. source: whose positions speak.
    """

    def __init__(self, source: str, memory_size: int, vocabulary_size: int, *, weight: float) -> None:
        super().__init__()
        self.source, self.weight = source, weight
        self.output = Linear(memory_size, vocabulary_size)

    def forward(self, memory: Memory) -> Tensor:
        """Log-probabilities [B, S, V]; what padded positions say means nothing."""
        return torch.log_softmax(self.output(memory.states), dim=-1)

    def loss(self, memory: Memory, symbols: Tensor, lengths: Tensor) -> Tensor:
        """`-log p(y | x)` over all ways to spell each target [B, T] with the positions, [B].

        A target that has no way, since it is longer than its source, counts nothing: no weight could change that.
        """
        return functional.ctc_loss(
            self(memory).transpose(0, 1),
            symbols,
            memory.mask.sum(dim=1),
            lengths,
            blank=BLANK,
            reduction="none",
            zero_infinity=True,
        )
