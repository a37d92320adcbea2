"""Hard attention (Xu et al. 2015): the context is one state of the source, not an average of them."""

import torch
from torch import Tensor

from seqloom.models.attention.contract import (
    AttentionOnScore,
    AttentionWeights,
    Carry,
    Chance,
    KeyValues,
    ScoredAttention,
    masked_softmax,
)


class HardAttention(AttentionOnScore):
    """In training, positions are drawn by the weights of a score; in evaluation, the most probable one is looked at.

    No gradient flows through a draw: `training.objective` makes a term of the loss from the log-probabilities of what was
    drawn (REINFORCE). soft_share: with this probability a sentence of a training batch is read softly instead, as an average,
    which gives the score gradients of small variance to begin with.

    The weights that come back are those that the context is made of: all on one position, unless the sentence is read softly.
    Carried, in training only, is which rows read softly, [B, K]: a sentence is read in one way from begin to end.
    """

    def __init__(self, score: ScoredAttention, *, soft_share: float) -> None:
        super().__init__(score)
        self.soft_share = soft_share

    def start(self, keys: KeyValues) -> Carry:
        """Toss for every sentence of a training batch how it is read."""
        if not self.training:
            return ()
        return (torch.rand(len(keys.mask), 1, device=keys.mask.device) < self.soft_share,)

    def look(self, query: Tensor, keys: KeyValues, carry: Carry) -> AttentionWeights:
        """One position for each query: the best, or in training one that is drawn."""
        mask = keys.mask[:, None, None]
        scores = self.score.scores(query, keys)
        weights = masked_softmax(scores, mask)
        if not carry:
            return AttentionWeights(_only(weights.argmax(dim=-1, keepdim=True), weights, mask), carry)
        (soft,) = carry
        drawn = _draw(weights.detach())
        log_weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).log_softmax(dim=-1).masked_fill(~mask, 0.0)
        chance = Chance(
            log_probs=log_weights.gather(-1, drawn)[:, 0, :, 0].masked_fill(soft, 0.0),
            entropies=-(weights * log_weights).sum(dim=-1)[:, 0],
        )
        return AttentionWeights(torch.where(soft[:, None, :, None], weights, _only(drawn, weights, mask)), carry, chance)


def _draw(weights: Tensor) -> Tensor:
    """One position for each query by its weights, [B, H, Q, 1]: of exponential waiting times, the first to come.

    Unlike torch.multinomial it takes rows of zeros, which sources without positions have.
    """
    return (weights / torch.empty_like(weights).exponential_()).argmax(dim=-1, keepdim=True)


def _only(positions: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
    """All weight on one position each, [B, H, Q, 1] -> [B, H, Q, S]; none if the source has no positions."""
    return torch.zeros_like(weights).scatter(-1, positions, 1.0).masked_fill(~mask, 0.0)
