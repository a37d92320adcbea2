"""A table as it stands in its files: rows from all over them, read once, before anybody has said what its columns are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from seqloom.data.examples import Origin, Report, is_empty
from seqloom.data.reading.dictionaries import dictionary_rows
from seqloom.data.reading.endings import Format, format_of
from seqloom.data.reading.formats import paths_of
from seqloom.data.reading.lines import read_lines, require_file
from seqloom.data.reading.stories import story_rows
from seqloom.data.reading.structured import json_records, parquet_records
from seqloom.data.reading.tables import csv_rows, tsv_rows
from seqloom.recipe.sections import Aligned, Files

_LOOK = 20_000
"""So many rows from all over the data tell what it is like."""

_BEGINNING = 200
"""So many rows tell what only shows in rows that follow one another."""

_Item = TypeVar("_Item")


class Row(NamedTuple):
    """The cells of a line or record, and where it stands."""

    origin: Origin
    cells: Sequence[str]


@dataclass(frozen=True)
class TableSample:
    """Some rows of a table, the first among them, in their order; and how many there are in all.

    names: the keys of records, which say what each cell is; None for lines, of which the first may say it. keyed: columns have
    no order, so that numbers mean nothing, as in JSON lines. beginning: the first rows of a table of lines, none left out.
    """

    rows: Sequence[Row]
    count: int
    names: tuple[str, ...] | None = None
    keyed: bool = False
    beginning: Sequence[Row] = ()

    def below(self, header: Sequence[str]) -> "TableSample":
        """The rows without the header line, which every file has, and with the names that it gives."""
        left = [row for row in self.rows if list(row.cells) != list(header)]
        return TableSample(left, self.count - (len(self.rows) - len(left)), tuple(header))

    @property
    def width(self) -> int:
        """How many columns there are: as many as one row in a hundred has. A stray tab makes no column."""
        widths = sorted((len(cells) for _, cells in self.rows), reverse=True)
        return widths[len(widths) // 100] if widths else 0

    def column(self, place: int) -> list[str]:
        """What stands in a column, counted from 0, where anything does."""
        return [cells[place] for _, cells in self.rows if place < len(cells) and not is_empty(cells[place])]


def sample(files: Files, report: Report, format: Format = "auto") -> TableSample | None:
    """Read all files once and keep some rows. None for pipes, which cannot be read again. format: if a person said it."""
    names = _names(files)
    for name in names:
        require_file(name)
    if not all(Path(name).is_file() for name in names):
        return None
    if isinstance(files, Aligned):
        return TableSample(*spread_over(_aligned_rows(files, report)))
    kinds = {name: format_of(name, format) for name in names}
    if not {"jsonl", "parquet"} & {*kinds.values()}:
        lines = chain.from_iterable(_table_rows(*one, report) for one in kinds.items())
        beginning = tuple(islice(lines, _BEGINNING))
        return TableSample(*spread_over(chain(beginning, lines)), beginning=beginning)
    records, count = spread_over(chain.from_iterable(_records(*one, report) for one in kinds.items()))
    keys = tuple(dict.fromkeys(key for _, record in records for key in record))
    rows = [Row(origin, [_cell(record.get(key)) for key in keys]) for origin, record in records]
    return TableSample(rows, count, keys, keyed={*kinds.values()} == {"jsonl"})


def spread_over(items: Iterable[_Item]) -> tuple[list[_Item], int]:
    """Some items from all over the data, since files are often sorted; and how many there are."""
    kept: list[_Item] = []
    stride, count = 1, 0
    for count, item in enumerate(items, start=1):
        if (count - 1) % stride == 0:
            kept.append(item)
        if len(kept) == 2 * _LOOK:
            kept, stride = kept[::2], 2 * stride
    return kept, count


def _names(files: Files) -> tuple[str, ...]:
    return (*paths_of(files.source), *paths_of(files.target)) if isinstance(files, Aligned) else paths_of(files)


def _table_rows(file: str, kind: Format, report: Report) -> Iterator[Row]:
    lines = read_lines(file, report)
    match kind:
        case "csv":
            rows = csv_rows(file, lines, report)
        case "cmudict" | "cmudict-unstressed":
            rows = dictionary_rows(file, lines, report, stress=kind == "cmudict")
        case "stories":
            rows = story_rows(file, lines, report)
        case _:
            rows = tsv_rows(lines)
    return (Row(Origin(file, number), cells) for number, cells in rows if not is_empty("".join(cells)))


def _aligned_rows(files: Aligned, report: Report) -> Iterator[Row]:
    for one, other in zip(paths_of(files.source), paths_of(files.target), strict=False):
        for (number, source), (_, target) in zip(read_lines(one, report), read_lines(other, report), strict=False):
            if source is not None and target is not None:
                yield Row(Origin(one, number), (source, target))


def _records(file: str, kind: Format, report: Report) -> Iterator[tuple[Origin, dict[str, object]]]:
    """The records of a file. A table among files of records has its first line for keys, as everywhere."""
    match kind:
        case "jsonl":
            yield from json_records(file, report)
        case "parquet":
            yield from parquet_records(file, report)
        case _:
            rows = _table_rows(file, kind, report)
            header = next(rows, Row(Origin(file, 1), ())).cells
            for origin, cells in rows:
                yield origin, dict(zip(header, cells, strict=False))


def _cell(value: object) -> str:
    """A value as text that shows what it is. What is no text is refused where it is to be read as one."""
    return value if isinstance(value, str) else "" if value is None else str(value)
