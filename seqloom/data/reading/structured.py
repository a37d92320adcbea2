"""Formats whose records have names and types: JSON lines and Parquet."""

import gzip
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

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
from seqloom.data.kinds import kind_of
from seqloom.data.kinds.vector import as_text
from seqloom.data.reading.lines import DAMAGE, LINE_LIMIT, ByteStream, Line, damaged, nul_character, open_bytes, read_lines
from seqloom.errors import MissingExtraError
from seqloom.recipe.sections import Form
from seqloom.system.json_parsing import parse_json
from seqloom.wording import counted

_JSON_NAMES = {type(None): "null", bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}


@dataclass(frozen=True, slots=True)
class RecordKeys:
    """Under which keys a record holds the parts of an example. sources: by name; numbers: what may be a list of them.

    form: what was asked for, which says how features are told apart, and whether a target may be empty.
    """

    sources: Mapping[str, str]
    target: str
    weight: str | None
    features: tuple[str, ...]
    preceding: tuple[str, ...]
    numbers: Collection[str]
    form: Form

    @property
    def all(self) -> list[str]:
        """Every name, each once."""
        weight = () if self.weight is None else (self.weight,)
        return list(dict.fromkeys((*self.sources.values(), self.target, *weight, *self.features, *self.preceding)))


_Build = Callable[[Mapping[str, object], RecordKeys, Origin, Report], Example | None]
"""How a record becomes an example: `example_of` or `source_of`."""


class _RefusedError(Exception):
    """A record that is no example; carries the problem out of the functions that look at its parts."""

    def __init__(self, problem: ReadingProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def example_of(record: Mapping[str, object], keys: RecordKeys, origin: Origin, report: Report) -> Example | None:
    """Build an example from named values; a value that does not fit is reported."""
    try:
        record = _with_text(record, keys)
        sources = {name: _side(record, key, name, origin) for name, key in keys.sources.items()}
        target = _side(record, keys.target, "target", origin, may_be_empty=keys.form.empty_targets)
        weight = 1.0 if keys.weight is None else _weight(record, keys.weight, origin)
        features, preceding = _around(record, keys, origin)
    except _RefusedError as refused:
        report(refused.problem)
        return None
    return Example(keys.form.preceded(sources, preceding), target, origin, weight, features)


def source_of(record: Mapping[str, object], keys: RecordKeys, origin: Origin, report: Report) -> Example | None:
    """Build what is to be predicted from: only the sources must be there, and they may be empty or null."""
    try:
        values = {key: _value(_with_text(record, keys), key, origin) for key in keys.sources.values()}
        sources = {name: "" if values[key] is None else _text(values[key], key, origin) for name, key in keys.sources.items()}
        given = record.get(keys.target)
        target = None if given is None or is_empty(text := _text(given, keys.target, origin)) else text
        features, preceding = _around(record, keys, origin)
    except _RefusedError as refused:
        report(refused.problem)
        return None
    return Example(keys.form.preceded(sources, preceding), target, origin, 1.0, features)


def _with_text(record: Mapping[str, object], keys: RecordKeys) -> Mapping[str, object]:
    """The record with its vectors as text, if it has any."""
    if not keys.numbers:
        return record
    texts = {key: as_text(record.get(key)) for key in keys.numbers}
    return {**record, **{key: text for key, text in texts.items() if text is not None}}


def _side(record: Mapping[str, object], key: str, side: str, origin: Origin, *, may_be_empty: bool = False) -> str:
    text = _text(_value(record, key, origin), key, origin)
    if is_empty(text) and not may_be_empty:
        raise _RefusedError(empty_side(side, origin))
    return text


def _weight(record: Mapping[str, object], key: str, origin: Origin) -> float:
    value = _value(record, key, origin)
    weight = weight_of(value)
    if weight is None:
        raise _RefusedError(bad_weight(value, origin))
    return weight


def _around(record: Mapping[str, object], keys: RecordKeys, origin: Origin) -> tuple[tuple[str, ...], list[str]]:
    """Features and preceding texts: strings or lists of strings. Not there, null and empty all mean that there is none."""
    features: list[str] = []
    for key in keys.features:
        found = _texts(record, key, origin)  # a list needs no separator
        features += (
            found if isinstance(record.get(key), list) else [one for text in found for one in keys.form.features_of(text)]
        )
    return tuple(features), [text for key in keys.preceding for text in _texts(record, key, origin)]


def _texts(record: Mapping[str, object], key: str, origin: Origin) -> list[str]:
    value = record.get(key)
    values = value if isinstance(value, list) else [value]
    return [text for one in values if one is not None and not is_empty(text := _text(one, key, origin))]


def _value(record: Mapping[str, object], key: str, origin: Origin) -> object:
    if key not in record:
        found = ", ".join(abbreviated(name) for name in list(record)[:20]) or "none"
        text = f"expected the key {key!r}, found {found}. Add it, or say in `columns` which keys to read."
        raise _RefusedError(ReadingProblem("missing-column", origin, text))
    return record[key]


def _text(value: object, key: str, origin: Origin) -> str:
    if not isinstance(value, str):
        found = f"{_JSON_NAMES.get(type(value), type(value).__name__)}, {abbreviated(value)}"
        text = f"expected a string for {key!r}, found {found}. Write it as a string."
        raise _RefusedError(ReadingProblem("not-text", origin, text))
    if "\0" in value:
        raise _RefusedError(nul_character(value, origin))
    if len(value) > LINE_LIMIT:
        text = f"expected at most {LINE_LIMIT:,} characters for {key!r}, found {len(value):,}. Split or shorten it."
        raise _RefusedError(ReadingProblem("over-long-line", origin, text))
    try:
        value.encode()
    except UnicodeEncodeError as error:
        text = f"expected Unicode text for {key!r}, found half of a surrogate pair at character {error.start + 1}. Remove it."
        raise _RefusedError(ReadingProblem("bad-utf8", origin, text)) from None
    return value


# --- JSON lines -----------------------------------------------------------------------------------------------------


def read_jsonl(file: str, form: Form, report: Report) -> Iterator[Example]:
    """Read one JSON object from each line. A vector may be a list of numbers."""
    keys = _json_keys(form)
    blanks = Blanks(file, report)
    for number, line in read_lines(file, report):
        if line is None:
            continue
        if is_empty(line):
            blanks.skip(number)
            continue
        if blanks.run:
            blanks.report_skipped()
        origin = Origin(file, number)
        record = _json_object(line, origin, report)
        if record is not None and (example := example_of(record, keys, origin, report)):
            yield example


def jsonl_sources(file: str, lines: Iterator[Line], form: Form, report: Report) -> Iterator[Example]:
    """Read what is to be predicted from. A blank line is an empty source, so that it keeps its place."""
    keys = _json_keys(form)
    blank = dict.fromkeys(keys.sources.values(), "")
    for number, line in lines:
        origin = Origin(file, number)
        record = blank if is_empty(line or "") else _json_object(line or "", origin, report)
        if record is not None and (example := source_of(record, keys, origin, report)):
            yield example


def json_records(file: str, report: Report) -> Iterator[tuple[Origin, dict[str, object]]]:
    """The objects of a file as they are, for whoever wants to find out what they hold."""
    for number, line in read_lines(file, report):
        origin = Origin(file, number)
        if not is_empty(line or "") and (record := _json_object(line or "", origin, report)) is not None:
            yield origin, record


def _json_keys(form: Form) -> RecordKeys:
    """Numbers mean nothing here: the keys are then the sources' names, target, weight, features."""
    sources = {name: column if isinstance(column, str) else name for name, column in form.columns.items()}
    return RecordKeys(
        sources,
        form.target if isinstance(form.target, str) else "target",
        "weight" if isinstance(form.weight, int) else form.weight,
        tuple(dict.fromkeys(key if isinstance(key, str) else "features" for key in form.features)),
        tuple(dict.fromkeys(key if isinstance(key, str) else "preceding" for key in form.preceding)),
        _vectors(form, sources),
        form,
    )


def _vectors(form: Form, keys: Mapping[str, str]) -> list[str]:
    return [keys[name] for name, source in form.sources.items() if kind_of(source).takes_lists]


def _json_object(line: str, origin: Origin, report: Report) -> dict[str, object] | None:
    found = None
    try:
        record: object = parse_json(line)
    except ValueError as error:
        found = f"{abbreviated(line)} ({error})"
    else:
        if isinstance(record, dict):
            return record
        found = abbreviated(line)
    text = f"expected one JSON object on the line, found {found}. Write one object a line."
    report(ReadingProblem("malformed-record", origin, text))
    return None


# --- Parquet --------------------------------------------------------------------------------------------------------


def read_parquet(file: str, form: Form, report: Report) -> Iterator[Example]:
    """Read the rows of a Parquet file, a batch at a time. Origins count rows from 1. A vector may be a list of numbers."""
    return _read_parquet(file, form, example_of, lambda keys: keys.all, report)


def parquet_sources(file: str, form: Form, report: Report) -> Iterator[Example]:
    """Read what is to be predicted from; columns that prediction can do without may be missing."""
    return _read_parquet(file, form, source_of, lambda keys: list(keys.sources.values()), report)


def _read_parquet(
    file: str, form: Form, build: _Build, required: Callable[[RecordKeys], list[str]], report: Report
) -> Iterator[Example]:
    """Read the rows. build: makes an example of a row; required: the columns that must be there."""
    with _parquet_table(file, report) as table:
        if table is None:
            return
        names = list(table.schema_arrow.names)
        keys = _parquet_keys(form, names)
        if missing := [repr(key) for key in required(keys) if key not in names]:
            report(_missing_columns(missing, names, Origin(file, 0)))
            return
        there = [key for key in keys.all if key in names]
        for origin, record in _parquet_records(table, there, file, report):
            if example := build(record, keys, origin, report):
                yield example


def parquet_records(file: str, report: Report) -> Iterator[tuple[Origin, dict[str, object]]]:
    """The rows of a file as they are, for whoever wants to find out what they hold."""
    with _parquet_table(file, report) as table:
        if table is not None:
            yield from _parquet_records(table, list(table.schema_arrow.names), file, report)


@contextmanager
def _parquet_table(file: str, report: Report) -> Iterator[Any]:
    """The opened file; None if it cannot be opened. Damage is reported, also what reading meets with."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtraError("Reading Parquet files", "parquet") from None
    with ExitStack() as stack:
        try:
            table = stack.enter_context(ParquetFile(stack.enter_context(_seekable(file))))
        except (ArrowException, UnicodeDecodeError, *DAMAGE) as error:
            report(damaged(file, error))
            table = None
        try:
            yield table
        except (ArrowException, UnicodeDecodeError, *DAMAGE) as error:
            report(damaged(file, error))


_BLOCK = 1 << 20
LARGEST_UNPACKED = 16 << 30
"""To how much a compressed Parquet file may unpack, in bytes: a small file can fill any disk."""


def _seekable(file: str) -> ByteStream:
    """Open the file so that Parquet's footer can be read first; a compressed one goes through a temporary file."""
    stream = open_bytes(file)
    if not isinstance(stream, gzip.GzipFile):
        return stream
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    with stream:
        while block := stream.read(_BLOCK):
            if unpacked.tell() > LARGEST_UNPACKED:
                raise OSError(f"it unpacks to more than {LARGEST_UNPACKED:,} bytes")
            unpacked.write(block)
    unpacked.seek(0)
    return unpacked


def _parquet_keys(form: Form, names: list[str]) -> RecordKeys:
    """Find the columns in the schema, by name or by number."""

    def name(column: int | str) -> str:
        return column if isinstance(column, str) else names[column - 1] if column <= len(names) else f"number {column}"

    weight = None if form.weight is None else name(form.weight)
    sources = {source: name(column) for source, column in form.columns.items()}
    features, preceding = tuple(map(name, form.features)), tuple(map(name, form.preceding))
    return RecordKeys(sources, name(form.target), weight, features, preceding, _vectors(form, sources), form)


def _missing_columns(missing: list[str], names: list[str], origin: Origin) -> ReadingProblem:
    text = f"expected a column {' and '.join(missing)}, found {', '.join(map(repr, names[:20]))}. Name these in `columns`."
    return ReadingProblem("missing-column", origin, text)


def _parquet_records(table: Any, names: list[str], file: str, report: Report) -> Iterator[tuple[Origin, dict[str, object]]]:
    row = 1
    for batch in table.iter_batches(batch_size=1024, columns=names):
        try:
            records: list[dict[str, object]] = batch.to_pylist()
        except UnicodeDecodeError as error:
            rows = counted(len(batch), "row")
            text = f"expected UTF-8 in {rows} from here on, but {error}. Write the file again with valid strings."
            report(ReadingProblem("bad-utf8", Origin(file, row), text))
            records = []
        yield from ((Origin(file, number), record) for number, record in enumerate(records, row))
        row += len(batch)
