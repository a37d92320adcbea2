"""Cross-entropy over a large vocabulary without ever holding all logits: output layer, softmax and both gradients in chunks."""

import math
from typing import Any

import torch
from torch import Tensor

from seqloom.models.mixed_precision import Multiplier, current_multiplier

_CHUNK_NUMBERS = 2**21
"""Logits held at once: 8 MB of float32, which stays close to the processor."""


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Features [N, O], labels [N], weights [N] -> the weighted, smoothed objective and the plain `-log p`, both summed.

    The gradients are found on the way forward, while a chunk's logits are at hand, and scaled on the way back.
    """

    @staticmethod
    def forward(
        ctx: Any,
        multiplier: Multiplier,
        features: Tensor,
        matrix: Tensor,
        bias: Tensor,
        labels: Tensor,
        weights: Tensor,
        smoothing: float,
    ) -> tuple[Tensor, Tensor]:
        wanted = any(ctx.needs_input_grad[1:4])
        of_features = torch.empty_like(features) if wanted else None
        of_matrix, of_bias = torch.zeros_like(matrix), torch.zeros_like(bias)
        right_factor = multiplier.operand(matrix)
        objective, nll = features.new_zeros(()), features.new_zeros(())
        rows = max(1, _CHUNK_NUMBERS // len(bias))
        for start in range(0, len(features), rows):
            part = slice(start, start + rows)
            logits = multiplier.addmm(bias, features[part], right_factor.t())
            right = labels[part, None]
            of_right, even = logits.gather(1, right)[:, 0], logits.mean(dim=1) if smoothing else 0.0
            exponentials, sums, total = _exponentials(logits)
            surprise = total - of_right
            nll += surprise.sum()
            objective += ((1.0 - smoothing) * surprise + smoothing * (total - even)) @ weights[part]
            if of_features is not None:
                slope = _slope(exponentials, sums, right, weights[part], smoothing)
                multiplier.mm(slope, right_factor, out=of_features[part])
                multiplier.addmm(of_matrix, slope.t(), multiplier.operand(features[part]), out=of_matrix)
                of_bias += slope.sum(dim=0)
        if of_features is not None:
            ctx.save_for_backward(of_features, of_matrix, of_bias)
        ctx.mark_non_differentiable(nll)
        return objective, nll

    @staticmethod
    def backward(ctx: Any, objective: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        of_features, of_matrix, of_bias = ctx.saved_tensors
        return None, of_features * objective, of_matrix * objective, of_bias * objective, None, None, None


def _exponentials(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Exponentials of logits [N, V] less the largest of a row, written over them; their sums, and `log sum exp` of the logits.

    Of a large vocabulary, exponentials and passes over all logits take as long as the products: each is made once.
    """
    largest = logits.amax(dim=1)
    exponentials = logits.sub_(largest[:, None]).exp_()
    sums = exponentials.sum(dim=1)
    return exponentials, sums, largest + sums.log()


def _slope(exponentials: Tensor, sums: Tensor, right: Tensor, weights: Tensor, smoothing: float) -> Tensor:
    """The gradient of the objective for each logit, written over the exponentials."""
    slope = exponentials.mul_((weights / sums)[:, None])
    if smoothing:
        slope -= (weights * (smoothing / slope.shape[1]))[:, None]
    return slope.scatter_add_(1, right, (weights * (smoothing - 1.0))[:, None])


def chunked_cross_entropy(
    features: Tensor, matrix: Tensor, bias: Tensor, labels: Tensor, weights: Tensor, *, smoothing: float
) -> tuple[Tensor, Tensor]:
    """The objective and the plain `-log p` of labels [N], summed; weights [N] count in the objective.

    Logits are `features @ matrix^T + bias`: features [N, O], matrix [V, O], bias [V].
    """
    objective, nll = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        current_multiplier(), features, matrix, bias, labels, weights, smoothing
    )
    return objective, nll


def cross_entropy_of(log_probs: Tensor, labels: Tensor, weights: Tensor, *, smoothing: float) -> tuple[Tensor, Tensor]:
    """What `chunked_cross_entropy` says, of log-probabilities [N, V]."""
    surprise = -log_probs.gather(1, labels[:, None])[:, 0]
    blamed = (1.0 - smoothing) * surprise - smoothing * log_probs.mean(dim=1) if smoothing else surprise
    return blamed @ weights, surprise.detach().sum()


def sampled_outputs(matrix: Tensor, bias: Tensor, labels: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of the output layer that stand for all of them: those of the labels, and `count` others, drawn evenly.

    Returned are these rows, their bias, and labels [N] as places among them. The bias of what is drawn grows by the log of how
    many rows each stands for, so that the softmax's denominator is right on average (importance sampling, Jean et al. 2015).
    Frequent symbols are mostly among the labels of a batch, and exact; what is drawn is the rest.
    """
    own, places = torch.unique(labels, return_inverse=True)
    others = torch.ones(len(bias), dtype=torch.bool, device=labels.device)
    others[own] = False
    rest = others.nonzero()[:, 0]
    if len(rest) <= count:
        return matrix, bias, labels
    drawn = rest[torch.randperm(len(rest), device=rest.device)[:count]]
    chosen = torch.cat([own, drawn])
    stands_for = bias.new_zeros(len(chosen))
    stands_for[len(own) :] = math.log(len(rest) / count)
    return matrix.index_select(0, chosen), bias.index_select(0, chosen) + stands_for, places
