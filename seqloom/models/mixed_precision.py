"""How training multiplies matrices: in the precision of the numbers themselves, or in bfloat16.

In bfloat16 only the factors of products with weights are rounded. Weights, states, gates, softmax and loss stay as they are,
and so does the sum of what several products add to a gradient. The precision is that of a context, `multiplying`, as a
pass forward goes through many modules; the pass back multiplies as the pass forward did, wherever it is called from.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor, nn

from seqloom.models.initialisation import start_matrix
from seqloom.system.cpu import has_bf16_products


class Multiplier:
    """Multiplies in the precision of the numbers themselves.

    The right factor of a product is an operand, made once and used at many steps; the left one is taken as it comes.
    """

    exact = True
    """Whether factors are multiplied as they are, so that kernels of torch that know of no other way may do it."""

    def operand(self, matrix: Tensor) -> Tensor:
        """A matrix made ready to be a right factor."""
        return matrix

    def mm(self, left: Tensor, right: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`left right`."""
        return torch.mm(left, right, out=out)

    def addmm(self, base: Tensor, left: Tensor, right: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`base + left right`."""
        return torch.addmm(base, left, right, out=out)

    def gradient(self, outputs: Tensor, inputs: Tensor) -> Tensor:
        """Of a matrix over all steps at once: gradients of its outputs [..., O] against its inputs [..., I] -> [O, I]."""
        return self.mm(outputs.flatten(0, -2).t(), self.operand(inputs.flatten(0, -2)))

    def linear(self, vectors: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
        """`W x + b`, through which gradients flow; vectors [..., I], matrix [O, I] -> [..., O]."""
        return nn.functional.linear(vectors, matrix, bias)


class Bfloat16Multiplier(Multiplier):
    """Rounds the factors of a product to bfloat16 and adds up in float32.

    Where the hardware has no such products, rounded factors are multiplied in the precision they had: the same but for the
    order of additions and one rounding, that of results, and many times faster than torch's own emulation.
    """

    exact = False

    def __init__(self) -> None:
        self._matrices: dict[int, tuple[Tensor, int, Tensor]] = {}

    def operand(self, matrix: Tensor) -> Tensor:
        """A matrix rounded."""
        rounded = matrix.bfloat16()
        return rounded if _is_native(matrix.device.type) else rounded.to(matrix.dtype)

    def mm(self, left: Tensor, right: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`left right`, as precise as `left` in memory."""
        product = torch.mm(self.operand(left), right).to(left.dtype)
        return product if out is None else out.copy_(product)

    def addmm(self, base: Tensor, left: Tensor, right: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`base + left right`; the sum is not rounded."""
        return torch.add(base, self.mm(left, right), out=out)

    def linear(self, vectors: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
        """`W x + b`, through which gradients flow."""
        results: Tensor = _Bfloat16Linear.apply(self, vectors, matrix, bias)  # type: ignore[no-untyped-call]
        return results

    def matrix_operand(self, matrix: Tensor) -> Tensor:
        """A matrix rounded, once for all steps that use it as it is."""
        known = self._matrices.get(id(matrix))
        if known is not None and known[1] == matrix._version:  # noqa: SLF001 (torch's own count of changes in place)
            return known[2]
        # The matrix is kept beside its rounding: while it is, no other can have its id.
        rounded = self.operand(matrix)
        self._matrices[id(matrix)] = matrix, matrix._version, rounded  # noqa: SLF001
        return rounded


class _Bfloat16Linear(torch.autograd.Function):
    """`W x + b` with rounded factors, forward and back."""

    @staticmethod
    def forward(ctx: Any, multiplier: Bfloat16Multiplier, vectors: Tensor, matrix: Tensor, bias: Tensor | None) -> Tensor:
        right, flat = multiplier.matrix_operand(matrix), vectors.flatten(0, -2)
        results = multiplier.mm(flat, right.t()) if bias is None else multiplier.addmm(bias, flat, right.t())
        ctx.multiplier = multiplier
        ctx.save_for_backward(vectors, right)
        return results.view(*vectors.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, results: Tensor) -> tuple[Tensor | None, ...]:
        multiplier: Bfloat16Multiplier = ctx.multiplier
        vectors, right = ctx.saved_tensors
        flat = results.flatten(0, -2)
        of_vectors = multiplier.mm(flat, right).view(vectors.shape)
        of_bias = flat.sum(dim=0) if ctx.needs_input_grad[3] else None
        return None, of_vectors, multiplier.gradient(results, vectors), of_bias


@cache
def _is_native(device: str) -> bool:
    """Whether a device multiplies bfloat16 in hardware; one that was chosen for it beside the processor does."""
    return device != "cpu" or has_bf16_products()


_current: ContextVar[Multiplier] = ContextVar("multiplier", default=Multiplier())  # noqa: B039 (it has no state)


def current_multiplier() -> Multiplier:
    """What multiplies here and now."""
    return _current.get()


@contextmanager
def multiplying(precision: Literal["fp32", "bf16"]) -> Iterator[None]:
    """Within it, models multiply in the given precision."""
    token = _current.set(Bfloat16Multiplier() if precision == "bf16" else Multiplier())
    try:
        yield
    finally:
        _current.reset(token)


def linear(vectors: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
    """`W x + b` in the precision of the context."""
    return current_multiplier().linear(vectors, matrix, bias)


class Linear(nn.Linear):
    """torch's layer, in the precision of the context, with weights that start as ours do."""

    def reset_parameters(self) -> None:
        """Draw the matrix; the bias is zero."""
        start_matrix(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, vectors: Tensor) -> Tensor:
        """Vectors [..., I] -> [..., O]."""
        return linear(vectors, self.weight, self.bias)
