"""What a column holds, from a look at its values: text, classes, numbers, ids, or the names of files."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from seqloom.data.examples import abbreviated
from seqloom.data.kinds import file_kinds
from seqloom.data.kinds.files import FileKind


def file_endings() -> dict[str, frozenset[str]]:
    """How files end that a column may name, by the word for what they are."""
    return {word: kind.endings for word, kind in file_kinds().items()}


_ENOUGH = 0.8
"""From this share of names on, a column holds files. The others are mistakes to be told of, not another kind of data."""
_FEW = 5
"""Fewer values say nothing about how they follow each other."""
_CLASS_REPEATS, _MOST_CLASSES, _CLASS_WORDS = 10, 500, 3.5
"""Classes are short, at most so many, and occur so often each, on average."""
_RARE, _RARE_SHARE = 3, 0.05
"""Nearly all rows are of classes that occur so often at least."""
_MOMENT = re.compile(r"9([-/.:,]9)+")
"""Dates, times and amounts look alike from line to line, and yet are no ids."""


@dataclass(frozen=True)
class Column:
    """What one column holds. place: from 0. heading: its name, if the table says one. classes: whether few values repeat.

    holds: text, numbers, ids, one value or nothing; or what the files are that it names, such as image.
    """

    place: int
    heading: str | None
    holds: str
    values: Sequence[str]
    distinct: int
    classes: bool

    @property
    def is_file(self) -> bool:
        """Whether it names files."""
        return self.holds in file_endings()

    @property
    def read_as(self) -> "type[FileKind[Any]] | None":
        """The kind of source that reads the files that it names; None if there is none."""
        return file_kinds().get(self.holds)

    @property
    def is_content(self) -> bool:
        """Whether it is something that a model could read or write."""
        return self.holds == "text" or self.is_file

    @property
    def name(self) -> int | str:
        """What to call it in `--columns`."""
        return self.place + 1 if self.heading is None else self.heading

    def described(self) -> str:
        """What it holds, for a person."""
        what = f"{self.distinct} classes" if self.classes and self.holds == "text" else self.holds
        what = f"{what} files" if self.is_file else what
        shown = ", ".join(abbreviated(value, 40) for value in list(dict.fromkeys(self.values))[:2])
        return f"{what}: {shown}{', ...' if self.distinct > 2 else ''}" if self.values else what


def look_at_column(place: int, heading: str | None, values: Sequence[str], *, of: int) -> Column:
    """Look at the values of a column that are not empty. of: how many columns the table has."""
    counts = Counter(values)
    holds = _holds(values, counts, alone=of <= 2, first=place == 0)
    return Column(place, heading, holds, values, len(counts), are_classes(values))


def ending_of(value: str) -> str:
    """How the name of a file ends; for other text, something that no file ends with."""
    return value.strip()[value.strip().rfind(".") :].lower()


def are_classes(values: Sequence[str]) -> bool:
    """Whether few short values occur again and again."""
    counts = Counter(values)
    if len(counts) < 2 or len(counts) > min(_MOST_CLASSES, len(values) / _CLASS_REPEATS):
        return False
    words = sum(len(value.split()) * count for value, count in counts.items()) / len(values)
    rare = sum(count for count in counts.values() if count < _RARE)
    return words <= _CLASS_WORDS and rare <= _RARE_SHARE * len(values)


def _holds(values: Sequence[str], counts: Counter[str], *, alone: bool, first: bool) -> str:
    if not values:
        return "nothing"
    endings = Counter(map(ending_of, values))
    for kind, known in file_endings().items():
        if sum(endings[ending] for ending in known) >= _ENOUGH * len(values):
            return kind
    if _ascend(values):
        return "ids"
    if alone:  # both of two columns are needed, whatever they look like
        return "text"
    if len(counts) == 1 and len(values) >= _FEW:
        return "one value"
    if all(map(_is_number, counts)):
        return "numbers"
    return "ids" if _are_codes(values, counts, first=first) else "text"


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value


def _ascend(values: Sequence[str]) -> bool:
    """Whether values are whole numbers, each larger than the one before: they number the rows."""
    if len(values) < _FEW or not all(value.strip().isdecimal() for value in values):
        return False
    return all(int(one) < int(other) for one, other in pairwise(values))


def _are_codes(values: Sequence[str], counts: Counter[str], *, first: bool) -> bool:
    """Hashes, or in the first column codes of one shape such as `q-0012`."""
    if len(values) < _FEW or any(" " in value for value in values):
        return False
    if all(re.fullmatch(r"[0-9a-fA-F-]{12,}", value) for value in counts):
        return True
    shapes = {re.sub(r"[0-9]+", "9", value) for value in counts}
    return first and len(shapes) == 1 and len(counts) > 1 and "9" in (shape := shapes.pop()) and not _MOMENT.fullmatch(shape)
