"""Tables of texts, questions about them and answers in free words."""

from collections.abc import Sequence
from statistics import fmean

from seqloom.suggest.recognition.columns import Column
from seqloom.suggest.recognition.naming import ANSWER_SOURCES, ColumnChoice

_MARKS = ("?", "？", "؟", "\u037e")  # the last is the Greek question mark, U+037E
_ASKED = 0.8
"""Of the cells of a column of questions, so many end in a question mark."""
_LONGER = 2.0
"""Texts are so many times as long as the answers that are looked for in them."""


def by_questions(columns: Sequence[Column]) -> ColumnChoice | None:
    """Three columns of text, one of which asks, and one of which is far longer than the other; None for any other table."""
    texts = [column for column in columns if column.holds == "text"]
    asked = [column for column in texts if _asks(column)]
    others = sorted((column for column in texts if column not in asked), key=_length, reverse=True)
    if len(asked) != 1 or len(others) != 2:
        return None
    text, answer = others
    if answer.classes or _length(text) < _LONGER * _length(answer):
        return None
    sources = dict(zip(ANSWER_SOURCES, (asked[0], text), strict=True))
    return ColumnChoice(sources, answer, "one column asks, and one is long enough to hold the answers")


def _asks(column: Column) -> bool:
    return sum(value.strip().endswith(_MARKS) for value in column.values) >= _ASKED * len(column.values) > 0


def _length(column: Column) -> float:
    return fmean(map(len, column.values))
