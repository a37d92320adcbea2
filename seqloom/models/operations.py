"""How many multiplications a part of a model costs. Every part counts its own; the sum is the model's.

Only products with matrices, and those of attention between pairs of positions, are counted: all else is of lower order.
"""

from dataclasses import astuple, dataclass

from torch import nn


@dataclass(frozen=True)
class Multiplications:
    """Per sentence, source position, target position, and pair of positions that attention compares.

    pair: one position of the source and one of the target; source_pair, target_pair: two of the same side.
    """

    sentence: int = 0
    source: int = 0
    target: int = 0
    pair: int = 0
    source_pair: int = 0
    target_pair: int = 0

    def __add__(self, other: "Multiplications") -> "Multiplications":
        return Multiplications(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


def matrix_entries(*modules: nn.Module | None) -> int:
    """All entries of the matrices within modules: what it costs to multiply one vector with each."""
    return sum(
        parameter.numel() for one in modules if one is not None for parameter in one.parameters() if parameter.dim() == 2
    )
