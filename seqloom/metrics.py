"""How good the outputs are: exact match, edit rates, BLEU and chrF, all in percent, with what was computed written beside.

Edit distances are rapidfuzz's, BLEU and chrF are sacreBLEU's. Every metric of a corpus is a function of sums over its items
(so many edits, so many reference characters ...). The sums are therefore taken from one small table of numbers per metric:
over all items for the score, over some for the score by length, over resampled items for confidence intervals.

Several references are allowed throughout: an exact match is with any of them, edits are counted to the closest.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from seqloom.classes import Classes
from seqloom.errors import DataError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as LibraryMetric

Name = Literal["exact_match", "symbol_error_rate", "cer", "wer", "bleu", "chrf"]
Table = npt.NDArray[np.float64]

ALL: tuple[Name, ...] = ("exact_match", "symbol_error_rate", "cer", "wer", "bleu", "chrf")
"""Every metric that can be computed from outputs and references."""

HIGHER_IS_BETTER: Mapping[str, bool] = {
    "loss": False,
    "exact_match": True,
    "symbol_error_rate": False,
    "cer": False,
    "wer": False,
    "bleu": True,
    "chrf": True,
}
"""The direction of every metric a recipe may name."""

_BUCKETS = 5
_BLEU_ORDER = 4
_TOO_SHORT = "no reference has four words in a row, which is what BLEU counts, so it is 0 for any output"
_CLASSES = "the targets are classes, one symbol each, and a class is right or wrong, however alike two names are"


@dataclass(frozen=True)
class Item:
    """One output beside what was wanted, as text and as symbols of the vocabulary.

    source_length counts the symbols of the source; scores by length are grouped by it.
    """

    hypothesis: str
    references: tuple[str, ...]
    hypothesis_symbols: tuple[Hashable, ...]
    references_symbols: tuple[tuple[Hashable, ...], ...]
    source_length: int


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found. An edit rate can exceed 100: nothing limits how much too much a model writes.

    by_length: a mapping per group of source lengths, `from` and `to` (both inclusive), `count`, and the metrics by name.
    silent: metrics that say nothing about these items, with the reason. They have a value, since programs rely on every
    name being there, but people should not be shown it. classes: which classes are found and which are confused, if all
    targets are classes, one symbol each.
    """

    metrics: Mapping[str, float]
    count: int
    signatures: Mapping[str, str]
    by_length: tuple[Mapping[str, float], ...]
    silent: Mapping[str, str] = field(default_factory=dict)
    classes: Classes | None = None

    @property
    def telling(self) -> list[str]:
        """The names of the metrics that say something."""
        return [name for name in self.metrics if name not in self.silent]

    @property
    def unsaid(self) -> dict[str, str]:
        """Why metrics say nothing, by their names; those with one reason together, between commas."""
        reasons = dict.fromkeys(self.silent.values())
        return {", ".join(name for name in self.silent if self.silent[name] == reason): reason for reason in reasons}

    def as_json(self) -> dict[str, Any]:
        """Return the evaluation as JSON-ready data."""
        return {
            "metrics": dict(self.metrics),
            "count": self.count,
            "signatures": dict(self.signatures),
            "by_length": [dict(bucket) for bucket in self.by_length],
            "silent": dict(self.silent),
            **({} if self.classes is None else {"classes": self.classes.as_json()}),
        }


def evaluate(items: Sequence[Item], names: Sequence[str] = ALL) -> Evaluation:
    """Compute the named metrics over all items, and by source length."""
    measures = _measure_all(items, names)
    silent = {name: measure.silent for name, measure in measures.items() if measure.silent}
    classes = _classes(items)
    if classes is not None:
        silent = {name: _CLASSES for name in names if name != "exact_match"}
    return Evaluation(
        metrics={name: measure.over_all() for name, measure in measures.items()},
        count=len(items),
        signatures={name: measure.signature for name, measure in measures.items()},
        by_length=tuple(_by_length(items, measures)),
        silent=silent,
        classes=classes,
    )


def _classes(items: Sequence[Item]) -> Classes | None:
    """What was wanted and what was written, if every target is one symbol."""
    if any(len(item.references) > 1 or len(item.references_symbols[0]) != 1 for item in items):
        return None
    return Classes.of((item.references[0], item.hypothesis) for item in items)


def silence(name: str, references: Sequence[str]) -> str:
    """Why a metric would say nothing about such references, whatever the outputs; empty if it would say something."""
    items = [Item(text, (text,), (), ((),), 0) for text in references]
    return _measure(name, items, single_sentences=False).silent if items else ""


def intervals(
    items: Sequence[Item], names: Sequence[str] = ALL, *, resamples: int = 500, seed: int = 1
) -> dict[str, tuple[float, float]]:
    """Return 95 % confidence intervals by the bootstrap: the metrics of as many items again, drawn with replacement.

    All metrics see the same draws.
    """
    measures = _measure_all(items, names)
    drawn: dict[str, list[float]] = {name: [] for name in measures}
    random = np.random.default_rng(seed)
    for _ in range(resamples):
        times_drawn = np.bincount(random.integers(len(items), size=len(items)), minlength=len(items)).astype(np.float64)
        for name, measure in measures.items():
            drawn[name].append(measure.score(times_drawn @ measure.table))
    return {name: _middle_95(scores) for name, scores in drawn.items()}


def sentence_scores(items: Sequence[Item], name: str) -> list[float]:
    """Score every item by itself, greater is better (so an error rate has a minus sign): for lists of the best and worst."""
    measure = _measure_all(items, [name], single_sentences=True)[name]
    sign = 1.0 if HIGHER_IS_BETTER[name] else -1.0
    return [sign * measure.score(row) for row in measure.table]


def better(name: str, new: float, old: float) -> bool:
    """Say whether the new value of a metric is an improvement; anything improves on NaN, and NaN on nothing."""
    if name not in HIGHER_IS_BETTER:
        raise UsageError(_unknown(name, tuple(HIGHER_IS_BETTER)))
    if math.isnan(old):
        return not math.isnan(new)
    return new > old if HIGHER_IS_BETTER[name] else new < old


# --- tables of sums -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Measure:
    """A metric made ready for some items: a row of numbers per item, and what the sums of rows are worth.

    silent: why the score says nothing about these items; empty if it does.
    """

    table: Table
    score: Callable[[Table], float]
    signature: str
    silent: str = ""

    def over_all(self) -> float:
        return self.score(self.table.sum(axis=0))


def _measure_all(items: Sequence[Item], names: Sequence[str], *, single_sentences: bool = False) -> dict[str, _Measure]:
    _check(items)
    return {name: _measure(name, items, single_sentences) for name in names}


def _check(items: Sequence[Item]) -> None:
    if not items:
        raise DataError(
            "Metrics need at least one output with its reference; there are none. Check that the data is not empty."
        )
    for number, item in enumerate(items, start=1):
        if not item.references or not item.references_symbols:
            raise DataError(
                f"Item {number} of {len(items)} has no reference to compare {item.hypothesis!r} with. "
                "Give every example a target, or leave it out."
            )


def _measure(name: str, items: Sequence[Item], single_sentences: bool) -> _Measure:
    match name:
        case "exact_match":
            return _exact_match(items)
        case "symbol_error_rate":
            return _edit_rate("vocabulary symbols", [(item.hypothesis_symbols, item.references_symbols) for item in items])
        case "cer":
            return _edit_rate("characters (code points)", [(item.hypothesis, item.references) for item in items])
        case "wer":
            return _edit_rate("words between spaces", [(_words(item.hypothesis), _words_of_each(item)) for item in items])
        case "bleu":
            measure = _from_library(_sacrebleu(name, single_sentences), items)
            # sacreBLEU's second statistic of an item is the length of its closest reference, in its own tokens.
            return measure if measure.table[:, 1].max() >= _BLEU_ORDER else replace(measure, silent=_TOO_SHORT)
        case "chrf":
            return _from_library(_sacrebleu(name, single_sentences), items)
        case _:
            raise UsageError(_unknown(name, ALL))


def _unknown(name: str, choices: Sequence[str]) -> str:
    return f"There is no metric {name!r}. Choose from: {', '.join(choices)}."


def _exact_match(items: Sequence[Item]) -> _Measure:
    table = np.array([[item.hypothesis in item.references, 1] for item in items], dtype=np.float64)
    return _Measure(table, _percentage, "items whose text equals a reference / items")


def _edit_rate(units: str, pairs: Sequence[tuple[Sequence[Hashable], Sequence[Sequence[Hashable]]]]) -> _Measure:
    """Count insertions, deletions and replacements to the closest reference, and that reference's units."""
    distance = _edit_distance()

    def row(hypothesis: Sequence[Hashable], references: Sequence[Sequence[Hashable]]) -> tuple[int, int]:
        # Of references that are equally close, the longest forgives most: min by the negative length.
        edits, length = min((distance(hypothesis, reference), -len(reference)) for reference in references)
        return edits, -length

    table = np.array([row(hypothesis, references) for hypothesis, references in pairs], dtype=np.float64)
    return _Measure(table, _percentage, f"edit distance / reference {units}, rapidfuzz {version('rapidfuzz')}")


def _percentage(sums: Table) -> float:
    """Return 100 * part / whole. A whole of nothing (only empty references) counts as one, so that an edit still shows."""
    part, whole = sums
    return float(100.0 * part / max(whole, 1.0))


def _words(text: str) -> list[str]:
    return text.split()


def _words_of_each(item: Item) -> list[list[str]]:
    return [_words(reference) for reference in item.references]


# --- libraries ------------------------------------------------------------------------------------------------------


def _edit_distance() -> Callable[[Sequence[Hashable], Sequence[Hashable]], int]:
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError as error:
        raise MissingExtraError("Computing metrics", "metrics") from error
    return Levenshtein.distance


def _sacrebleu(name: Literal["bleu", "chrf"], single_sentences: bool) -> "LibraryMetric":
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise MissingExtraError("Computing metrics", "metrics") from error
    if name == "chrf":
        return CHRF()
    # effective_order: a sentence of fewer than four words has no 4-grams, and its BLEU would be 0 however good it is.
    # force: data that is tokenised already is our users' choice, and no reason for a warning in the middle of a training.
    return BLEU(effective_order=single_sentences, force=True)


def _from_library(metric: "LibraryMetric", items: Sequence[Item]) -> _Measure:
    """Take sacreBLEU's own statistics per sentence.

    Its public functions would count all n-grams again for every group of lengths and every resample. A test holds the
    result against them.
    """
    most = max(len(item.references) for item in items)
    # sacreBLEU wants the first reference of every item, then the second of every item ..., None where there is none.
    streams = [[item.references[rank] if rank < len(item.references) else None for item in items] for rank in range(most)]
    hypotheses = [item.hypothesis for item in items]
    rows = metric._extract_corpus_statistics(hypotheses, streams)  # type: ignore[arg-type]  # noqa: SLF001

    def score(sums: Table) -> float:
        return float(metric._compute_score_from_stats([round(value) for value in sums]).score)  # noqa: SLF001

    return _Measure(np.array(rows, dtype=np.float64), score, str(metric.get_signature()))


# --- groups and intervals -------------------------------------------------------------------------------------------


def _by_length(items: Sequence[Item], measures: Mapping[str, _Measure]) -> list[Mapping[str, float]]:
    """Group the items by source length, in at most five groups of about equal size, and score each."""
    lengths = np.array([item.source_length for item in items], dtype=np.float64)
    starts = np.unique(np.quantile(lengths, np.arange(_BUCKETS) / _BUCKETS, method="lower"))
    bucket_of = np.searchsorted(starts, lengths, side="right") - 1
    return [_bucket(lengths, bucket_of == index, measures) for index in range(len(starts))]


def _bucket(lengths: Table, inside: npt.NDArray[np.bool_], measures: Mapping[str, _Measure]) -> Mapping[str, float]:
    chosen = lengths[inside]
    scores = {name: measure.score(measure.table[inside].sum(axis=0)) for name, measure in measures.items()}
    return {"from": int(chosen.min()), "to": int(chosen.max()), "count": len(chosen), **scores}


def _middle_95(scores: Sequence[float]) -> tuple[float, float]:
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)
