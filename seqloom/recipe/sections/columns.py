"""Which columns of a table hold what, and what an example consists of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from seqloom.recipe.sections.base import Section
from seqloom.recipe.sections.sources import AnySource, ColumnName

SOURCE, TARGET = "source", "target"
"""The name of a source if there is one and nobody gave it another; and what is written."""

NOT_NAMES = frozenset({TARGET, "weight", "features", "preceding", "kind"})


class Columns(Section):
    """Which columns of a table hold what."""

    source: ColumnName | None = 1
    """The one source that has no other name; sources with names of their own say it in `sources`."""
    target: ColumnName = 2
    weight: ColumnName | None = None
    features: tuple[ColumnName, ...] = ()
    separator: Annotated[str, Field(min_length=1, max_length=3)] | None = None
    """What stands between the features of one cell; `None`: a cell is one feature."""
    preceding: tuple[ColumnName, ...] = ()
    """Texts that precede the source, the oldest first: earlier turns of a conversation, the question about a text."""


PARTS = tuple(name for name in Columns.model_fields if name != "separator")
"""What columns can hold."""


MARK = " \u2016 "
"""What stands after each preceding text: a mark that texts do not use, one symbol in every vocabulary."""


@dataclass(frozen=True)
class Form:
    """What an example consists of: its sources by name, and the columns of all its parts."""

    sources: Mapping[str, AnySource]
    columns: Mapping[str, ColumnName]
    """Of the sources, by name."""
    target: ColumnName
    weight: ColumnName | None
    features: tuple[ColumnName, ...]
    separator: str | None = None
    preceding: tuple[ColumnName, ...] = ()
    empty_targets: bool = False
    """Whether a target may be empty: one that a model wrote may, one to learn from may not."""

    def features_of(self, cell: str) -> list[str]:
        """The features that a cell holds: one, several between separators, or none."""
        pieces = [cell] if self.separator is None else [piece.strip() for piece in cell.split(self.separator)]
        return [piece for piece in pieces if piece and not piece.isspace()]

    @property
    def all_columns(self) -> list[ColumnName]:
        """Every column that is read."""
        weight = () if self.weight is None else (self.weight,)
        return [*self.columns.values(), self.target, *weight, *self.features, *self.preceding]

    def preceded(self, sources: dict[str, str], preceding: Iterable[str]) -> dict[str, str]:
        """The sources with what is there of the preceding texts before the first text, a mark after each."""
        first = next((name for name, source in self.sources.items() if source.has_vocabulary), None)
        said = [text for text in preceding if text and not text.isspace()]
        if first is None or not said or not sources[first].strip():
            return sources
        return {**sources, first: MARK.join([*said, sources[first]])}


def form_of(columns: Columns, sources: Mapping[str, AnySource], *, empty_targets: bool = False) -> Form:
    """Put together what is read: sources without a column stand in the first ones."""
    own = {SOURCE: columns.source} if is_lone(sources) else {name: source.column for name, source in sources.items()}
    places = {name: number if column is None else column for number, (name, column) in enumerate(own.items(), start=1)}
    rest = columns.weight, columns.features, columns.separator, columns.preceding
    return Form(sources, places, columns.target, *rest, empty_targets)


def is_lone(sources: Mapping[str, object]) -> bool:
    """Whether there is one source and nobody gave it a name, so that `columns.source` is about it."""
    return list(sources) == [SOURCE]
