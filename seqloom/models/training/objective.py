"""What training minimises beyond cross-entropy: terms about where a decoder looked, one number per sentence.

They are added to a sentence's sum of `-log p` and weigh as it does, by the example's weight. Steps that do not count, such as
padding, have no part in them.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from seqloom.models.decoders import Decoded
from seqloom.recipe import sections


@dataclass(frozen=True)
class AttentionLosses:
    """The weights of the terms, 0 without them. entropy: of what positions are drawn from.

    discount: what a later symbol counts for a draw, compared with the one before it.
    """

    coverage: float = 0.0
    doubly_stochastic: float = 0.0
    entropy: float = 0.0
    discount: float = 0.0

    @classmethod
    def of(cls, bridge: sections.Bridge) -> "AttentionLosses":
        """Read them off a recipe."""
        if not isinstance(bridge, sections.AttentionBridge):
            return cls()
        terms = cls(bridge.coverage_loss, bridge.doubly_stochastic)
        if isinstance(bridge.attention, sections.Hard):
            return replace(terms, entropy=bridge.attention.entropy, discount=bridge.attention.discount)
        return terms

    def of_weights(self, decoded: Decoded, counted: Tensor) -> list[Tensor]:
        """What the weights of soft attention cost, [B] each; counted [B, T]: which steps count."""
        terms = []
        for name, weights in decoded.weights.items():
            if self.coverage:
                terms.append(self.coverage * coverage_loss(weights, counted))
            if self.doubly_stochastic:
                terms.append(
                    self.doubly_stochastic * doubly_stochastic_loss(weights, counted, decoded.state.link.keys[name].mask)
                )
        return terms

    def of_chances(self, decoded: Decoded, log_probs: Tensor, counted: Tensor, *, flows_back: bool) -> list[Tensor]:
        """What draws of positions cost, [B] each. log_probs [B, T]: of the labels, given what was drawn.

        flows_back: whether what is read at one step can change later symbols.
        """
        terms = []
        for chance in decoded.chances.values():
            discount = self.discount if flows_back else 0.0
            terms.append(reinforce_loss(chance.log_probs, log_probs, counted, discount=discount))
            terms.append(-self.entropy * (chance.entropies * counted).sum(dim=1))
        return terms


def coverage_loss(weights: Tensor, counted: Tensor) -> Tensor:
    """`sum_t sum_j min(a_jt, g_jt)` with the coverage `g_jt = sum_{i<t} a_ji` (See et al. 2017). Heads count by their mean.

    weights [B, H, T, S], counted [B, T] -> [B].
    """
    looks = weights.mean(dim=1) * counted[..., None]
    coverage = looks.cumsum(dim=1) - looks
    return torch.minimum(looks, coverage).sum(dim=(1, 2))


def doubly_stochastic_loss(weights: Tensor, counted: Tensor, mask: Tensor) -> Tensor:
    """`sum_j (1 - sum_t a_jt)^2` over real positions (Xu et al. 2015). Heads count by their mean.

    weights [B, H, T, S], counted [B, T], mask [B, S] -> [B].
    """
    totals = (weights.mean(dim=1) * counted[..., None]).sum(dim=1)
    return (1.0 - totals).square().masked_fill(~mask, 0.0).sum(dim=1)


def reinforce_loss(drawn: Tensor, log_probs: Tensor, counted: Tensor, *, discount: float) -> Tensor:
    """A term whose gradient makes draws that did well more probable (REINFORCE).

    drawn [B, T]: log-probabilities of draws; log_probs [B, T]: of the labels, the rewards -> [B]. A draw is rewarded for its
    own symbol, and for the symbol n steps later by `discount^n`. With 1, the gradient is that of the expected `log p(y | x)`;
    with less, it neglects part of what a draw does to later symbols, and has less noise from all that was drawn there.
    """
    rewards = log_probs.detach().masked_fill(~counted, 0.0)
    advantages = (rewards - _baselines(rewards, counted)).masked_fill(~counted, 0.0)
    steps = torch.arange(advantages.shape[1], device=advantages.device)
    later = steps[:, None] - steps[None, :]  # [T, T]: how many steps after a draw (column) a symbol (row) comes
    shares = torch.where(later >= 0, discount ** later.clamp(min=0), 0.0).to(advantages.dtype)
    return -(advantages @ shares * drawn * counted).sum(dim=1)


def _baselines(rewards: Tensor, counted: Tensor) -> Tensor:
    """What each symbol's reward is compared with, which makes the variance smaller, [B, T]: the mean of the other sentences.

    That at the same step, since some steps are harder than others; over all of their symbols where no other sentence is as
    long. It does not depend on the draw, so that it leaves the expected gradient as it is, and unlike a moving average over
    batches it is no state that a resumed run would have to restore.
    """
    sums, symbols = rewards.sum(dim=1), counted.sum(dim=1)
    over_all = (sums.sum() - sums) / (symbols.sum() - symbols).clamp(min=1)
    others = counted.sum(dim=0) - counted.long()
    at_this_step = (rewards.sum(dim=0) - rewards) / others.clamp(min=1)
    return torch.where(others > 0, at_this_step, over_all[:, None])
