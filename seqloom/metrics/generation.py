"""Metrics of what is generated from a text: whether slots are said, how varied outputs are, which words are kept."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version

import numpy as np

from seqloom.metrics.sums import Item, Measure, mean_of, percentage
from seqloom.metrics.words import ngrams, summary_words

_VALUE = re.compile(r"=\s*([^=;|]+?)\s*(?:[;|]|$)|\[([^\]]+)\]")
"""A value of an act: `slot = value ; ...`, `slot=value|...`, `slot[value]`; several stand between commas with spaces around."""
_NO_SLOTS = "no source has a value (`slot = value ; ...` or `slot[value]`) that its reference says"


def slot_error_rate(items: Sequence[Item]) -> Measure:
    """Values of the source's acts that a reference says and the output does not."""
    rows = [_slots(item) for item in items]
    signature = f"values of `slot = value` or `slot[value]` in a reference and not in the output, any case, {_VERSION}"
    return Measure(
        np.array(rows, dtype=np.float64), percentage, signature, "" if any(whole for _, whole in rows) else _NO_SLOTS
    )


def _slots(item: Item) -> tuple[int, int]:
    references, written = [_padded(one) for one in item.references], _padded(item.hypothesis)
    said = [value for value in values_of(item.source) if any(_padded(value) in reference for reference in references)]
    return sum(_padded(value) not in written for value in said), len(said)


def values_of(acts: str) -> Iterator[str]:
    """The values of all slots."""
    for match in _VALUE.finditer(acts):
        yield from filter(None, (match[1] or match[2]).split(" , "))


def _padded(text: str) -> str:
    """A text as words between single spaces, so that one that is part of another word is not found."""
    return f" {' '.join(summary_words(text))} "


def distinct(items: Sequence[Item], order: int) -> Measure:
    """Different runs of so many words among all that were written.

    The row of an item has its share of each run: one that k outputs have counts 1/k in each. So the sum over all outputs is how
    many different runs there are, and that of a group how much of them is owed to it.
    """
    outputs = [ngrams(summary_words(item.hypothesis), order) for item in items]
    owners = Counter(run for output in outputs for run in output)
    rows = [(sum(1 / owners[run] for run in output), output.total()) for output in outputs]
    signature = f"different {order}-grams / {order}-grams of all outputs, lower-cased runs of letters and digits, {_VERSION}"
    nothing = "" if owners else f"no output has {order} words"
    return Measure(np.array(rows, dtype=np.float64), percentage, signature, nothing)


def kept_f1(items: Sequence[Item]) -> Measure:
    """F1 of the words that are kept. Where all references are tags, 1 for keep and 0 for drop, a word is its place."""
    tagged = all(set(reference.split()) <= {"0", "1"} for item in items for reference in item.references)
    kept = _places if tagged else _words
    values = (max(_f1(kept(item.hypothesis), kept(reference)) for reference in item.references) for item in items)
    what = "places tagged 1" if tagged else "words between spaces"
    return mean_of(values, f"F1 of {what}, with the reference that gives most, mean of items, {_VERSION}")


def _words(text: str) -> Counter[object]:
    return Counter(text.split())


def _places(tags: str) -> Counter[object]:
    return Counter(place for place, tag in enumerate(tags.split()) if tag == "1")


def _f1(written: Counter[object], wanted: Counter[object]) -> float:
    common = (written & wanted).total()
    return 2 * common / (written.total() + wanted.total()) if common else float(not written and not wanted)


_VERSION = f"seqloom {version('seqloom')}"
