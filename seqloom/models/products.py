"""Products with a fixed matrix, `W x + b`, laid out once for prediction in one of several precisions.

Whatever the precision, a row's result depends on that row alone, never on the rows beside it: sentences are decoded in
batches, and a translation must not change with its neighbours.
"""

import warnings
from abc import ABC, abstractmethod
from typing import assert_never

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from seqloom.errors import UsageError
from seqloom.models.mixed_precision import Bfloat16Multiplier, Linear
from seqloom.system.cpu import InferencePrecision


class Product(nn.Module, ABC):
    """A matrix [O, I] with a bias [O] or none: vectors [..., I] -> [..., O], in the precision of the vectors."""

    bias: Tensor | None

    def __init__(self, bias: Tensor | None) -> None:
        super().__init__()
        self.register_buffer("bias", None if bias is None else bias.detach(), persistent=False)

    @abstractmethod
    def forward(self, vectors: Tensor) -> Tensor:
        """Multiply every vector."""


class FloatProduct(Product):
    """Computes in the matrix's own precision. The matrix lies transposed in memory: for few rows that is a quarter faster."""

    matrix: Tensor

    def __init__(self, matrix: Tensor, bias: Tensor | None) -> None:
        super().__init__(bias)
        self.register_buffer("matrix", matrix.detach().t().contiguous().t(), persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """`W x + b`."""
        return linear(vectors, self.matrix, self.bias)


class Bfloat16Product(Product):
    """Rounds the factors to bfloat16, as training in that precision does; the bias stays as it is."""

    matrix: Tensor

    def __init__(self, matrix: Tensor, bias: Tensor | None) -> None:
        super().__init__(bias)
        self.multiplier = Bfloat16Multiplier()
        self.register_buffer("matrix", self.multiplier.operand(matrix.detach()).t().contiguous(), persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """`W x + b`."""
        flat = vectors.flatten(0, -2)
        products = self.multiplier.mm(flat, self.matrix)
        products = products if self.bias is None else products.add_(self.bias)
        return products.view(*vectors.shape[:-1], -1)


_MOST_WEIGHT = 63
"""Weights in 7 bits beside vectors in 8: on processors without VNNI two products are added up in 16 bits,
and 2 * 255 * 63 is the most that fits."""
_MOST_ENTRY = 127
_ZERO_POINT = 128


class Int8Product(Product):
    """Multiplies 8-bit integers by torch's fbgemm. Every row of the matrix has a scale, and every vector has its own too."""

    def __init__(self, matrix: Tensor, bias: Tensor | None) -> None:
        super().__init__(bias)
        scales = matrix.detach().abs().amax(dim=1).clamp_min(torch.finfo(torch.float32).tiny).double() / _MOST_WEIGHT
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*quantized tensor creation functions.*")
            quantised = torch.quantize_per_channel(
                matrix.detach().float(), scales, torch.zeros(len(scales), dtype=torch.long), 0, torch.qint8
            )
        self.packed = _packed(quantised)

    def forward(self, vectors: Tensor) -> Tensor:
        """`W x + b`. A scale for all vectors at once would let a sentence's result depend on its neighbours."""
        largest = vectors.abs().amax(dim=-1, keepdim=True).clamp_min_(torch.finfo(vectors.dtype).tiny)
        products: Tensor = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default(
            (vectors / largest).float(), 1 / _MOST_ENTRY, _ZERO_POINT, self.packed
        )
        products = products.to(vectors.dtype).mul_(largest)
        return products if self.bias is None else products.add_(self.bias)


def _packed(quantised: Tensor) -> object:
    """The matrix as fbgemm wants it, which alone among torch's engines takes vectors with a scale that is given."""
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        raise UsageError("precision int8: torch has its 8-bit products for x86 processors only. Use fp32 here")
    engine = torch.backends.quantized.engine
    torch.backends.quantized.engine = "fbgemm"
    try:
        packed: object = torch.ops.quantized.linear_prepack(quantised, None)
    finally:
        torch.backends.quantized.engine = engine
    return packed


def build_product(precision: InferencePrecision, matrix: Tensor, bias: Tensor | None = None) -> Product:
    """The product with a matrix in a precision."""
    match precision:
        case "fp32":
            return FloatProduct(matrix, bias)
        case "bf16":
            return Bfloat16Product(matrix, bias)
        case "int8":
            return Int8Product(matrix, bias)
        case _:
            assert_never(precision)


def lay_out(module: nn.Module, precision: InferencePrecision) -> None:
    """Replace every matrix within a module, at any depth, that training may multiply in another precision, too."""
    for part in list(module.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, Linear):
                part.add_module(name, build_product(precision, child.weight, child.bias))
