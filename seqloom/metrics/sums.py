"""The form that all metrics have: a row of numbers per item, and a function of summed rows."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqloom.errors import UsageError

Table = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Item:
    """One output beside what was wanted, as text and as symbols of the vocabulary.

    source_length counts the symbols of the source; scores by length are grouped by it. source: its text, for metrics that
    compare with it.
    """

    hypothesis: str
    references: tuple[str, ...]
    hypothesis_symbols: tuple[Hashable, ...]
    references_symbols: tuple[tuple[Hashable, ...], ...]
    source_length: int
    source: str = ""


@dataclass(frozen=True)
class Measure:
    """A metric made ready for some items: a row of numbers per item, and what the sums of rows are worth.

    silent: why the score says nothing about these items; empty if it does.
    """

    table: Table
    score: Callable[[Table], float]
    signature: str
    silent: str = ""

    def over_all(self) -> float:
        """The score of all items."""
        return self.score(self.table.sum(axis=0))


class NotComputedError(UsageError):
    """A metric that this machine cannot compute; the message says why, and what to do."""


def percentage(sums: Table) -> float:
    """Return 100 * part / whole. A whole of nothing (only empty references) counts as one, so that an edit still shows."""
    part, whole = sums
    return float(100.0 * part / max(whole, 1.0))


def mean_of(values: Iterable[float], signature: str, silent: str = "") -> Measure:
    """The mean of a value per item, in percent."""
    return Measure(np.array([(value, 1.0) for value in values], dtype=np.float64), percentage, signature, silent)
