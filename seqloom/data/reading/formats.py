"""From files to examples: the one door for pairs and text. What to predict from comes in by `prediction_inputs`.

Everything streams: no file is ever held in memory. Nothing is dropped: what cannot be read is handed to `report`.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, zip_longest

from seqloom.data.examples import Blanks, Example, Origin, ReadingProblem, Report, empty_side, is_empty
from seqloom.data.reading.checking import checked
from seqloom.data.reading.dictionaries import read_dictionary
from seqloom.data.reading.endings import Format, format_of
from seqloom.data.reading.lines import Line, read_lines, require_file
from seqloom.data.reading.stories import read_stories
from seqloom.data.reading.structured import read_jsonl, read_parquet
from seqloom.data.reading.tables import FIRST_TWO, ONE_TEXT, read_csv, read_tsv
from seqloom.errors import DataError, UsageError
from seqloom.recipe.sections import Aligned, Columns, Files, Form, Source, form_of


def read_examples(
    files: Files,
    *,
    format: Format = "auto",
    columns: Columns = FIRST_TWO,
    sources: Mapping[str, Source] = ONE_TEXT,
    empty_targets: bool = False,
) -> Iterator[Example]:
    """Read pairs from one or many files, one after the other, each with where it came from. sources: what they are, by name.

    Files that are missing are refused at once, all else when it is reached. An empty side is an error, as is a blank line,
    except at the very end of a file. empty_targets: an empty target is none, as models may write one.
    """
    return stream_examples(files, format=format, columns=columns, report=_refuse, sources=sources, empty_targets=empty_targets)


def read_text(files: Files, *, blank: bool) -> Iterator[Example]:
    """Read plain text, an example without a source for each line. blank: whether lines without text count as lines."""
    return stream_text(files, blank=blank, report=_refuse)


def _refuse(problem: ReadingProblem) -> None:
    raise DataError(str(problem))


def stream_examples(
    files: Files,
    *,
    format: Format,
    columns: Columns,
    report: Report,
    sources: Mapping[str, Source] = ONE_TEXT,
    empty_targets: bool = False,
) -> Iterator[Example]:
    """Read the examples of one or many files, one after the other. Missing files are refused at once, before reading."""
    form = form_of(columns, sources, empty_targets=empty_targets)
    return checked(_stream(files, format, form, report), sources, report)


def _stream(files: Files, format: Format, form: Form, report: Report) -> Iterator[Example]:
    if isinstance(files, Aligned):
        return _stream_aligned(files, format, form, report)
    names = paths_of(files)
    if format == "text":
        raise UsageError(
            "the format text needs two aligned files, found one list of files. "
            "Give `source:` and `target:` files, or use the format tsv"
        )
    for name in names:
        require_file(name)
    kinds = [format_of(name, format) for name in names]
    pairs = zip(names, kinds, strict=True)
    return chain.from_iterable(read_file(name, kind, form, report) for name, kind in pairs)


def paths_of(files: str | tuple[str, ...]) -> tuple[str, ...]:
    """List the files, be it one or many."""
    return (files,) if isinstance(files, str) else tuple(files)


def read_file(file: str, kind: Format, form: Form, report: Report) -> Iterator[Example]:
    """Read one file of a known format."""
    match kind:
        case "tsv":
            return read_tsv(file, form, report)
        case "csv":
            return read_csv(file, form, report)
        case "jsonl":
            return read_jsonl(file, form, report)
        case "parquet":
            return read_parquet(file, form, report)
        case "cmudict" | "cmudict-unstressed":
            return read_dictionary(file, form, report, stress=kind == "cmudict")
        case "stories":
            return read_stories(file, form, report)
        case _:
            raise ValueError(f"{kind} is not the format of a single file")


# --- plain text -----------------------------------------------------------------------------------------------------


def stream_text(files: Files, *, blank: bool, report: Report) -> Iterator[Example]:
    """Read the lines of plain text files, one after the other. blank: whether lines without text count as lines."""
    if isinstance(files, Aligned):
        raise UsageError("plain text has no source: expected a list of files, found aligned ones")
    for name in paths_of(files):
        require_file(name)
    return chain.from_iterable(_read_text(name, blank, report) for name in paths_of(files))


def _read_text(file: str, blank: bool, report: Report) -> Iterator[Example]:
    for number, line in read_lines(file, report):
        if line is not None and (blank or not is_empty(line)):
            yield Example({}, line, Origin(file, number))


# --- two aligned text files -----------------------------------------------------------------------------------------


def _stream_aligned(files: Aligned, format: Format, form: Form, report: Report) -> Iterator[Example]:
    if format not in ("auto", "text"):
        raise UsageError(f"separate source and target files are plain text, but the format says {format}. Use auto or text")
    if len(form.sources) > 1:
        raise UsageError(f"aligned files hold one source, expected {' and '.join(form.sources)}. Use a table with all of them")
    if form.weight is not None or form.features:
        raise UsageError("two aligned text files have no columns for a weight or features. Use the format tsv for those")
    sources, targets = paths_of(files.source), paths_of(files.target)
    if len(sources) != len(targets):
        raise UsageError(
            f"aligned files come in pairs, but there are {len(sources)} source and {len(targets)} target files. "
            "Name as many of one as of the other, in the same order"
        )
    for name in (*sources, *targets):
        require_file(name)
    (name,) = form.sources
    pairs = zip(sources, targets, strict=True)
    return chain.from_iterable(
        read_aligned(source, target, report, name, empty_targets=form.empty_targets) for source, target in pairs
    )


def read_aligned(
    source_file: str, target_file: str, report: Report, name: str, *, empty_targets: bool = False
) -> Iterator[Example]:
    """Pair line i of one file with line i of the other. Origins name the source file. name: of the source."""
    blanks = Blanks(source_file, report)
    sources, targets = read_lines(source_file, report), read_lines(target_file, report)
    for left, right in zip_longest(sources, targets):
        if left is None or right is None:
            _check_tail(source_file, target_file, chain([left or right], sources, targets), left is None, report)
            return
        number, source = left
        target = right[1]
        if source is None or target is None:
            continue
        if is_empty(source) and is_empty(target):
            blanks.skip(number)
            continue
        if blanks.run:
            blanks.report_skipped()
        if is_empty(source) or (is_empty(target) and not empty_targets):
            report(_empty_line(source_file if is_empty(source) else target_file, is_empty(source), number))
        else:
            yield Example({name: source}, target, Origin(source_file, number))


def _empty_line(file: str, in_source: bool, number: int) -> ReadingProblem:
    return empty_side("source" if in_source else "target", Origin(file, number))


def _check_tail(source_file: str, target_file: str, tail: Iterator[Line], source_ended: bool, report: Report) -> None:
    """One file is over: what is left of the other may only be blank. Counts it, so that both counts can be named."""
    first = last = 0
    for number, line in tail:
        first = first or number
        if line is None or not is_empty(line):
            last = number
    if not last:
        return
    counts = (first - 1, last) if source_ended else (last, first - 1)
    text = (
        f"expected as many lines as in {target_file}, found {counts[0]:,} here and {counts[1]:,} there. "
        "Line i of one file must belong to line i of the other: find where they part, and correct it."
    )
    report(ReadingProblem("unequal-lines", Origin(source_file, 0), text))
