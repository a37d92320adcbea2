"""What is to be predicted from: one example for each line or record, empty ones too, so that outputs can be laid beside inputs.

Everything streams, and a line from a pipe is there as soon as it is written.
"""

from collections.abc import Iterator
from pathlib import Path

from seqloom.data.formats import Format, ending_format
from seqloom.data.lines import ByteStream, Line, lines_of, read_lines
from seqloom.data.records import Example, Origin, Problem, is_empty
from seqloom.data.structured import jsonl_sources, parquet_sources
from seqloom.data.tables import FIRST_TWO, Layout, Row, csv_rows, has_header, tsv_rows
from seqloom.data.vectors import TEXT, checked
from seqloom.errors import DataError, UsageError
from seqloom.recipe.sections import Columns, Source, VectorSource


def read_sources(
    place: str | Path | ByteStream,
    columns: Columns | None = None,
    *,
    format: Format = "auto",  # noqa: A002
    usual: Columns = FIRST_TWO,
    source: Source = TEXT,
) -> Iterator[Example]:
    """Read sources from a file or an open binary stream. A target is kept if it is given, features too.

    The ending tells CSV, JSON lines and Parquet; anything else is text: a whole line is the source, or with `columns` lines
    are tab-separated. usual: the columns to look in if none are named, in all formats but text. source: what sources are.
    """
    found = _read(place, columns, format, usual, numbers=isinstance(source, VectorSource))
    return checked(found, source, _refuse, blank=True)


def _read(
    place: str | Path | ByteStream,
    columns: Columns | None,
    format: Format,  # noqa: A002
    usual: Columns,
    *,
    numbers: bool,
) -> Iterator[Example]:
    file = str(place) if isinstance(place, str | Path) else "<stdin>"
    kind = _kind(file, columns) if format == "auto" else format
    if kind == "parquet":
        return parquet_sources(_path(place), columns or usual, _refuse, numbers=numbers)
    lines = read_lines(file, _refuse) if isinstance(place, str | Path) else lines_of(place, file, _refuse)
    match kind:
        case "text":
            return _plain_sources(file, lines, columns)
        case "jsonl":
            return jsonl_sources(file, lines, columns or usual, _refuse, numbers=numbers)
        case "csv":
            return _table_sources(file, csv_rows(file, lines, _refuse), columns or usual, "comma-separated")
        case _:
            return _table_sources(file, tsv_rows(lines), columns or usual, "tab-separated")


def _refuse(problem: Problem) -> None:
    raise DataError(str(problem))


def _kind(file: str, columns: Columns | None) -> Format:
    found = ending_format(file)
    if found in ("csv", "jsonl", "parquet"):
        return found
    return "text" if columns is None else "tsv"


def _path(place: str | Path | ByteStream) -> str:
    """Parquet begins at its end, and a pipe has none to go to."""
    if isinstance(place, str | Path):
        return str(place)
    raise UsageError("Parquet cannot be read from standard input. Name the file")


def _plain_sources(file: str, lines: Iterator[Line], columns: Columns | None) -> Iterator[Example]:
    if columns is not None:
        raise UsageError(f"{file}: plain text has no columns, its lines are the sources. Leave the columns out, or use tsv")
    return (Example({"source": line or ""}, None, Origin(file, number)) for number, line in lines)


def _table_sources(file: str, rows: Iterator[Row], columns: Columns, separated: str) -> Iterator[Example]:
    layout = _layout(file, rows, columns)
    for number, cells in rows:
        origin = Origin(file, number)
        if layout.source < len(cells):
            source = cells[layout.source]
        elif is_empty("".join(cells)):
            source = ""
        else:
            expected = f"expected at least {layout.source + 1} {separated} columns, found {len(cells)}"
            raise DataError(f"{origin}: {expected}. Put the source into column {layout.source + 1}, or name its column.")
        target = cells[layout.target] if layout.target < len(cells) else ""
        yield Example({"source": source}, None if is_empty(target) else target, origin, 1.0, layout.features_in(cells))


def _layout(file: str, rows: Iterator[Row], columns: Columns) -> Layout:
    """Find the columns; a header need not have those that prediction can do without."""
    if not has_header(columns):
        return Layout.numbered(columns.model_copy(update={"weight": None}))
    for number, header in rows:
        absent = len(header) + 1
        wanted = Columns(
            source=columns.source,
            target=columns.target if columns.target in header or isinstance(columns.target, int) else absent,
            features=tuple(name for name in columns.features if isinstance(name, int) or name in header),
        )
        try:
            return Layout.named(wanted, header)
        except ValueError as missing:
            found = ", ".join(map(repr, header[:20]))
            raise DataError(
                f"{Origin(file, number)}: expected a header line with one column named {missing}, found {found}. "
                "Add the header, or number the columns from 1."
            ) from None
    return Layout.numbered(FIRST_TWO)
