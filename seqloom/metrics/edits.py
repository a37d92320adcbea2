"""Exact match and edit rates: metrics of texts that have one right answer."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from seqloom.errors import MissingExtraError
from seqloom.metrics.sums import Item, Measure, mean_of, percentage


def exact_match(items: Sequence[Item]) -> Measure:
    """The share of items whose text equals a reference."""
    return mean_of((item.hypothesis in item.references for item in items), "items whose text equals a reference / items")


def symbol_error_rate(items: Sequence[Item]) -> Measure:
    """Edits per symbol of the vocabulary."""
    return _edit_rate("vocabulary symbols", [(item.hypothesis_symbols, item.references_symbols) for item in items])


def character_error_rate(items: Sequence[Item]) -> Measure:
    """Edits per character."""
    return _edit_rate("characters (code points)", [(item.hypothesis, item.references) for item in items])


def word_error_rate(items: Sequence[Item]) -> Measure:
    """Edits per word."""
    words = [(item.hypothesis.split(), [reference.split() for reference in item.references]) for item in items]
    return _edit_rate("words between spaces", words)


def _edit_rate(units: str, pairs: Sequence[tuple[Sequence[Hashable], Sequence[Sequence[Hashable]]]]) -> Measure:
    """Count insertions, deletions and replacements to the closest reference, and that reference's units."""
    distance = _edit_distance()

    def row(hypothesis: Sequence[Hashable], references: Sequence[Sequence[Hashable]]) -> tuple[int, int]:
        # Of references that are equally close, the longest forgives most: min by the negative length.
        edits, length = min((distance(hypothesis, reference), -len(reference)) for reference in references)
        return edits, -length

    table = np.array([row(hypothesis, references) for hypothesis, references in pairs], dtype=np.float64)
    return Measure(table, percentage, f"edit distance / reference {units}, rapidfuzz {version('rapidfuzz')}")


def _edit_distance() -> Callable[[Sequence[Hashable], Sequence[Hashable]], int]:
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError as error:
        raise MissingExtraError("Computing metrics", "metrics") from error
    return Levenshtein.distance


@dataclass(frozen=True)
class Edit:
    """One symbol that differs: written in the place of a wanted one, wanted and not written (None), or not wanted (None)."""

    wanted: str | None
    written: str | None


def edits_between(reference: Sequence[str], hypothesis: Sequence[str]) -> list[Edit]:
    """The fewest edits that make a reference the hypothesis. Where several ways are as short, rapidfuzz chooses one."""
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError as error:
        raise MissingExtraError("Computing metrics", "metrics") from error
    return [
        Edit(
            None if one.tag == "insert" else reference[one.src_pos],
            None if one.tag == "delete" else hypothesis[one.dest_pos],
        )
        for one in Levenshtein.editops(reference, hypothesis)
    ]


def longest_common_subsequence() -> Callable[[Sequence[Hashable], Sequence[Hashable]], int]:
    """The function that counts what two sequences have in common in the same order, with gaps."""
    try:
        from rapidfuzz.distance import LCSseq
    except ImportError as error:
        raise MissingExtraError("Computing metrics", "metrics") from error
    return LCSseq.similarity
