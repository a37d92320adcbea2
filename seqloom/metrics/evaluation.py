"""Scores of a corpus: over all items, by source length, with intervals, and of each item."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.errors import DataError, UsageError
from seqloom.metrics import captions, edits, generation, meteor, summaries, translation
from seqloom.metrics.captions import Captions
from seqloom.metrics.names import ALL, HIGHER_IS_BETTER, are_classes, unknown, usual
from seqloom.metrics.summaries import Summaries
from seqloom.metrics.sums import Item, Measure, NotComputedError, Table
from seqloom.results.confusion import Classes

_BUCKETS = 5
_CLASSES = "the targets are classes, one symbol each, and a class is right or wrong, however alike two names are"


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found. An edit rate can exceed 100: nothing limits how much too much a model writes.

    by_length: a mapping per group of source lengths, `from` and `to` (both inclusive), `count`, and the metrics by name.
    silent: metrics that say nothing about these items, with the reason. They have a value, since programs rely on every
    name being there, but people should not be shown it. absent: metrics that were asked for and could not be computed, with
    the reason; they have no value. classes: which classes are found and which are confused, if all targets are classes, one
    symbol each.
    """

    metrics: Mapping[str, float]
    count: int
    signatures: Mapping[str, str]
    by_length: tuple[Mapping[str, float], ...]
    silent: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    classes: Classes | None = None

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {self.metrics[name]:.2f}" for name in self.telling)
        return f"Evaluation({self.count:,} examples: {told})"

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
            **({"absent": dict(self.absent)} if self.absent else {}),
            **({} if self.classes is None else {"classes": self.classes.as_json()}),
        }


def evaluate(items: Sequence[Item], names: Sequence[str] | None = None, *, usual: Sequence[str] | None = None) -> Evaluation:
    """Compute the named metrics over all items, and by source length; where nobody named any, the usual ones.

    usual: those of the task, if it is known. Of usual metrics, one that repeats another for these items is silent.
    """
    measures, absent = _measure_all(items, names or usual)
    silent = {name: measure.silent for name, measure in measures.items() if measure.silent}
    if names is None:
        silent |= _repetitions(measures)
    classes = _classes(items)
    if classes is not None:
        silent = {name: _CLASSES for name in measures if name != "exact_match"}
    return Evaluation(
        metrics={name: measure.over_all() for name, measure in measures.items()},
        count=len(items),
        signatures={name: measure.signature for name, measure in measures.items()},
        by_length=tuple(_by_length(items, measures)),
        silent=silent,
        absent=absent,
        classes=classes,
    )


_SAME = {
    "symbol_error_rate": ("cer", "every symbol is a character"),
    "wer": ("symbol_error_rate", "every symbol is a word between spaces"),
}
"""Metrics that repeat another one for some vocabularies, and for which."""


def _repetitions(measures: Mapping[str, Measure]) -> dict[str, str]:
    """The metrics that say what another one says, item by item, with the reason."""
    return {
        name: f"the same as {other}: {reason}"
        for name, (other, reason) in _SAME.items()
        if name in measures and other in measures and np.array_equal(measures[name].table, measures[other].table)
    }


def _classes(items: Sequence[Item]) -> Classes | None:
    """What was wanted and what was written, if every target is one symbol. Of several right ones, that which was written."""
    if not are_classes(items):
        return None
    return Classes.of(
        (item.hypothesis if item.hypothesis in item.references else item.references[0], item.hypothesis) for item in items
    )


def silence(name: str, references: Sequence[Sequence[str]]) -> str:
    """Why a metric would say nothing about such references, whatever the outputs; empty if it would say something.

    references: of each item, all that are right.
    """
    if name in ("meteor", "slot_error_rate") or not references:  # the latter looks at sources
        return ""
    # As outputs the longest of them: some metrics look only at the reference that is closest in length.
    items = [Item(max(several, key=len), tuple(several), (), ((),) * len(several), 0) for several in references]
    return _measure(name, _Prepared(items), single_sentences=False).silent


def absence(name: str) -> str:
    """Why a metric cannot be computed on this machine; empty if it can."""
    return meteor.absence() if name == "meteor" else ""


def intervals(
    items: Sequence[Item], names: Sequence[str] | None = None, *, resamples: int = 500, seed: int = 1
) -> dict[str, tuple[float, float]]:
    """Return 95 % confidence intervals by the bootstrap: the metrics of as many items again, drawn with replacement.

    All metrics see the same draws. Those that cannot be computed have no interval.
    """
    measures, _ = _measure_all(items, names)
    drawn: dict[str, list[float]] = {name: [] for name in measures}
    random = np.random.default_rng(seed)
    for _ in range(resamples):
        times_drawn = np.bincount(random.integers(len(items), size=len(items)), minlength=len(items)).astype(np.float64)
        for name, measure in measures.items():
            drawn[name].append(measure.score(times_drawn @ measure.table))
    return {name: middle_95(scores) for name, scores in drawn.items()}


def sentence_scores(items: Sequence[Item], name: str) -> list[float]:
    """Score every item by itself, greater is better (so an error rate has a minus sign): for lists of the best and worst."""
    _check(items)
    measure = _measure(name, _Prepared(items), single_sentences=True)
    sign = 1.0 if HIGHER_IS_BETTER[name] else -1.0
    return [sign * measure.score(row) for row in measure.table]


def better(name: str, new: float, old: float) -> bool:
    """Say whether the new value of a metric is an improvement; anything improves on NaN, and NaN on nothing."""
    if name not in HIGHER_IS_BETTER:
        raise UsageError(unknown(name, tuple(HIGHER_IS_BETTER)))
    if math.isnan(old):
        return not math.isnan(new)
    return new > old if HIGHER_IS_BETTER[name] else new < old


def cannot_improve(name: str, value: float) -> bool:
    """Say whether nothing is better than this value of a metric: all right, or no edit."""
    return value == 100.0 if name == "exact_match" else value == 0.0 and not HIGHER_IS_BETTER[name]


# --- making ready ---------------------------------------------------------------------------------------------------


class _Prepared:
    """Items, and their words in the form that families of metrics share."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items

    @cached_property
    def captions(self) -> Captions:
        return Captions(self.items)

    @cached_property
    def summaries(self) -> Summaries:
        return Summaries(self.items)


def _measure_all(items: Sequence[Item], names: Sequence[str] | None) -> tuple[dict[str, Measure], dict[str, str]]:
    """The metrics that can be computed, and why others cannot."""
    _check(items)
    prepared = _Prepared(items)
    measures, absent = {}, {}
    for name in usual(items) if names is None else names:
        try:
            measures[name] = _measure(name, prepared, single_sentences=False)
        except NotComputedError as error:
            absent[name] = str(error)
    return measures, absent


def made_ready(items: Sequence[Item], names: Sequence[str] | None = None) -> dict[str, Measure]:
    """The named metrics, else the usual ones, ready to be summed; without those that cannot be computed here.

    Where the items are classes, all but exact match say nothing.
    """
    measures, _ = _measure_all(items, names)
    classes = are_classes(items)
    return {name: replace(one, silent=_CLASSES) if classes and name != "exact_match" else one for name, one in measures.items()}


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


def _measure(name: str, prepared: _Prepared, *, single_sentences: bool) -> Measure:
    match name:
        case "exact_match":
            return edits.exact_match(prepared.items)
        case "symbol_error_rate":
            return edits.symbol_error_rate(prepared.items)
        case "cer":
            return edits.character_error_rate(prepared.items)
        case "wer":
            return edits.word_error_rate(prepared.items)
        case "bleu":
            return translation.bleu(prepared.items, single_sentences=single_sentences)
        case "chrf":
            return translation.chrf(prepared.items)
        case "bleu_1" | "bleu_2" | "bleu_3" | "bleu_4":
            return captions.bleu(prepared.captions, int(name[-1]), penalised=True)
        case "bleu_1_unpenalised" | "bleu_2_unpenalised" | "bleu_3_unpenalised" | "bleu_4_unpenalised":
            return captions.bleu(prepared.captions, int(name[len("bleu_")]), penalised=False)
        case "meteor":
            return meteor.meteor(prepared.captions)
        case "rouge_l_coco":
            return captions.rouge_l(prepared.captions)
        case "cider":
            return captions.cider(prepared.captions)
        case "rouge_1":
            return summaries.rouge_n(prepared.summaries, 1)
        case "rouge_2":
            return summaries.rouge_n(prepared.summaries, 2)
        case "rouge_l":
            return summaries.rouge_l(prepared.summaries)
        case "slot_error_rate":
            return generation.slot_error_rate(prepared.items)
        case "distinct_1" | "distinct_2":
            return generation.distinct(prepared.items, int(name[-1]))
        case "kept_f1":
            return generation.kept_f1(prepared.items)
        case _:
            raise UsageError(unknown(name, ALL))


# --- groups and intervals -------------------------------------------------------------------------------------------


def _by_length(items: Sequence[Item], measures: Mapping[str, Measure]) -> list[Mapping[str, float]]:
    """Group the items by source length and score each group."""
    lengths = np.array([item.source_length for item in items], dtype=np.float64)
    return [_bucket(lengths, inside, measures) for inside in length_groups(lengths)]


def length_groups(lengths: Table) -> list[npt.NDArray[np.bool_]]:
    """At most five groups of about equal size: for each, which of the lengths [N] are in it."""
    starts = np.unique(np.quantile(lengths, np.arange(_BUCKETS) / _BUCKETS, method="lower"))
    bucket_of = np.searchsorted(starts, lengths, side="right") - 1
    return [bucket_of == index for index in range(len(starts))]


def _bucket(lengths: Table, inside: npt.NDArray[np.bool_], measures: Mapping[str, Measure]) -> Mapping[str, float]:
    chosen = lengths[inside]
    scores = {name: measure.score(measure.table[inside].sum(axis=0)) for name, measure in measures.items()}
    return {"from": int(chosen.min()), "to": int(chosen.max()), "count": len(chosen), **scores}


def middle_95(scores: Sequence[float]) -> tuple[float, float]:
    """The interval that leaves out 2.5 % of the scores at each end."""
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)
