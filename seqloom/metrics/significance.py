"""Whether one system is better than another, or had luck with the test set: the paired bootstrap.

Koehn (2004), "Statistical significance tests for machine translation evaluation": draw as many items again with replacement,
the same ones for both systems, and look how often the difference between their scores keeps its sign.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from seqloom.errors import UsageError
from seqloom.metrics.evaluation import made_ready, middle_95
from seqloom.metrics.sums import Item, Measure, Table

RESAMPLES = 1000
SEED = 12345
"""That of sacreBLEU, whose draws are then the same."""


@dataclass(frozen=True)
class Difference:
    """One metric of two systems on the same items.

    difference: second - first. interval: the middle 95 % of the differences of all resamples. p_value: two-sided; twice the
    share of resamples in which the difference has not the sign that most of them have (one is added to the count, so that
    it is never 0), at most 1.
    """

    metric: str
    first: float
    second: float
    difference: float
    interval: tuple[float, float]
    p_value: float
    signature: str

    def as_json(self) -> dict[str, Any]:
        """The difference as JSON-ready data."""
        return {**asdict(self), "interval": list(self.interval)}


def paired_bootstrap(
    first: Sequence[Item],
    second: Sequence[Item],
    names: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[Difference]:
    """Compare two systems on the same items, metric by metric. Those that say nothing or cannot be computed are left out."""
    if [one.references for one in first] != [one.references for one in second]:
        raise UsageError("a paired test needs the outputs of both systems for the same references, in the same order")
    ours, theirs = made_ready(first, names), made_ready(second, names)
    shared = [name for name in ours if name in theirs and not ours[name].silent and not theirs[name].silent]
    pairs = {name: (ours[name], theirs[name]) for name in shared}
    drawn: dict[str, list[float]] = {name: [] for name in shared}
    for times in draws(len(first), resamples, seed):
        for name, (one, other) in pairs.items():
            drawn[name].append(other.score(times @ other.table) - one.score(times @ one.table))
    return [_difference(name, *pairs[name], drawn[name]) for name in shared]


def draws(items: int, resamples: int, seed: int) -> Iterator[Table]:
    """How often each item is drawn, resample by resample. One generator for all: a resample costs no more than its numbers."""
    random = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(random.integers(items, size=items), minlength=items).astype(np.float64)


def _difference(name: str, first: Measure, second: Measure, drawn: Sequence[float]) -> Difference:
    values = np.asarray(drawn, dtype=np.float64)
    against = min(int((values <= 0).sum()), int((values >= 0).sum()))
    before, after = first.over_all(), second.over_all()
    return Difference(
        metric=name,
        first=before,
        second=after,
        difference=after - before,
        interval=middle_95(drawn),
        p_value=min(1.0, 2.0 * (against + 1) / (len(values) + 1)),
        signature=first.signature,
    )
