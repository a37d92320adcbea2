"""Tables of words, tags and forms: `hablar`, `V;IND;PRS;1;SG`, `hablo`."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from seqloom.data.reading.headings import tidied
from seqloom.suggest.recognition.columns import Column
from seqloom.suggest.recognition.naming import ColumnChoice, source_names

_SEPARATORS = (";", ",", "|")
_REPEATS = 4
"""A tag occurs so often at least, on average."""
_TAGGED = 0.6
"""So many of the cells hold several tags."""
_WORDS = 3.0
"""Forms have fewer words than that, on average: `will have gone`."""
_SHOWN = 2_000


def separator_of(values: Sequence[str]) -> str | None:
    """What stands between the tags of a column; None if it does not hold tags: a few short pieces, again and again."""
    cells = values[:_SHOWN]
    for separator in _SEPARATORS:
        pieces = Counter(piece for cell in cells for piece in cell.split(separator))
        several = sum(separator in cell for cell in cells)
        spaced = any(" " in piece.strip() or not piece.strip() for piece in pieces)
        if several >= _TAGGED * len(cells) > 0 and not spaced and pieces.total() >= _REPEATS * len(pieces):
            return separator
    return None


def by_tags(columns: Sequence[Column]) -> ColumnChoice | None:
    """The columns of a table in which tags stand beside words and their forms; None for any other table."""
    texts = [column for column in columns if column.holds == "text"]
    tags = [column for column in texts if separator_of(column.values) is not None]
    others = [column for column in texts if column not in tags]
    if len(tags) != 1 or len(others) != 2 or any(fmean(map(_count_words, one.values)) >= _WORDS for one in others):
        return None
    lemma, form = sorted(others, key=lambda column: (tidied(column.heading or "") != "lemma", column.place))
    return ColumnChoice(source_names([lemma]), form, "words, tags and forms", features=tags)


def _count_words(text: str) -> int:
    return len(text.split())
