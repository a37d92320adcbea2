"""Examples from files: the one door through which text enters, for training and for prediction.

Everything streams: no file is ever held in memory. Nothing is dropped: what cannot be read is an error with file and line.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from seqloom.data.formats import Format, ending_format, stream_examples
from seqloom.data.lines import ByteStream, Line, lines_of, read_lines
from seqloom.data.records import Example, Origin, Problem, is_empty
from seqloom.data.tables import FIRST_TWO, Layout, has_header
from seqloom.errors import DataError, UsageError
from seqloom.recipe.sections import Columns, Files, Split

__all__ = ["Example", "Format", "Origin", "SplitName", "read_examples", "read_sources", "split_of", "splitter"]

SplitName = Literal["train", "validation", "test"]


def read_examples(files: Files, *, format: Format = "auto", columns: Columns = FIRST_TWO) -> Iterator[Example]:  # noqa: A002
    """Read pairs from one or many files, one after the other, each with where it came from.

    Files that are missing are refused at once, all else when it is reached. An empty side is an error, as is a blank line,
    except at the very end of a file.
    """
    return stream_examples(files, format=format, columns=columns, report=_refuse)


def _refuse(problem: Problem) -> None:
    raise DataError(str(problem))


def read_sources(lines: str | Path | ByteStream, columns: Columns | None = None) -> Iterator[Example]:
    """Read what is to be predicted from a file or an open binary stream, one example for each line, empty ones too.

    Without `columns` a whole line is the source. With them lines are tab-separated, and only the source must be there:
    a target is kept if it is given, features too. So outputs can be laid beside inputs, line by line.
    """
    if isinstance(lines, str | Path):
        file = str(lines)
        _require_lines(file, columns)
        numbered = read_lines(file, _refuse)
    else:
        file = "<stdin>"
        numbered = lines_of(lines, file, _refuse)
    return _plain_sources(file, numbered) if columns is None else _table_sources(file, numbered, columns)


def _require_lines(file: str, columns: Columns | None) -> None:
    """Refuse files whose lines are not sources: to read a record as text would give nonsense without a word."""
    kind = ending_format(file)
    if kind in ("jsonl", "parquet") or (kind == "csv" and columns is not None):
        raise UsageError(
            f"{file}: expected a text file with a source on each line, or a tab-separated one with columns, found {kind} by "
            "its ending. Take the sources out of it, or give the pairs to evaluate, which reads it"
        )


def _plain_sources(file: str, lines: Iterator[Line]) -> Iterator[Example]:
    for number, line in lines:
        yield Example({"source": line or ""}, None, Origin(file, number))


def _table_sources(file: str, lines: Iterator[Line], columns: Columns) -> Iterator[Example]:
    layout = _layout_of_sources(file, lines, columns)
    for number, line in lines:
        cells = (line or "").split("\t")
        origin = Origin(file, number)
        if layout.source < len(cells):
            source = cells[layout.source]
        elif is_empty(line or ""):
            source = ""
        else:
            expected = f"expected at least {layout.source + 1} tab-separated columns, found {len(cells)}"
            raise DataError(f"{origin}: {expected}. Put the source into column {layout.source + 1}, or name its column.")
        target = cells[layout.target] if layout.target < len(cells) else ""
        yield Example({"source": source}, None if is_empty(target) else target, origin, 1.0, layout.features_in(cells))


def _layout_of_sources(file: str, lines: Iterator[Line], columns: Columns) -> Layout:
    """Find the columns; a header need not have those that prediction can do without."""
    if not has_header(columns):
        return Layout.numbered(columns.model_copy(update={"weight": None}))
    for number, line in lines:
        header = (line or "").split("\t")
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


def split_of(source_text: str, seed: int, split: Split) -> SplitName:
    """Say to which part of the data a source belongs: the same on every machine and in every version.

    A hash of the source decides, so equal sources stay together, whatever their targets and however often they occur.
    Changing the share of validation leaves the test part as it is.
    """
    return splitter(seed, split)(source_text)


def splitter(seed: int, split: Split) -> Callable[[str], SplitName]:
    """`split_of` for many sources: what they have in common is computed once."""
    begun = hashlib.blake2b(f"{seed}\t".encode(), digest_size=8, person=b"seqloom split")
    end_of_test, end_of_validation = split.test, split.test + split.validation

    def place(source_text: str) -> SplitName:
        digest = begun.copy()
        digest.update(source_text.encode())
        share = int.from_bytes(digest.digest(), "big") / 2**64
        if share < end_of_test:
            return "test"
        return "validation" if share < end_of_validation else "train"

    return place
