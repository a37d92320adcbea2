"""Which hidden units are worth a look."""

import numpy as np

from seqloom.errors import UsageError
from seqloom.results.language import FloatArray

UnitName = tuple[int, int]
"""A hidden unit: its layer, from 1, and its number, from 0."""
_SHOWN = 8


def selectivity_of(values: FloatArray) -> FloatArray:
    """`Unit.selectivity` of all units [layers, D], from their values [symbols, layers, D]."""
    ordered = np.sort(values.astype(np.float64), axis=0)
    count = len(ordered)
    below = np.arange(1, count)[:, None, None]  # symbols in the low group, for every way to part them
    sums = np.cumsum(ordered, axis=0)
    low = sums[:-1] / below
    high = (sums[-1] - sums[:-1]) / (count - below)
    between: FloatArray = (below * (count - below) / count**2 * (high - low) ** 2).max(axis=0, initial=0.0)
    return between


def most_selective(selectivity: FloatArray) -> list[UnitName]:
    """The units to show if nobody names any."""
    best = np.argsort(-selectivity, axis=None, kind="stable")[:_SHOWN]
    return [(int(layer) + 1, int(number)) for layer, number in zip(*np.unravel_index(best, selectivity.shape), strict=True)]


def checked_unit(unit: UnitName, shape: tuple[int, ...]) -> UnitName:
    """Refuse a unit that the model does not have."""
    layers, size = shape
    layer, number = unit
    if not (1 <= layer <= layers and 0 <= number < size):
        raise UsageError(
            f"unit {layer}:{number}: this model has layers 1 to {layers} with units 0 to {size - 1} each. Choose among them"
        )
    return unit
