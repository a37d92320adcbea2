"""Text as ids of symbols: one text with all that is known of its symbols, and many in two arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.symbols import UNKNOWN

IdArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Encoded:
    """One text as symbols: their ids, how a person reads them, and where each stands in the text (marks stand nowhere).

    copies: symbols outside the vocabulary, as it would store them, by ids that they have in this text alone; none unless they
    are told apart.
    """

    ids: npt.NDArray[Any]
    symbols: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    copies: Mapping[int, str] = field(default_factory=dict)

    def cut(self, first: int | None) -> "Encoded":
        """The first so many symbols; None: all of them."""
        if first is None or len(self.ids) <= first:
            return self
        return Encoded(self.ids[:first], self.symbols[:first], self.spans[:first])

    def unknown_in(self, text: str) -> tuple[str, ...]:
        """The pieces of the text that are unknown symbols."""
        return tuple(text[slice(*self.spans[place])] for place in np.flatnonzero(self.ids == UNKNOWN))


@dataclass(frozen=True)
class Sequences:
    """Many sequences of ids in two arrays. ids: one sequence after the other; lengths [N]: how long each is.

    Sequences of vectors have a row of numbers for each position in the place of an id.
    """

    ids: npt.NDArray[Any]
    lengths: IdArray

    def __len__(self) -> int:
        return len(self.lengths)

    def kept(self, wanted: npt.NDArray[np.bool_]) -> "Sequences":
        """The sequences for which `wanted` [N] is True."""
        return self if wanted.all() else Sequences(self.ids[np.repeat(wanted, self.lengths)], self.lengths[wanted])

    def cut(self, first: int) -> "Sequences":
        """The first so many symbols of each sequence."""
        lengths = np.minimum(self.lengths, first)
        return Sequences(self.ids[_positions(np.cumsum(self.lengths) - self.lengths, lengths)], lengths)

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]]) -> "Sequences":
        """Lay sequences one after the other."""
        lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
        return cls(np.fromiter(chain.from_iterable(sequences), dtype=np.int64, count=int(lengths.sum())), lengths)

    def chained(self, numbers: npt.NDArray[np.integer], counts: IdArray) -> "Sequences":
        """Longer sequences made of these: the first of the first counts[0] numbers, the second of the next counts[1] ones."""
        lengths = self.lengths[numbers]
        ids = self.ids[_positions((np.cumsum(self.lengths) - self.lengths)[numbers], lengths)]
        return Sequences(ids, np.add.reduceat(lengths, np.cumsum(counts) - counts))

    @classmethod
    def joined(cls, parts: Sequence["Sequences"]) -> "Sequences":
        """Sequence i of each part, one behind the other, as sequence i."""
        lengths: IdArray = np.stack([part.lengths for part in parts]).sum(axis=0)
        ids = np.empty(int(lengths.sum()), dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        for part in parts:
            ids[_positions(starts, part.lengths)] = part.ids
            starts = starts + part.lengths
        return cls(ids, lengths)


def _positions(starts: IdArray, lengths: IdArray) -> IdArray:
    """All positions of the stretches that begin at `starts` and are `lengths` long, stretch by stretch."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
