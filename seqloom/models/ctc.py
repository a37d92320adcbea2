"""CTC beside attention (Graves et al. 2006, Watanabe et al. 2017): what every position of a source may stand for."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.recipe import sections
from seqloom.symbols import BEGIN

BLANK = BEGIN
"""`begin` is never written, so it stands for saying nothing."""


class CtcHead(nn.Module):
    """`log softmax(W_i h_j + b_i)` over the target's symbols, for each of N places at every position of one source.

    Where a target may be longer than its source, one place a position is not enough: a letter can stand for several phonemes.
    The places of a position come one after the other, and count as positions from here on.

    section: its share of the loss, and N. source: whose positions speak.
    """

    def __init__(self, section: sections.Ctc, source: str, memory_size: int, vocabulary_size: int) -> None:
        super().__init__()
        self.source, self.weight, self.places = source, section.weight, section.symbols
        self.output = Linear(memory_size, self.places * vocabulary_size)

    def forward(self, memory: Memory) -> tuple[Tensor, Tensor]:
        """Log-probabilities [B, S * N, V], and how many places of each source are real, [B]; the others mean nothing."""
        places = self.output(memory.states).unflatten(-1, (self.places, -1)).flatten(1, 2)
        return torch.log_softmax(places, dim=-1), memory.mask.sum(dim=1) * self.places

    def loss(self, memory: Memory, symbols: Tensor, lengths: Tensor) -> Tensor:
        """`-log p(y | x)` over all ways to spell each target [B, T] with the positions, [B].

        A target that has no way, since there are too few places for it, counts nothing: no weight could change that.
        """
        log_probs, places = self(memory)
        return functional.ctc_loss(
            log_probs.transpose(0, 1), symbols, places, lengths, blank=BLANK, reduction="none", zero_infinity=True
        )
