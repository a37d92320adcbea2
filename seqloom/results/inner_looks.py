"""Where a model looked while it read one source beside another, as plain data: from place to place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from seqloom.results.predictions import Alignment, FloatArray


@dataclass(frozen=True)
class Places:
    """What an encoder looks from or to, one after the other: symbols or sentences, or a whole source as one of them.

    spans: where each begins and ends in the text of its source; equal numbers for marks. sources: which one it is of, each.
    unknown: which of them, counted from 0, are not in the vocabulary.
    """

    symbols: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    sources: tuple[str, ...]
    unknown: tuple[int, ...] = ()

    @classmethod
    def of(cls, name: str, alignment: Alignment) -> Self:
        """The places of a source, as attention sees them."""
        return cls(alignment.symbols, alignment.spans, (name,) * len(alignment.symbols), alignment.unknown)

    def after(self, name: str, text: str) -> Self:
        """The same behind a whole source as one place."""
        unknown = tuple(1 + one for one in self.unknown)
        return type(self)((text, *self.symbols), ((0, len(text)), *self.spans), (name, *self.sources), unknown)


@dataclass(frozen=True)
class InnerLook:
    """Where the encoder of a source looked while it read that beside another one.

    weights [R, H, N, M]: in each round and head, from each of N places (rows) a distribution over M places (columns).
    """

    source: str
    other: str
    weights: FloatArray
    rows: Places
    columns: Places

    def __repr__(self) -> str:
        rounds, _, rows, columns = self.weights.shape
        several = f", {rounds} rounds" if rounds > 1 else ""
        return f"InnerLook({self.source} beside {self.other}, {rows} x {columns}{several})"

    @property
    def rounds(self) -> Sequence[FloatArray]:
        """The weights of each round, averaged over heads, [N, M] each."""
        return [one.mean(axis=0) for one in self.weights]

    @property
    def among_themselves(self) -> bool:
        """Whether all places look at each other: rows are columns."""
        return self.rows == self.columns

    def as_json(self) -> dict[str, Any]:
        """The object that `explain` writes: the weights of each round, averaged over heads."""
        return {
            "source": self.source,
            "beside": self.other,
            "rows": list(self.rows.symbols),
            "columns": list(self.columns.symbols),
            "rounds": [np.round(one.astype(np.float64), 5).tolist() for one in self.rounds],
        }
