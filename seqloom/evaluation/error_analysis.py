"""Finds what a model gets wrong: edits between outputs and references, by length and by frequency in training."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import Example
from seqloom.data.vocabulary import Vocabulary, parts_of
from seqloom.errors import DataError, RunError
from seqloom.evaluation.items import items_of
from seqloom.metrics import Item, evaluate
from seqloom.metrics.edits import Edit, edits_between
from seqloom.metrics.evaluation import length_groups
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import TARGET
from seqloom.results.mistakes import Case, EditCount, EditKind, Grouping, JudgedGroup, Mistake, Mistakes, Unit
from seqloom.results.predictions import Prediction

_EXAMPLES = 3
"""So many examples of each confusion are kept."""
_CHUNK = 4096
_FREQUENCIES = (0, 1, 10, 100, 1_000, 10_000)
_REPEATS = (0, 1, 2)

_UNITS: dict[str, Unit] = {"character": "characters", "symbol": "symbols", "word": "words", "class": "classes"}

Table = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Judged:
    """One output beside its closest reference, both as units."""

    case: Case
    right: bool
    wanted: tuple[str, ...]
    edits: tuple[Edit, ...]
    others: tuple[str, ...]

    @property
    def error_rate(self) -> float:
        return 100.0 * len(self.edits) / max(1, len(self.wanted))


def diagnose(
    predictor: Predictor,
    examples: Sequence[Example],
    predictions: Sequence[Prediction],
    *,
    worst: int = 10,
    progress: Callable[[int], None] = lambda count: None,
) -> Mistakes:
    """What is wrong with predictions for examples. worst: so many of the worst outputs. progress: of reading training data."""
    items = items_of(predictor, examples, predictions)
    vocabulary = predictor.vocabularies[TARGET]
    unit = _UNITS[vocabulary.kind.unit]
    judged = [_judge(vocabulary, *one) for one in zip(examples, predictions, strict=True)]
    groupings, notes = _groupings(predictor, examples, items, judged, progress)
    return Mistakes(
        count=len(judged),
        wrong=sum(not one.right for one in judged),
        unit=unit,
        wanted=sum(len(one.wanted) for one in judged),
        unseen=sum(symbols.count(-1) for item in items for symbols in item.references_symbols),
        confusions=_confusions(judged),
        by=groupings,
        worst=_worst(judged, predictions, worst),
        classes=evaluate(items, ["exact_match"]).classes,
        notes=notes,
    )


# --- outputs and references -----------------------------------------------------------------------------------------


def _judge(vocabulary: Vocabulary, example: Example, prediction: Prediction) -> _Judged:
    """Compare with the closest reference; of equally close ones the longest, as the edit rates of `evaluate` do."""
    written = vocabulary.pieces(prediction.text, as_read=False)
    found = []
    for target in example.targets:
        wanted = vocabulary.pieces(target, as_read=False)
        edits = edits_between(wanted, written)
        found.append((len(edits), -len(wanted), target, wanted, edits))
    _, _, closest, wanted, edits = min(found, key=lambda one: one[:2])
    return _Judged(
        case=Case(_source(example), closest, prediction.text),
        right=prediction.text in example.targets,
        wanted=tuple(wanted),
        edits=tuple(edits),
        others=tuple(target for target in dict.fromkeys(example.targets) if target != closest),
    )


def _source(example: Example) -> str:
    return " | ".join((*example.features, *example.sources.values()))


def _confusions(judged: Sequence[_Judged]) -> tuple[EditCount, ...]:
    """All edits, the most frequent first."""
    counts: Counter[Edit] = Counter()
    cases: defaultdict[Edit, list[Case]] = defaultdict(list)
    for one in judged:
        counts.update(one.edits)
        for edit in dict.fromkeys(one.edits):
            if len(cases[edit]) < _EXAMPLES:
                cases[edit].append(one.case)
    occurrences = Counter(symbol for one in judged for symbol in one.wanted)
    ranked = sorted(counts, key=lambda edit: (-counts[edit], edit.wanted or "", edit.written or ""))
    return tuple(
        EditCount(
            kind=_kind(edit),
            wanted=edit.wanted,
            written=edit.written,
            count=counts[edit],
            share=100.0 * counts[edit] / counts.total(),
            of=None if edit.wanted is None else occurrences[edit.wanted],
            examples=tuple(cases[edit]),
        )
        for edit in ranked
    )


def _kind(edit: Edit) -> EditKind:
    if edit.wanted is None:
        return "inserted"
    return "dropped" if edit.written is None else "substituted"


def _worst(judged: Sequence[_Judged], predictions: Sequence[Prediction], most: int) -> tuple[Mistake, ...]:
    """Wrong outputs: those with the most edits for their length first, and of these the ones that the model was surest of."""
    wrong = [number for number, one in enumerate(judged) if not one.right]
    wrong.sort(key=lambda number: (-judged[number].error_rate, -predictions[number].log_prob))
    return tuple(
        Mistake(
            number=number,
            case=judged[number].case,
            edits=len(judged[number].edits),
            error_rate=judged[number].error_rate,
            probability=math.exp(min(0.0, predictions[number].log_prob)),
            others=judged[number].others,
        )
        for number in wrong[:most]
    )


# --- groups ---------------------------------------------------------------------------------------------------------


def _groupings(
    predictor: Predictor,
    examples: Sequence[Example],
    items: Sequence[Item],
    judged: Sequence[_Judged],
    progress: Callable[[int], None],
) -> tuple[tuple[Grouping, ...], tuple[str, ...]]:
    """Groups by length and by frequency in training; and what could not be counted, with the reason."""
    sums = np.array([(one.right, len(one.edits), len(one.wanted)) for one in judged], dtype=np.float64)
    lengths = np.array([item.source_length for item in items], dtype=np.float64)
    found = [_by_length(lengths, sums)] if predictor.recipe.data.text_sources else []
    try:
        frequencies = _Frequencies.of_training(predictor, examples, progress)
    except (DataError, RunError) as problem:
        return tuple(one for one in found if len(one.groups) > 1), (f"frequency in training was not counted: {problem}",)
    whole = [frequencies.sources[_key(example)] for example in examples]
    counted = "how often all sources of an example, features included, stand together in the training examples"
    found.append(_grouping("frequency of the whole source", counted, whole, _REPEATS, sums))
    if frequencies.read:
        rarest = [frequencies.rarest_read(example) for example in examples]
        what = " or ".join(dict.fromkeys(frequencies.units.values()))
        counted = f"how often the rarest {what} of the source stands in all training sources (0: in none)"
        found.append(_grouping(f"frequency of the rarest {what} in the source", counted, rarest, _FREQUENCIES, sums))
    what = predictor.vocabularies[TARGET].kind.unit
    written = [frequencies.rarest_written(one.wanted) for one in judged]
    counted = f"how often the rarest {what} of the (closest) reference stands in all training targets (0: in none)"
    found.append(_grouping(f"frequency of the rarest {what} in the reference", counted, written, _FREQUENCIES, sums))
    return tuple(one for one in found if len(one.groups) > 1), ()


def _by_length(lengths: Table, sums: Table) -> Grouping:
    groups = tuple(
        _group(int(lengths[inside].min()), int(lengths[inside].max()), sums[inside]) for inside in length_groups(lengths)
    )
    return Grouping("length of the source", "symbols of the longest text source as the model reads it", groups)


def _grouping(name: str, counted: str, counts: Sequence[int], starts: Sequence[int], sums: Table) -> Grouping:
    """Items by a count, in ranges that begin at `starts`; ranges without an item are left out."""
    place = np.searchsorted(starts, counts, side="right") - 1
    ends = [*(start - 1 for start in starts[1:]), None]
    present = [index for index in range(len(starts)) if (place == index).any()]
    return Grouping(name, counted, tuple(_group(starts[index], ends[index], sums[place == index]) for index in present))


def _group(low: int, high: int | None, sums: Table) -> JudgedGroup:
    right, edits, wanted = sums.sum(axis=0)
    return JudgedGroup(low, high, len(sums), 100.0 * right / len(sums), 100.0 * edits / max(1.0, wanted))


def _key(example: Example) -> tuple[object, ...]:
    return (*example.sources.values(), *example.features)


@dataclass
class _Frequencies:
    """How often things occur in training: whole sources (of those that are asked for), and what texts are cut into.

    read: of each source that is text; units: what that is called, by source; written: of targets.
    """

    vocabularies: Mapping[str, Vocabulary]
    units: Mapping[str, str]
    sources: Counter[tuple[object, ...]] = field(default_factory=Counter)
    read: dict[str, Counter[str]] = field(default_factory=dict)
    written: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of_training(cls, predictor: Predictor, asked: Sequence[Example], progress: Callable[[int], None]) -> "_Frequencies":
        """Go through the training examples of the recipe."""
        data = predictor.recipe.data
        units = {name: _singular(predictor.vocabularies[name]) for name in data.text_sources}
        found = cls(predictor.vocabularies, units, read={name: Counter() for name in data.text_sources})
        wanted = {_key(example) for example in asked}
        for chunk in _chunks(predictor.corpus.examples("train")):
            found.sources.update(key for example in chunk if (key := _key(example)) in wanted)
            for name, counts in found.read.items():
                _count(predictor.vocabularies[name], [example.sources[name] for example in chunk], counts, as_read=True)
            _count(predictor.vocabularies[TARGET], [example.target or "" for example in chunk], found.written, as_read=False)
            progress(len(chunk))
        return found

    def rarest_read(self, example: Example) -> int:
        """How often the rarest part of the texts occurs; 0 for texts without any."""
        counts = [
            counted[piece]
            for name, counted in self.read.items()
            for piece in self.vocabularies[name].pieces(example.sources[name], as_read=True)
        ]
        return min(counts, default=0)

    def rarest_written(self, wanted: Sequence[str]) -> int:
        """How often the rarest part of a target occurs."""
        return min((self.written[piece] for piece in wanted), default=0)


def _singular(vocabulary: Vocabulary) -> str:
    return "text" if vocabulary.whole else vocabulary.kind.unit


def _chunks(examples: Iterable[Example]) -> Iterator[list[Example]]:
    stream = iter(examples)
    while chunk := list(islice(stream, _CHUNK)):
        yield chunk


def _count(vocabulary: Vocabulary, texts: Sequence[str], counts: Counter[str], *, as_read: bool) -> None:
    """Count what texts are cut into; words that occur again are cut once."""
    parts, _ = parts_of(texts, by_words=vocabulary.kind.by_words)
    for part, times in Counter(parts).items():
        for piece in vocabulary.pieces(part, as_read=as_read):
            counts[piece] += times
