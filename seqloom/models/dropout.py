"""What is left out at random in training, all of it drawn from torch's generator.

Masks are drawn for a whole sequence before its first step.
"""

import math

import torch
from torch import Tensor, nn

from seqloom.recipe import sections

_LEVELS = 2**16
"""How finely a rate is told: a number of two bytes says whether something is left out."""


class Thinning(nn.Module):
    """A part that leaves something out in training. share: how much of its rates it applies now."""

    share: float = 1.0


def set_dropout_share(model: nn.Module, share: float) -> None:
    """Let all parts of a model apply that much of their rates."""
    for part in model.modules():
        if isinstance(part, Thinning):
            part.share = share


class SequenceDropout(Thinning):
    """Dropout on the vectors of a sequence. locked: one mask for all steps of a sequence, else a fresh one at every step."""

    def __init__(self, rate: float, *, locked: bool) -> None:
        super().__init__()
        self.full_rate, self.locked = rate, locked

    @property
    def rate(self) -> float:
        """How much is left out now."""
        return self.share * self.full_rate if self.training else 0.0

    def forward(self, values: Tensor) -> Tensor:
        """Vectors [B, T, D], thinned and scaled up so that their mean stays."""
        if not self.rate:
            return values
        batch, steps, width = values.shape
        return values * _mask((batch, 1 if self.locked else steps, width), self.rate, values)

    def masks(self, steps: int, like: Tensor) -> Tensor | None:
        """What the vectors of all steps are multiplied with, [T, B, D], for vectors `like` [B, D]; None for nothing at all."""
        if not self.rate:
            return None
        drawn = _mask((1 if self.locked else steps, *like.shape), self.rate, like)
        return drawn.expand(steps, -1, -1)


class InputDropout(Thinning):
    """Looks symbols up in an embedding that lacks whole rows in training, then leaves out parts of what is found.

    A symbol that lacks its row lacks it wherever it stands in a batch, but only here: an output layer that is tied to the
    embedding keeps it.
    """

    def __init__(self, section: sections.Recurrence) -> None:
        super().__init__()
        self.full_symbol_rate = section.embedding_dropout
        self.vectors = SequenceDropout(section.input_rate, locked=section.locked)

    @property
    def symbol_rate(self) -> float:
        """Which share of all rows is lacking now."""
        return self.share * self.full_symbol_rate if self.training else 0.0

    def forward(self, embedding: nn.Embedding, symbols: Tensor) -> Tensor:
        """Symbols [B, T] -> vectors [B, T, D]."""
        vectors: Tensor = embedding(symbols)
        if self.symbol_rate:
            vectors = vectors * _mask((embedding.num_embeddings, 1), self.symbol_rate, vectors)[symbols]
        thinned: Tensor = self.vectors(vectors)
        return thinned

    def rows(self, embedding: nn.Embedding) -> Tensor:
        """All vectors of an embedding [V, D], without those that are left out as a whole."""
        weight: Tensor = embedding.weight
        if self.symbol_rate:
            weight = weight * _mask((embedding.num_embeddings, 1), self.symbol_rate, weight)
        return weight


def _mask(shape: tuple[int, ...], rate: float, like: Tensor) -> Tensor:
    """Zeros with the probability `rate`, else `1 / (1 - rate)`, in the precision of another tensor.

    torch's own dropout would draw in the order of a tensor's memory, which is not the same in all ways through a model.
    """
    count, left_out = math.prod(shape), round(rate * _LEVELS)
    # Four decisions from each number that is drawn: `bernoulli_`, with one, takes a tenth of a small transformer's training.
    drawn = torch.empty((count + 3) // 4, dtype=torch.int64, device=like.device).random_(-(2**63), None)
    kept = drawn.view(torch.int16)[:count].view(shape) >= left_out - _LEVELS // 2
    return kept.to(like.dtype).mul_(1.0 / (1.0 - rate))
