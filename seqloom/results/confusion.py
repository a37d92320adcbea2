"""Outputs that are classes, one symbol each, beside the classes that were wanted: which are found, and which are confused."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class ClassQuality:
    """How well one class is found, in percent.

    wanted: so many references are of this class; written: so many outputs. precision: how many of the outputs are right, None
    if it was never written; recall: how many of the references were found, None if it was never wanted; f1: the harmonic
    mean of both.
    """

    name: str
    wanted: int
    written: int
    precision: float | None
    recall: float | None
    f1: float


@dataclass(frozen=True)
class Confusion:
    """One class that was written where another was wanted, and how often."""

    wanted: str
    written: str
    count: int


@dataclass(frozen=True)
class Classes:
    """What was wanted and what was written. counts: how often each pair (wanted, written) occurred."""

    counts: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> "Classes":
        """Count pairs of wanted and written classes."""
        return cls(Counter(pairs))

    @cached_property
    def _wanted(self) -> Counter[str]:
        return self._sums(0)

    @cached_property
    def _written(self) -> Counter[str]:
        return self._sums(1)

    def _sums(self, side: int) -> Counter[str]:
        sums: Counter[str] = Counter()
        for pair, count in self.counts.items():
            sums[pair[side]] += count
        return sums

    @property
    def names(self) -> list[str]:
        """The classes, those that are wanted most often first; last, those that were written but never wanted."""
        return sorted(self._wanted | self._written, key=lambda name: (-self._wanted[name], -self._written[name], name))

    @property
    def qualities(self) -> list[ClassQuality]:
        """How well each class is found, in the order of `names`."""
        return [self._quality(name) for name in self.names]

    def _quality(self, name: str) -> ClassQuality:
        wanted, written, right = self._wanted[name], self._written[name], self.counts.get((name, name), 0)
        return ClassQuality(
            name,
            wanted,
            written,
            precision=100.0 * right / written if written else None,
            recall=100.0 * right / wanted if wanted else None,
            f1=200.0 * right / (wanted + written),
        )

    @property
    def accuracy(self) -> float:
        """How many outputs are right, in percent: the same as exact match."""
        right = sum(count for (wanted, written), count in self.counts.items() if wanted == written)
        return 100.0 * right / max(1, sum(self.counts.values()))

    @property
    def macro_f1(self) -> float:
        """The mean f1 of all classes that are wanted, each counting the same however rare it is."""
        scores = [one.f1 for one in self.qualities if one.wanted]
        return sum(scores) / max(1, len(scores))

    @property
    def confusions(self) -> list[Confusion]:
        """What was taken for what, the most frequent first."""
        wrong = [Confusion(*pair, count) for pair, count in self.counts.items() if pair[0] != pair[1]]
        return sorted(wrong, key=lambda one: (-one.count, one.wanted, one.written))

    def table(self, names: Sequence[str]) -> list[list[int]]:
        """How often each class (row) was written as each class (column)."""
        return [[self.counts.get((wanted, written), 0) for written in names] for wanted in names]

    def as_json(self) -> dict[str, Any]:
        """The classes as JSON-ready data."""
        return {
            "accuracy": self.accuracy,
            "macro_f1": self.macro_f1,
            "classes": [asdict(one) for one in self.qualities],
            "confusions": [asdict(one) for one in self.confusions],
        }
