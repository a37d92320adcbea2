"""Examples that know where they came from, and the problems met on the way: what every room of the data deals in."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

ProblemCode = Literal[
    "bad-utf8",
    "nul-character",
    "over-long-line",
    "damaged-file",
    "malformed-record",
    "wrong-columns",
    "missing-column",
    "not-text",
    "empty-side",
    "blank-line",
    "bad-weight",
    "bad-vector",
    "unequal-lines",
    "no-question",
]


INPUT, STDIN = "input", "<stdin>"
"""The files of origins that are no files: what Python callers and command lines hand over, and what comes through a pipe."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in a file. Lines count from 1 (rows, in Parquet); line 0 is the file as a whole."""

    file: str
    line: int

    @property
    def is_table(self) -> bool:
        """Whether a file says it, not a person directly."""
        return self.file not in (INPUT, STDIN)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Example:
    """One pair to learn from, or sources to predict from (then `target` is None).

    sources: by name; a vector is its numbers, a file its name.
    """

    sources: Mapping[str, str]
    target: str | None
    origin: Origin
    weight: float = 1.0
    features: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """All targets that are right; none if there is nothing to compare with."""
        return () if self.target is None else (self.target,)


@dataclass(frozen=True, slots=True)
class GroupedExample(Example):
    """An example to judge by, with further targets that are as right. A class of its own: millions of examples have none."""

    others: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """All targets that are right."""
        return (self.target or "", *self.others)


def grouped(examples: Iterable[Example]) -> list[Example]:
    """Examples with the same sources and features as one, in the order in which they begin: all their targets are right.

    One target that is there several times is one; beside others, each time counts.
    """
    found: dict[tuple[object, ...], list[Example]] = {}
    for example in examples:
        found.setdefault((*example.sources.items(), *example.features), []).append(example)
    return [_with_others(*several) for several in found.values()]


def evenly_taken(examples: Sequence[Example], count: int) -> list[Example]:
    """At most so many, from the first to the last at equal distances: many files are sorted, so that no part speaks for all."""
    taken = min(count, len(examples))
    return [examples[place * len(examples) // taken] for place in range(taken)]


def _with_others(one: Example, *further: Example) -> GroupedExample:
    others = tuple(example.target or "" for example in further)
    different = others if set(others) != {one.target} else ()
    return GroupedExample(one.sources, one.target, one.origin, one.weight, one.features, different)


@dataclass(frozen=True, slots=True)
class ReadingProblem:
    """Something that cannot be read as an example; `code` is stable, the text is for people."""

    code: ProblemCode
    origin: Origin
    text: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.text}"


Report = Callable[[ReadingProblem], None]
"""What a reader does with a problem: training raises it, the data doctor collects it and reads on."""


def ignore(problem: ReadingProblem) -> None:
    """Do nothing about a problem: whoever has a first look leaves it to whoever reads everything."""


def abbreviated(value: object, limit: int = 60) -> str:
    """Show a value in a message: quoted, with invisible characters escaped, and never long."""
    if isinstance(value, str | bytes):
        return repr(value) if len(value) <= limit else f"{value[:limit]!r}..."
    shown = repr(value)
    return shown if len(shown) <= limit else f"{shown[:limit]}..."


def is_empty(text: str) -> bool:
    """Whether nothing but white space is there, so that a model would have nothing to read or write."""
    return not text or text.isspace()


def empty_side(side: str, origin: Origin) -> ReadingProblem:
    """Say that one side of an example is missing."""
    return ReadingProblem("empty-side", origin, f"expected text in the {side}, found none. Fill it in or remove the pair.")


def weight_of(value: object) -> float | None:
    """Read an example's weight: a finite number that is not negative; None if it is not one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str) and "_" in value:  # Python would read 1_000 as a number; nobody's table means that
        return None
    try:
        weight = float(value)
    except (ValueError, OverflowError):
        return None
    return weight if isfinite(weight) and weight >= 0 else None


def bad_weight(value: object, origin: Origin) -> ReadingProblem:
    """Say that a weight is not a usable number."""
    expected = f"expected a weight that is a number of 0 or more, found {abbreviated(value)}."
    return ReadingProblem("bad-weight", origin, f"{expected} Correct it, or choose another column for the weight.")


class Blanks:
    """Blank lines: tolerated at the very end of a file, where editors leave them, and reported anywhere else.

    A run of blank lines is remembered by `skip`; the next line that is not blank makes it a problem (`report_skipped`).
    """

    def __init__(self, file: str, report: Report) -> None:
        self.file = file
        self.report = report
        self.run = range(0)

    def skip(self, line: int) -> None:
        """Remember a blank line."""
        if line != self.run.stop:
            self.report_skipped()
            self.run = range(line, line)
        self.run = range(self.run.start, line + 1)

    def report_skipped(self) -> None:
        """Report the blank lines so far: something follows them."""
        run, self.run = self.run, range(0)
        for line in run:
            text = "expected an example, found a blank line. Remove it; only the end of a file may have blank lines."
            self.report(ReadingProblem("blank-line", Origin(self.file, line), text))
