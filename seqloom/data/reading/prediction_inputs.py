"""What is to be predicted from: one example for each line or record, empty ones too, so that outputs can be laid beside inputs.

Everything streams, and a line from a pipe is there as soon as it is written.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from seqloom.data.examples import STDIN, Example, Origin, ReadingProblem, is_empty
from seqloom.data.kinds import kind_of
from seqloom.data.reading.checking import checked
from seqloom.data.reading.dictionaries import dictionary_rows
from seqloom.data.reading.endings import Format, ending_format
from seqloom.data.reading.lines import ByteStream, Line, lines_of, read_lines
from seqloom.data.reading.stories import story_rows
from seqloom.data.reading.structured import jsonl_sources, parquet_sources
from seqloom.data.reading.tables import FIRST_TWO, ONE_TEXT, ColumnPlaces, Row, csv_rows, has_header, tsv_rows
from seqloom.errors import DataError, UsageError
from seqloom.recipe.sections import Columns, Form, Source, form_of


def read_sources(
    place: str | Path | ByteStream,
    columns: Columns | None = None,
    *,
    format: Format = "auto",
    usual: Columns = FIRST_TWO,
    sources: Mapping[str, Source] = ONE_TEXT,
) -> Iterator[Example]:
    """Read sources from a file or an open binary stream. A target is kept if it is given, features too.

    The ending tells CSV, JSON lines and Parquet. Anything else is text, unless `columns` are named or the first line has a tab:
    a whole line is the source, else lines are tab-separated. Several sources do not go on a line: then a stream holds JSON
    lines, and a file with any other ending is tab-separated. usual: the columns to look in if none are named, in all formats
    but text. sources: what they are, by name. format: `text` takes lines as they are, tabs and all.
    """
    file = str(place) if isinstance(place, str | Path) else STDIN
    kind = _kind(file, columns, sources) if format == "auto" else format
    form = form_of(columns or usual, sources)
    if kind == "text" and columns is not None:
        raise UsageError(f"{file}: plain text has no columns, its lines are the sources. Leave the columns out, or use tsv")
    return checked(_read(place, file, kind, form), sources, _refuse, blank=True)


def _read(place: str | Path | ByteStream, file: str, kind: Format, form: Form) -> Iterator[Example]:
    if kind == "parquet":
        return parquet_sources(_path(place), form, _refuse)
    lines = read_lines(file, _refuse) if isinstance(place, str | Path) else lines_of(place, file, _refuse)
    match kind:
        case "text":
            return _plain_sources(file, lines, form)
        case "jsonl":
            return jsonl_sources(file, lines, form, _refuse)
        case "auto":
            return _lines_or_table(file, lines, form)
        case "csv":
            return _table_sources(file, csv_rows(file, lines, _refuse), form, "comma-separated")
        case "cmudict" | "cmudict-unstressed":
            rows = dictionary_rows(file, lines, _refuse, stress=kind == "cmudict")
            return _table_sources(file, rows, form, "")
        case "stories":
            return _table_sources(file, story_rows(file, lines, _refuse), form, "")
        case _:
            return _table_sources(file, tsv_rows(lines), form, "tab-separated")


def _refuse(problem: ReadingProblem) -> None:
    raise DataError(str(problem))


def _kind(file: str, columns: Columns | None, sources: Mapping[str, Source]) -> Format:
    """The format of a file or stream; `auto` if its first line has to tell."""
    found = ending_format(file)
    if found in ("csv", "jsonl", "parquet", "cmudict"):
        return found
    if columns is not None:
        return "tsv"
    if len(sources) > 1:
        return "jsonl" if file == STDIN else "tsv"
    # The numbers of a vector may stand between tabs.
    return "text" if any(kind_of(source).takes_lists for source in sources.values()) else "auto"


def _path(place: str | Path | ByteStream) -> str:
    """Parquet begins at its end, and a pipe has none to go to."""
    if isinstance(place, str | Path):
        return str(place)
    raise UsageError("Parquet cannot be read from standard input. Name the file")


def _lines_or_table(file: str, lines: Iterator[Line], form: Form) -> Iterator[Example]:
    """Whole lines, or a table with the columns of training if the first line that is not blank has a tab or is its header."""
    ((name, column),) = form.columns.items()
    for number, line in lines:
        if is_empty(line or ""):
            yield Example({name: line or ""}, None, Origin(file, number))
            continue
        rest = chain([(number, line)], lines)
        is_table = "\t" in (line or "") or (line or "").strip() == column
        yield from _table_sources(file, tsv_rows(rest), form, "tab-separated") if is_table else _plain_sources(file, rest, form)


def _plain_sources(file: str, lines: Iterator[Line], form: Form) -> Iterator[Example]:
    if len(form.sources) > 1:
        raise UsageError(
            f"{file}: a line of plain text is one source, and this model reads {' and '.join(form.sources)}. "
            "Use a table, or JSON lines with these keys"
        )
    (name,) = form.sources
    return (Example({name: line or ""}, None, Origin(file, number)) for number, line in lines)


def _table_sources(file: str, rows: Iterator[Row], form: Form, separated: str) -> Iterator[Example]:
    places = _places(file, rows, form)
    last = max(places.sources.values())
    for number, cells in rows:
        origin = Origin(file, number)
        if last < len(cells):
            sources = places.sources_in(cells)
        elif is_empty("".join(cells)):
            sources = dict.fromkeys(places.sources, "")
        else:
            expected = f"expected at least {last + 1} {separated} columns, found {len(cells)}"
            name = next(name for name, place in places.sources.items() if place == last)
            raise DataError(f"{origin}: {expected}. Put the {name} into column {last + 1}, or name its column.")
        target = cells[places.target] if places.target < len(cells) else ""
        yield Example(sources, None if is_empty(target) else target, origin, 1.0, places.features_in(cells))


def _places(file: str, rows: Iterator[Row], form: Form) -> ColumnPlaces:
    """Find the columns; a header need not have those that prediction can do without."""
    if not has_header(form):
        return ColumnPlaces.numbered(replace(form, weight=None))
    for number, header in rows:
        absent = len(header) + 1
        wanted = replace(
            form,
            target=form.target if form.target in header or isinstance(form.target, int) else absent,
            weight=None,
            features=tuple(name for name in form.features if isinstance(name, int) or name in header),
            preceding=tuple(name for name in form.preceding if isinstance(name, int) or name in header),
        )
        try:
            return ColumnPlaces.named(wanted, header)
        except ValueError as missing:
            found = ", ".join(map(repr, header[:20]))
            raise DataError(
                f"{Origin(file, number)}: expected a header line with one column named {missing}, found {found}. "
                "Add the header, or number the columns from 1."
            ) from None
    return ColumnPlaces({name: number for number, name in enumerate(form.sources)}, len(form.sources), None, (), (), form)
