"""Tables of text: tab-separated and comma-separated values, and which column holds what."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Self

from seqloom.data.examples import (
    Blanks,
    Example,
    Origin,
    ReadingProblem,
    Report,
    abbreviated,
    bad_weight,
    empty_side,
    is_empty,
    weight_of,
)
from seqloom.data.reading.lines import Line, read_lines
from seqloom.recipe.sections import SOURCE, AnySource, Columns, Form, TextSource

FIRST_TWO = Columns()
"""The source in the first column, the target in the second."""
ONE_TEXT: Mapping[str, AnySource] = {SOURCE: TextSource()}
"""What sources are unless a recipe says otherwise."""

Row = tuple[int, list[str]]
"""The line on which a record begins, and its cells."""


def read_tsv(file: str, form: Form, report: Report) -> Iterator[Example]:
    """Read tab-separated values."""
    return read_table(file, tsv_rows(read_lines(file, report)), form, report)


def read_csv(file: str, form: Form, report: Report) -> Iterator[Example]:
    """Read comma-separated values."""
    return read_table(file, csv_rows(file, read_lines(file, report), report), form, report)


@dataclass(frozen=True, slots=True)
class ColumnPlaces:
    """Where in a row the parts of an example stand, counted from 0. sources: by name."""

    sources: Mapping[str, int]
    target: int
    weight: int | None
    features: tuple[int, ...]
    preceding: tuple[int, ...]
    form: Form

    @classmethod
    def numbered(cls, form: Form) -> Self:
        """Take columns that are all given by number."""
        return cls.named(form, [])

    @classmethod
    def named(cls, form: Form, header: list[str]) -> Self:
        """Find columns in a header line; numbers stay numbers. Raises ValueError with the names that are not there."""
        missing = [column for column in form.all_columns if isinstance(column, str) and header.count(column) != 1]
        if missing:
            raise ValueError(" and ".join(map(repr, missing)))

        def place(column: int | str) -> int:
            return column - 1 if isinstance(column, int) else header.index(column)

        weight = None if form.weight is None else place(form.weight)
        sources = {name: place(column) for name, column in form.columns.items()}
        return cls(
            sources, place(form.target), weight, tuple(map(place, form.features)), tuple(map(place, form.preceding)), form
        )

    @property
    def least(self) -> int:
        """How many columns a row must have."""
        return 1 + max(*self.sources.values(), self.target, self.weight or 0, *self.features, *self.preceding)

    def sources_in(self, cells: list[str]) -> dict[str, str]:
        """Take the sources by name, the first text with what precedes it."""
        sources = {name: cells[place] for name, place in self.sources.items()}
        return self.form.preceded(sources, [cells[place] for place in self.preceding if place < len(cells)])

    def features_in(self, cells: list[str]) -> tuple[str, ...]:
        """Take the features that are present: a cell that is empty, or not there, means none."""
        found = [self.form.features_of(cells[place]) for place in self.features if place < len(cells)]
        return tuple(chain.from_iterable(found))


def has_header(form: Form) -> bool:
    """Whether the first line of a table is a header: it is if any column is called by name."""
    return any(isinstance(column, str) for column in form.all_columns)


def tsv_rows(lines: Iterator[Line]) -> Iterator[Row]:
    """Split at tabs and nothing else: no quoting, no escapes."""
    for number, line in lines:
        if line is not None:
            yield number, line.split("\t")


def csv_rows(file: str, lines: Iterator[Line], report: Report) -> Iterator[Row]:
    """Split as the csv module does; a quoted cell may hold commas and line ends."""
    last = 0

    def text() -> Iterator[str]:
        nonlocal last
        for number, line in lines:
            last = number
            if line is not None:
                yield f"{line}\n"

    rows = csv.reader(text(), strict=True)
    while True:
        first = last + 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            advice = "Check the quotes from here on: each must be closed, and one inside a cell is written twice."
            report(ReadingProblem("malformed-record", Origin(file, first), f"expected a CSV record, but {error}. {advice}"))
        else:
            yield first, cells


def read_table(file: str, rows: Iterator[Row], form: Form, report: Report) -> Iterator[Example]:
    """Turn rows into examples. All rows must have as many columns as the first: a stray tab would cut a text in two."""
    places, width = _opening(file, rows, form, report)
    if places is None:
        return
    (name, source_place), *others = places.sources.items()
    plain = places.weight is None and not (places.features or places.preceding or others)
    target_place, least = places.target, places.least
    blanks = Blanks(file, report)
    for number, cells in rows:
        if len(cells) != width or width < 2:
            if len(cells) < 2 and is_empty("".join(cells)):
                blanks.skip(number)
                continue
            if width == 0 and len(cells) >= least:
                width = len(cells)
            elif len(cells) != width:
                blanks.report_skipped()
                report(_wrong_columns(cells, width, least, Origin(file, number)))
                continue
        if blanks.run:
            blanks.report_skipped()
        source, target = cells[source_place], cells[target_place]
        origin = Origin(file, number)
        if not source or source.isspace() or ((not target or target.isspace()) and not form.empty_targets):
            report(empty_side(name if is_empty(source) else "target", origin))
        elif plain:  # millions of pairs come this way
            yield Example({name: source}, target, origin)
        elif example := _full_example(cells, places, origin, report):
            yield example


def _opening(file: str, rows: Iterator[Row], form: Form, report: Report) -> tuple[ColumnPlaces | None, int]:
    """Find the columns, from the header if there is one, and how many a row must have (0: as many as the first)."""
    if not has_header(form):
        return ColumnPlaces.numbered(form), 0
    for number, header in rows:
        try:
            places = ColumnPlaces.named(form, header)
        except ValueError as missing:
            report(_missing_column(str(missing), header, Origin(file, number)))
            return None, 0
        if places.least > len(header):
            report(_wrong_columns(header, 0, places.least, Origin(file, number)))
            return None, 0
        return places, len(header)
    return None, 0


def _missing_column(missing: str, header: list[str], origin: Origin) -> ReadingProblem:
    found = ", ".join(abbreviated(name) for name in header[:20])
    expected = f"expected a header line with one column named {missing}, found {found}."
    return ReadingProblem("missing-column", origin, f"{expected} Use these names, or number the columns from 1.")


def _wrong_columns(cells: list[str], width: int, least: int, origin: Origin) -> ReadingProblem:
    expected = f"expected {width} columns, as in the lines before" if width else f"expected at least {least} columns"
    advice = "Correct the line" if width else _other_separator(cells) or "Check the format and which columns are named"
    text = f"{expected}, found {len(cells)}: {abbreviated(' | '.join(cells))}. {advice}."
    return ReadingProblem("wrong-columns", origin, text)


def _other_separator(cells: list[str]) -> str:
    """Say what seems to separate the columns of a line that has only one."""
    line = cells[0] if len(cells) == 1 else ""
    if "\t" in line:
        return "It looks like tabs: let the name of the file end in .tsv"
    if "," in line:
        return "It looks like commas: let the name of the file end in .csv"
    found = next((name for mark, name in ((";", "semicolons"), ("|", "bars"), ("  ", "spaces")) if mark in line), "")
    return f"It looks like {found}: put a tab in their place" if found else ""


def _full_example(cells: list[str], places: ColumnPlaces, origin: Origin, report: Report) -> Example | None:
    """Build an example that has several sources, a weight or features, unless a source is empty or the weight wrong."""
    sources = places.sources_in(cells)
    if missing := next((name for name, text in sources.items() if is_empty(text)), None):
        report(empty_side(missing, origin))
        return None
    weight = 1.0 if places.weight is None else weight_of(cells[places.weight])
    if weight is None:
        report(bad_weight(cells[places.weight or 0], origin))
        return None
    return Example(sources, cells[places.target], origin, weight, places.features_in(cells))
