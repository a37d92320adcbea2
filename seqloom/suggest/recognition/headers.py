"""Whether the first line of a table is its header: by the usual names, or because it does not resemble what stands below."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain

from seqloom.data.reading.headings import looks_like_a_name, role_of
from seqloom.suggest.recognition.columns import Column, ending_of, file_endings, look_at_column
from seqloom.suggest.recognition.rows import TableSample

_ENOUGH_BELOW = 5
"""So many lines must stand below for a difference to mean anything."""


def header_of(sampled: TableSample) -> tuple[str, ...] | None:
    """The first line if it names the columns."""
    if not sampled.rows:
        return None
    first, below = sampled.rows[0].cells, TableSample(sampled.rows[1:], sampled.count - 1)
    cells = [cell.strip() for cell in first]
    if len(cells) < 2 or len(set(cells)) < len(cells) or not all(cells[1:]):
        return None
    values = [below.column(place) for place in range(len(cells))]
    if any(cell in values[place] for place, cell in enumerate(cells)):
        return None
    known = [role_of(cell) is not None for cell in cells]
    names = all(known) and not _may_be_words(cells, values)
    return tuple(first) if names or _differs(cells, values, known) else None


def _may_be_words(cells: Sequence[str], values: Sequence[list[str]]) -> bool:
    """Whether codes of languages may as well be a pair of a word list: `it` and `es` are English and German, too."""
    codes = all(role_of(cell) == "language" and len(cell) <= 3 for cell in cells)
    return codes and all(len(value.split()) < 2 for texts in values for value in texts[:20])


def _differs(cells: Sequence[str], values: Sequence[list[str]], known: Sequence[bool]) -> bool:
    """Whether the first line is unlike the lines below in what its cells are."""
    if min(map(len, values)) < _ENOUGH_BELOW or not all(map(looks_like_a_name, filter(None, cells))):
        return False
    columns = [look_at_column(place, None, texts, of=len(cells)) for place, texts in enumerate(values)]
    plainly = [_is_another_kind(cell, column) for cell, column in zip(cells, columns, strict=True)]
    perhaps = [_is_written_otherwise(cell, texts) for cell, texts in zip(cells, values, strict=True)]
    return any(plainly) or (any(perhaps) and (any(known) or sum(perhaps) > 1))


def _is_another_kind(cell: str, below: Column) -> bool:
    """A word above numbers or names of files, one that is none of the classes, or one word above spelled-out symbols."""
    if below.is_file:
        return ending_of(cell) not in file_endings()[below.holds]
    if below.holds not in ("text", "nothing") or below.classes:
        return True  # it looks like a name, and is not among the values
    return " " not in cell and _are_spelled_out(below.values) and cell not in _pieces(below.values)


def _are_spelled_out(values: Sequence[str]) -> bool:
    """Whether values are short pieces between spaces, out of a small stock: phonemes, letters."""
    pieces, stock = sum(len(value.split()) for value in values), _pieces(values)
    return pieces > 2 * len(values) and len(stock) <= 300 and max(map(len, stock)) <= 8 and pieces >= 2 * len(stock)


def _pieces(values: Sequence[str]) -> set[str]:
    return set(chain.from_iterable(value.split() for value in values))


def _is_written_otherwise(cell: str, values: Sequence[str]) -> bool:
    """Whether a heading is in another script than its column, or a word above sentences only."""
    if not _scripts(cell) & set(chain.from_iterable(map(_scripts, values[:200]))):
        return True
    if _are_spelled_out(values):  # then a single sound may well be a whole word
        return False
    return len(cell.split()) <= 2 and sum(len(value.split()) <= 2 for value in values) <= 0.01 * len(values)


def _scripts(text: str) -> set[str]:
    """The scripts of the letters of a text, by the first words of their Unicode names."""
    return {unicodedata.name(letter, "?").split()[0] for letter in set(re.sub(r"[\W\d_]", "", text))}
