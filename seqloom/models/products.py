"""Products with a fixed matrix, `W x + b`, laid out once for prediction in one of several precisions.

Whatever the precision, a row's result depends on that row alone, never on the rows beside it: sentences are decoded in
batches, and a translation must not change with its neighbours.
"""

from abc import ABC, abstractmethod
from typing import assert_never

from torch import Tensor, nn
from torch.nn.functional import linear

from seqloom.models.mixed_precision import Bfloat16Multiplier, Linear
from seqloom.system.cpu import TorchPrecision


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


def build_product(precision: TorchPrecision, matrix: Tensor, bias: Tensor | None = None) -> Product:
    """The product with a matrix in a precision."""
    match precision:
        case "fp32":
            return FloatProduct(matrix, bias)
        case "bf16":
            return Bfloat16Product(matrix, bias)
        case _:
            assert_never(precision)


def lay_out(module: nn.Module, precision: TorchPrecision) -> None:
    """Replace every matrix within a module, at any depth, that training may multiply in another precision, too."""
    for part in list(module.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, Linear):
                part.add_module(name, build_product(precision, child.weight, child.bias))
