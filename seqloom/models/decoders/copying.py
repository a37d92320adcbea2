"""Copying (See et al. 2017): the source's symbols as outputs, beside those of the vocabulary.

`p(y) = g P(y) + (1 - g) sum of a_j over all j with x_j = y`: a gate g shares the probability between writing and pointing.
Source and target have one vocabulary of V symbols. Ids from V on are source symbols outside of it: V + j is the one that stands
at position j first. So no source has the symbol `unknown`, and a model is not right by writing it where it should point.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, pad

from seqloom.models.initialisation import start_matrix


class Copying(nn.Module):
    """The gate, `g = logistic(w f + b)`, and what it mixes. size: the width of the features f that the output layer sees."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.gate = nn.Linear(size, 1)
        start_matrix(self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def forward(self, log_probs: Tensor, features: Tensor, weights: Tensor, symbols: Tensor) -> Tensor:
        """Log-probabilities of all symbols [B, T, V], those from V on behind them as far as sources have any.

        log_probs [B, T, V]: of writing; features [B, T, O]; weights [B, T, S]; symbols [B, S] of the source.
        """
        further = max(0, int(symbols.max()) + 1 - log_probs.shape[-1])
        written, pointed = self._shares(features, weights)
        written = pad(log_probs + written, (0, further), value=-torch.inf)
        masses = weights.new_zeros(written.shape).scatter_add(-1, symbols[:, None].expand_as(weights), weights)
        return torch.logaddexp(written, _log(masses) + pointed).to(log_probs)

    def of_labels(self, log_probs: Tensor, features: Tensor, weights: Tensor, symbols: Tensor, labels: Tensor) -> Tensor:
        """What `forward` says of labels [B, T], whose log-probabilities of being written are given [B, T]."""
        written, pointed = self._shares(features, weights)
        masses = (weights * (symbols[:, None] == labels[..., None])).sum(dim=-1)
        return torch.logaddexp(log_probs + written.squeeze(-1), _log(masses) + pointed.squeeze(-1)).to(log_probs)

    def _shares(self, features: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Logarithms of g and of 1 - g, [B, T, 1]. Where a source has no position to point at, all is written."""
        gate = self.gate(features)
        nowhere = weights.sum(dim=-1, keepdim=True) == 0
        return logsigmoid(gate).masked_fill(nowhere, 0.0), logsigmoid(-gate)


def _log(masses: Tensor) -> Tensor:
    """Logarithms, -inf for nothing, and then without the gradient of infinity."""
    there = masses > 0
    return torch.where(there, torch.where(there, masses, 1.0).log(), -torch.inf)
