"""What the names of columns say about who is the source and who the target."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from re import fullmatch

from seqloom.data.reading.headings import base_of, role_of, target_rank, tidied
from seqloom.recipe.sections import SOURCE
from seqloom.recipe.sections.columns import NOT_NAMES
from seqloom.suggest.recognition.columns import Column


@dataclass(frozen=True)
class ColumnChoice:
    """The columns that were chosen, and why; no reason where there was no choice."""

    sources: Mapping[str, Column]
    target: Column
    why: str
    weight: Column | None = None
    features: Sequence[Column] = field(default_factory=tuple)
    preceding: Sequence[Column] = field(default_factory=tuple)


def by_names(columns: Sequence[Column]) -> ColumnChoice | None:
    """The columns that their names tell; None if they leave it open."""
    roles = {column.place: role_of(column.heading or "") for column in columns}
    useful = [column for column in columns if roles[column.place] != "aside" and column.holds != "nothing"]
    targets = [column for column in useful if roles[column.place] == "target" and not column.is_file]
    target = min(targets, key=lambda column: target_rank(column.heading or ""), default=None) or _left_for_target(useful, roles)
    if target is None:
        return None
    sources = _sources([column for column in useful if column is not target], roles)
    if not sources:
        return None
    asked = [column for column in sources if tidied(column.heading or "") in _QUESTIONS]
    told = [column for column in sources if column not in asked and column.holds == "text"]
    if len(asked) == len(told) == 1 and len(sources) == 2 and not target.classes:
        named = dict(zip(ANSWER_SOURCES, (*asked, *told), strict=True))
        return ColumnChoice(named, target, "a question about a text, by the names")
    return ColumnChoice(source_names(sources), target, "by the names of the columns")


ANSWER_SOURCES = ("question", "text")
"""What is asked, and what it is asked about, where answers are in free words."""
_QUESTIONS = frozenset({"question", "query", "frage", "pregunta", "pergunta", "domanda"})


def _left_for_target(useful: Sequence[Column], roles: Mapping[int, str | None]) -> Column | None:
    """The target where no name says it: what is beside the files or the source, or the second of two."""
    read = [column for column in useful if column.is_file or roles[column.place] == "source"]
    free = [column for column in useful if column not in read and column.holds in ("text", "numbers")]
    words = [column for column in free if roles[column.place] == "either"]
    languages = [column for column in free if roles[column.place] == "language"]
    if read:
        for several in (free, words, languages):
            if len(several) == 1:
                return several[0]
        return None
    for several in (free, languages):
        if len(several) == 2:
            return several[1]
    return None


def _sources(others: Sequence[Column], roles: Mapping[int, str | None]) -> list[Column]:
    """What is read: all that is called a source, or the one column that can be it, or several of one name; else none."""
    called = [column for column in others if roles[column.place] == "source"]
    # Numbers can be read as well, if nothing else is called so.
    read = [column for column in called if column.holds not in ("ids", "numbers")] or called
    read += [column for column in others if column.is_file and column not in read]
    if read:
        return sorted(read, key=lambda column: (not column.is_file, column.place))
    words = [column for column in others if roles[column.place] == "either" and column.is_content]
    bases = Counter(base_of(column.heading or "") for column in words)
    numbered = [column for column in words if bases[base_of(column.heading or "")] == len(words)]
    languages = [column for column in others if roles[column.place] == "language"]
    unknown = [column for column in others if roles[column.place] is None and column.is_content]
    for several in (words, languages, unknown):
        if len(several) == 1:
            return several
    return numbered


def source_names(columns: Sequence[Column]) -> dict[str, Column]:
    """What the sources are called: `source` if there is one text, `image` if there is one image, else as their headings."""
    if len(columns) == 1:
        return {columns[0].read_as.usual_name if columns[0].read_as else SOURCE: columns[0]}
    named: dict[str, Column] = {}
    kinds = Counter(column.read_as for column in columns)
    for number, column in enumerate(columns, start=1):
        kind = column.read_as
        name = kind.usual_name if kind and kinds[kind] == 1 else tidied(column.heading or "")
        if not fullmatch(r"[a-z][a-z0-9_]{0,39}", name) or name in NOT_NAMES or name in named:
            name = f"text_{number}"
        named[name] = column
    return named
