"""Soft attention written out, one query a step: what `attention` computes, and its backward pass (A8).

As in `unrolled_cells`: time-major buffers, and gradients of keys, values and matrices as products over all steps.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqloom.models.attention import (
    AdditiveAttention,
    Attention,
    BilinearAttention,
    ConcatAttention,
    DotAttention,
    Keys,
    MultiHeadAttention,
    ProjectedAttention,
)
from seqloom.models.multiplying import Multiplier
from seqloom.models.unrolled_cells import WeightGradients


@dataclass(frozen=True)
class AttentionGradients:
    """What a pass back found: of the keys, the values, and the attention's own parameters."""

    keys: Tensor
    values: Tensor
    parameters: WeightGradients


class AttentionKernel(ABC):
    """One attention through all steps. weights [T, B, H, S] and contexts [T, B, C] are filled by `read`.

    multiplier: for products with weights. Those of queries with keys and of weights with values wait for memory, whatever
    they multiply in. weight_gradients [T, B, H, S]: to be set before the way back where the loss saw the weights themselves.
    """

    def __init__(self, keys: Keys, steps: int, multiplier: Multiplier, *, heads: int, context_size: int) -> None:
        self.multiplier = multiplier
        self.keys, self.values = keys.keys.detach(), keys.values.detach()
        self.hidden_positions = ~keys.mask[:, None]  # [B, 1, S]
        batch, positions = keys.mask.shape
        self.weights = self.values.new_empty(steps, batch, heads, positions)
        self.contexts = self.values.new_empty(steps, batch, context_size)
        self.score_gradients = torch.empty_like(self.weights)
        self.context_gradients = torch.empty_like(self.contexts)
        self.weight_gradients: Tensor | None = None

    def read(self, time: int, query: Tensor) -> Tensor:
        """Read the sources at one step; query [B, D] -> context [B, C]."""
        scores = self._scores(time, query)
        scores.masked_fill_(self.hidden_positions, torch.finfo(scores.dtype).min)
        torch.softmax(scores, dim=-1, out=self.weights[time])
        self.weights[time].masked_fill_(self.hidden_positions, 0.0)  # as in `attention`: no NaN for a source without positions
        return self._context(time)

    def read_back(self, time: int, context: Tensor) -> Tensor:
        """The reading at one step in reverse: gradient of the context [B, C] -> gradient of the query [B, D]."""
        self.context_gradients[time] = context
        weights = self.weights[time]
        of_weights = self._back_through_context(time, context)
        if self.weight_gradients is not None:
            of_weights += self.weight_gradients[time]
        inner = (weights * of_weights).sum(dim=-1, keepdim=True)
        torch.mul(weights, of_weights.sub_(inner), out=self.score_gradients[time])
        return self._back_through_scores(time)

    @property
    def parameters(self) -> list[Tensor]:
        """The attention's own parameters that steps use; what lies in prepared keys and values is not among them."""
        return []

    @abstractmethod
    def _scores(self, time: int, query: Tensor) -> Tensor:
        """Fresh scores [B, H, S]."""

    @abstractmethod
    def _back_through_scores(self, time: int) -> Tensor:
        """From `score_gradients[time]` to the gradient of the query."""

    def _context(self, time: int) -> Tensor:
        return torch.bmm(self.weights[time], self.values, out=self.contexts[time][:, None])[:, 0]

    def _back_through_context(self, time: int, context: Tensor) -> Tensor:  # noqa: ARG002
        return torch.bmm(context[:, None], self.values.transpose(1, 2))  # [B, 1, S]

    def _value_gradients(self) -> Tensor:
        """`sum_t a_jt grad c_t`, as one product per sentence."""
        return torch.bmm(self.weights[:, :, 0].permute(1, 2, 0), self.context_gradients.transpose(0, 1))

    @abstractmethod
    def gradients(self, queries: Tensor) -> AttentionGradients:
        """After all backward steps; queries [T, B, D], as they were asked."""


class ProductKernel(AttentionKernel):
    """Dot and bilinear scores (A4): products of the query with prepared keys."""

    def __init__(self, keys: Keys, steps: int, multiplier: Multiplier, *, scale: float) -> None:
        super().__init__(keys, steps, multiplier, heads=1, context_size=keys.values.shape[-1])
        self._scale = scale

    def _scores(self, time: int, query: Tensor) -> Tensor:  # noqa: ARG002
        return torch.bmm(query[:, None], self.keys.transpose(1, 2)).mul_(self._scale)

    def _back_through_scores(self, time: int) -> Tensor:
        return torch.bmm(self.score_gradients[time], self.keys)[:, 0].mul_(self._scale)

    def gradients(self, queries: Tensor) -> AttentionGradients:
        """Of keys and values; `W` of the bilinear form lies in the keys."""
        keys = torch.bmm(self.score_gradients[:, :, 0].permute(1, 2, 0), queries.transpose(0, 1)).mul_(self._scale)
        return AttentionGradients(keys, self._value_gradients(), [])


class ProjectedKernel(ProductKernel):
    """A6: the same with queries that come out of layers of their own, one query a step; those of keys lie in the keys."""

    def __init__(self, attention: ProjectedAttention, keys: Keys, steps: int, multiplier: Multiplier) -> None:
        super().__init__(keys, steps, multiplier, scale=attention.scale)
        self._squashing = attention.squashing
        self._weights = [layer.weight for layer in attention.to_query if isinstance(layer, nn.Linear)]
        self._matrices = [multiplier.operand(weight.detach()) for weight in self._weights]
        batch = len(self.keys)
        self._shown = [self.keys.new_empty(steps, batch, len(weight)) for weight in self._weights]  # after each layer
        self._gradients = [torch.empty_like(shown) for shown in self._shown]  # of what each layer squashes

    @property
    def parameters(self) -> list[Tensor]:
        """`W_q` of every layer."""
        return list(self._weights)

    def _scores(self, time: int, query: Tensor) -> Tensor:
        for matrix, shown in zip(self._matrices, self._shown, strict=True):
            query = _squash(self._squashing, self.multiplier.mm(query, matrix.t(), out=shown[time]))
        return super()._scores(time, query)

    def _back_through_scores(self, time: int) -> Tensor:
        gradient = super()._back_through_scores(time)
        for index in reversed(range(len(self._matrices))):
            self._gradients[index][time] = _back_through_squash(self._squashing, gradient, self._shown[index][time])
            gradient = self.multiplier.mm(self._gradients[index][time], self._matrices[index])
        return gradient

    def gradients(self, queries: Tensor) -> AttentionGradients:
        """Of keys, values and every `W_q`."""
        found = super().gradients(self._shown[-1])
        inputs = [queries, *self._shown[:-1]]
        products = [self.multiplier.gradient(*pair) for pair in zip(self._gradients, inputs, strict=True)]
        return AttentionGradients(found.keys, found.values, list(zip(self._weights, products, strict=True)))


def _squash(squashing: str, values: Tensor) -> Tensor:
    """Squash in place."""
    match squashing:
        case "tanh":
            return values.tanh_()
        case "logistic":
            return values.sigmoid_()
        case "relu":
            return values.relu_()
        case _:
            return values


def _back_through_squash(squashing: str, gradient: Tensor, squashed: Tensor) -> Tensor:
    match squashing:
        case "tanh":
            back: Tensor = torch.ops.aten.tanh_backward(gradient, squashed)
        case "logistic":
            back = torch.ops.aten.sigmoid_backward(gradient, squashed)
        case "relu":
            back = gradient * (squashed > 0)
        case _:
            back = gradient
    return back


class TanhKernel(AttentionKernel):
    """Additive and concat scores (A2, A4): `v^T tanh(U s + key_j)`. matrix: the parameter whose first columns are `U`."""

    def __init__(
        self, keys: Keys, steps: int, multiplier: Multiplier, *, matrix: Tensor, query_size: int, energy: Tensor
    ) -> None:
        super().__init__(keys, steps, multiplier, heads=1, context_size=keys.values.shape[-1])
        self._matrix, self._energy = matrix, energy
        self._query_size = query_size
        self._from_query = multiplier.operand(matrix.detach()[:, :query_size])
        self._direction = energy.detach()[0]
        self._hidden = self.keys.new_empty(steps, *self.keys.shape)  # [T, B, S, A]
        self._query_gradients = self.keys.new_empty(steps, len(self.keys), self.keys.shape[-1])
        self._key_gradients = torch.zeros_like(self.keys)

    @property
    def parameters(self) -> list[Tensor]:
        """`U` and `v`."""
        return [self._matrix, self._energy]

    def _scores(self, time: int, query: Tensor) -> Tensor:
        hidden = self._hidden[time]
        torch.add(self.keys, self.multiplier.mm(query, self._from_query.t())[:, None], out=hidden)
        return (hidden.tanh_() @ self._direction)[:, None]

    def _back_through_scores(self, time: int) -> Tensor:
        spread = self.score_gradients[time].transpose(1, 2) * self._direction  # [B, S, A]
        of_hidden = torch.ops.aten.tanh_backward(spread, self._hidden[time])
        self._key_gradients += of_hidden
        torch.sum(of_hidden, dim=1, out=self._query_gradients[time])
        return self.multiplier.mm(self._query_gradients[time], self._from_query)

    def gradients(self, queries: Tensor) -> AttentionGradients:
        """Of keys, values, `U` and `v`."""
        of_energy = (self._hidden.flatten(0, 2).t() @ self.score_gradients.transpose(2, 3).flatten())[None]
        of_matrix = torch.zeros_like(self._matrix)
        of_matrix[:, : self._query_size] = self.multiplier.gradient(self._query_gradients, queries)
        return AttentionGradients(
            self._key_gradients, self._value_gradients(), [(self._matrix, of_matrix), (self._energy, of_energy)]
        )


class MultiHeadKernel(AttentionKernel):
    """A9, one query a step."""

    def __init__(self, attention: MultiHeadAttention, keys: Keys, steps: int, multiplier: Multiplier) -> None:
        super().__init__(keys, steps, multiplier, heads=attention.heads, context_size=attention.context_size)
        self._attention = attention
        self._to_query, self._to_context = attention.to_query, attention.to_context
        self._query_matrix = multiplier.operand(self._to_query.weight.detach())
        self._context_matrix = multiplier.operand(self._to_context.weight.detach())
        self._split_keys, self._split_values = self._split(self.keys), self._split(self.values)  # [B, H, S, D/H]
        self._scale = 1.0 / math.sqrt(self._split_keys.shape[-1])
        self._queries = torch.empty_like(self.contexts)
        self._joined = torch.empty_like(self.contexts)
        self._query_gradients = torch.empty_like(self.contexts)
        self._joined_gradients = torch.empty_like(self.contexts)

    @property
    def parameters(self) -> list[Tensor]:
        """The layers for queries and contexts."""
        layers = (self._to_query, self._to_context)
        return [parameter for layer in layers for parameter in (layer.weight, layer.bias)]

    def _split(self, joined: Tensor) -> Tensor:
        return joined.view(*joined.shape[:-1], self._attention.heads, -1).transpose(1, 2).contiguous()

    def _by_head(self, joined: Tensor) -> Tensor:
        """[B, D] -> [B, H, 1, D/H]."""
        return joined.view(len(joined), self._attention.heads, 1, -1)

    def _scores(self, time: int, query: Tensor) -> Tensor:
        self.multiplier.addmm(self._to_query.bias.detach(), query, self._query_matrix.t(), out=self._queries[time])
        return (self._by_head(self._queries[time]) @ self._split_keys.transpose(2, 3))[:, :, 0] * self._scale

    def _context(self, time: int) -> Tensor:
        heads = self.weights[time][:, :, None] @ self._split_values  # [B, H, 1, D/H]
        self._joined[time] = heads.flatten(1)
        bias = self._to_context.bias.detach()
        return self.multiplier.addmm(bias, self._joined[time], self._context_matrix.t(), out=self.contexts[time])

    def _back_through_context(self, time: int, context: Tensor) -> Tensor:
        self.multiplier.mm(context, self._context_matrix, out=self._joined_gradients[time])
        return (self._by_head(self._joined_gradients[time]) @ self._split_values.transpose(2, 3))[:, :, 0]

    def _back_through_scores(self, time: int) -> Tensor:
        heads = self.score_gradients[time][:, :, None] @ self._split_keys
        self._query_gradients[time] = heads.flatten(1) * self._scale
        return self.multiplier.mm(self._query_gradients[time], self._query_matrix)

    def _over_steps(self, weights: Tensor, joined: Tensor) -> Tensor:
        """`sum_t w_t x_t` per sentence and head: weights [T, B, H, S], joined [T, B, D] -> [B, S, D]."""
        heads = joined.view(*joined.shape[:2], self._attention.heads, -1).permute(1, 2, 0, 3)  # [B, H, T, D/H]
        return (weights.permute(1, 2, 3, 0) @ heads).transpose(1, 2).flatten(2)

    def gradients(self, queries: Tensor) -> AttentionGradients:
        """Of keys, values and the layers for queries and contexts; those for keys and values lie in keys and values."""
        parameters = [
            (self._to_query.weight, self.multiplier.gradient(self._query_gradients, queries)),
            (self._to_query.bias, self._query_gradients.sum(dim=(0, 1))),
            (self._to_context.weight, self.multiplier.gradient(self.context_gradients, self._joined)),
            (self._to_context.bias, self.context_gradients.sum(dim=(0, 1))),
        ]
        keys = self._over_steps(self.score_gradients, self._queries).mul_(self._scale)
        return AttentionGradients(keys, self._over_steps(self.weights, self._joined_gradients), parameters)


def has_attention_kernel(attention: Attention) -> bool:
    """Whether an attention's step is written out here; any other works too, through its plain code."""
    known = DotAttention | BilinearAttention | AdditiveAttention | ConcatAttention | ProjectedAttention | MultiHeadAttention
    return isinstance(attention, known)


def build_attention_kernel(attention: Attention, keys: Keys, steps: int, multiplier: Multiplier) -> AttentionKernel:
    """The kernel of an attention for so many steps."""
    match attention:
        case DotAttention():
            return ProductKernel(keys, steps, multiplier, scale=attention.scale)
        case BilinearAttention():
            return ProductKernel(keys, steps, multiplier, scale=1.0)
        case AdditiveAttention():
            matrix = attention.from_query.weight
            size, energy = matrix.shape[1], attention.energy.weight
            return TanhKernel(keys, steps, multiplier, matrix=matrix, query_size=size, energy=energy)
        case ConcatAttention():
            matrix = attention.hidden.weight
            size, energy = attention.query_size, attention.energy.weight
            return TanhKernel(keys, steps, multiplier, matrix=matrix, query_size=size, energy=energy)
        case ProjectedAttention():
            return ProjectedKernel(attention, keys, steps, multiplier)
        case MultiHeadAttention():
            return MultiHeadKernel(attention, keys, steps, multiplier)
        case _:
            raise TypeError(attention)
