"""The data doctor: reads all data before training does, survives what training refuses, and says what it saw.

An error is what stops or spoils a training: everything the readers refuse, a split without pairs, and a test that training
has seen. A warning is worth a look. A note is worth knowing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from seqloom.data.doctor.checks import (
    TRAIN,
    Check,
    Chunk,
    Copies,
    Finding,
    Headers,
    NormalForms,
    Severity,
    Tally,
    UnseenCharacters,
    patterns,
    unseen_classes,
    unseen_features,
)
from seqloom.data.doctor.comparisons import compare
from seqloom.data.doctor.ledger import Ledger, as_lengths
from seqloom.data.examples import Example, ProblemCode, ReadingProblem
from seqloom.data.reading.endings import Format, format_of
from seqloom.data.reading.formats import paths_of, stream_examples
from seqloom.data.reading.lines import BYTE_ORDER_MARK, DAMAGE, open_bytes
from seqloom.data.reading.tables import FIRST_TWO, ONE_TEXT
from seqloom.recipe.sections import TARGET, Aligned, Columns, Files, FileSource, Source
from seqloom.system.files import Found, found_at

__all__ = ["Diagnosis", "Finding", "Severity", "SplitSummary", "Spread", "examine"]

_CHUNK = 4096
_RANKS: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}

_REFUSED: dict[ProblemCode, str] = {
    "bad-utf8": "lines are not UTF-8",
    "nul-character": "lines hold NUL characters",
    "over-long-line": "lines are too long to be read",
    "damaged-file": "files are damaged and cannot be read to their end",
    "malformed-record": "records are malformed",
    "wrong-columns": "lines have the wrong number of columns",
    "missing-column": "columns or keys that were asked for are missing",
    "not-text": "values are not text",
    "empty-side": "pairs have an empty side",
    "blank-line": "lines are blank",
    "bad-weight": "weights are not usable numbers",
    "bad-vector": "sources are not vectors of the size that the recipe says",
    "unequal-lines": "pairs of aligned files differ in their number of lines",
    "no-question": "stories about which nothing is asked",
}


@dataclass(frozen=True, slots=True)
class Spread:
    """How long texts are."""

    median: float
    percentile_95: float
    maximum: int

    @classmethod
    def of(cls, lengths: NDArray[np.uint32]) -> "Spread":
        """Summarise the lengths of many texts; zeros if there is none."""
        if not lengths.size:
            return cls(0.0, 0.0, 0)
        median, high = np.percentile(lengths, [50, 95])
        return cls(round(float(median), 1), round(float(high), 1), int(lengths.max()))


@dataclass(frozen=True, slots=True)
class SplitSummary:
    """The size of a split, and the lengths of its sides that are text in characters and in words between spaces.

    named: how many files the sources name that are files.
    """

    files: tuple[str, ...]
    pairs: int
    characters: Mapping[str, Spread]
    words: Mapping[str, Spread]
    named: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the doctor saw: a summary of each split, and findings, the gravest first."""

    splits: Mapping[str, SplitSummary]
    findings: tuple[Finding, ...]

    @property
    def unwise(self) -> bool:
        """Whether training on this data would fail or mislead."""
        return any(finding.severity == "error" for finding in self.findings)

    def as_json(self) -> dict[str, object]:
        """Give everything as plain values that `json.dumps` takes."""
        return {
            "unwise": self.unwise,
            "splits": {name: asdict(summary) for name, summary in self.splits.items()},
            "findings": [asdict(finding) for finding in self.findings],
        }

    def rows(self) -> Iterator[tuple[Severity, str, int, str]]:
        """Give the findings as rows of a table: severity, what, how many, the first example."""
        for finding in self.findings:
            yield finding.severity, finding.message, finding.count, finding.examples[0] if finding.examples else ""


def examine(
    splits: Mapping[str, Files],
    *,
    format: Format = "auto",
    columns: Columns = FIRST_TWO,
    maximum_length: int = 500,
    sources: Mapping[str, Source] = ONE_TEXT,
    classes: bool = False,
    further: Iterable[Check] = (),
) -> Diagnosis:
    """Examine the files of each split (`train`, `validation`, `test`).

    sources: what they are, by name; further: checks of what they stand for. classes: whether targets are classes.

    What a file holds never raises, however bad it is. A file that is not there does, as does a question that makes no sense.
    """
    problems: defaultdict[ProblemCode, Tally] = defaultdict(Tally)

    def collect(problem: ReadingProblem) -> None:
        problems[problem.code].add(problem)

    # Training first: other splits are held against it. All streams are made before one is read, so that a file that is
    # missing is missed at once.
    ordered = sorted(splits, key=lambda name: name != TRAIN)
    streams = {
        name: stream_examples(splits[name], format=format, columns=columns, report=collect, sources=sources) for name in ordered
    }
    sides = (*(name for name, source in sources.items() if source.has_vocabulary), TARGET)
    checks: list[Check] = [*patterns(), NormalForms(), UnseenCharacters(), unseen_features(), Copies(), Headers(), *further]
    checks += [unseen_classes()] if classes else []
    named = [name for name, source in sources.items() if isinstance(source, FileSource)]
    ledgers = {
        name: _read_split(name, stream, checks, Ledger(sides=sides, named={source: set() for source in named}))
        for name, stream in streams.items()
    }

    findings = [*_refused(problems), *compare(ledgers, maximum_length, of_files=bool(named))]
    findings.extend(finding for check in checks for finding in check.findings())
    findings.extend(_line_ends([file for name in ordered for file in _text_files(splits[name], format)]))
    findings.sort(key=lambda finding: _RANKS[finding.severity])
    return Diagnosis({name: _summary(splits[name], ledgers[name]) for name in splits}, tuple(findings))


def _read_split(name: str, examples: Iterator[Example], checks: Iterable[Check], ledger: Ledger) -> Ledger:
    """Show all examples of a split to the checks, and enter them in an empty ledger."""
    while some := list(islice(examples, _CHUNK)):
        chunk = Chunk.of(name, some, ledger.sides)
        ledger.add(chunk)
        for check in checks:
            check.see(chunk)
    return ledger


def _refused(problems: Mapping[ProblemCode, Tally]) -> Iterator[Finding]:
    for code, tally in problems.items():
        yield Finding(code, "error", tally.count, _REFUSED[code], tuple(tally.examples))


def _summary(files: Files, ledger: Ledger) -> SplitSummary:
    return SplitSummary(
        _files_of(files),
        len(ledger),
        {side: Spread.of(as_lengths(ledger.characters[side])) for side in ledger.sides},
        {side: Spread.of(as_lengths(ledger.words[side])) for side in ledger.sides},
        {name: len(files) for name, files in ledger.named.items()},
    )


def _files_of(files: Files) -> tuple[str, ...]:
    return (*paths_of(files.source), *paths_of(files.target)) if isinstance(files, Aligned) else paths_of(files)


def _text_files(files: Files, format: Format) -> Iterator[str]:
    """List the files made of lines; pipes are left out, since they cannot be read twice."""
    for file in _files_of(files):
        kind = "text" if isinstance(files, Aligned) else format_of(file, format)
        if kind != "parquet" and found_at(file) is Found.FILE:
            yield file


def _line_ends(files: Iterable[str]) -> Iterator[Finding]:
    """Note files that begin as Windows programs write them. Reading copes; other programs may not."""
    marked, returned = Tally(), Tally()
    for file in files:
        beginning = _beginning(file)
        if beginning.startswith(BYTE_ORDER_MARK):
            marked.add(file)
        if b"\r\n" in beginning:
            returned.add(file)
    if marked.count:
        message = "files begin with a byte order mark: accepted, and not part of the text"
        yield Finding("byte-order-mark", "note", marked.count, message, tuple(marked.examples))
    if returned.count:
        message = "files have line ends of Windows (CR LF): accepted, and not part of the text"
        yield Finding("crlf", "note", returned.count, message, tuple(returned.examples))


def _beginning(file: str) -> bytes:
    try:
        with open_bytes(file) as stream:
            return stream.read(1 << 16)
    except DAMAGE:
        return b""
