"""Attention weights that are given, not computed (A10): the decoder looks where it is told."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class OracleWeights:
    """Where to look in one source during the steps to come; all rows of a sentence are told the same.

    weights [B, T, S]: a distribution over positions for each step. known [B, T]: False where the model looks for itself, as it
    does at all steps after the T that are listed.
    """

    weights: Tensor
    known: Tensor

    def select(self, sentences: Tensor) -> "OracleWeights":
        """Keep the given sentences."""
        return OracleWeights(self.weights[sentences], self.known[sentences])

    def over(self, weights: Tensor) -> Tensor:
        """The weights [B, H, Q, S] of this step: the given ones, in every head and row, where there are any."""
        if not self.known.shape[1]:
            return weights
        return torch.where(self.known[:, 0, None, None, None], self.weights[:, 0, None, None].to(weights.dtype), weights)

    def later(self) -> "OracleWeights":
        """What is told from the next step on."""
        return OracleWeights(self.weights[:, 1:], self.known[:, 1:])
