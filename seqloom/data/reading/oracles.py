"""Attention weights that a person hands in: the model decodes with them instead of its own.

There is one entry for each input. `None` lets the model look for itself. A list gives one distribution over the source's
positions for each output step, or None for a step. A text is an alignment in the Pharaoh format, pairs source-target that
count from 0, such as "0-0 4-1 2-2 3-2 1-3". Whatever is left open, the model decides.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import BoolArray, FloatArray, IntArray
from seqloom.data.examples import ReadingProblem, abbreviated, is_empty
from seqloom.data.reading.lines import DAMAGE, damaged, open_bytes, read_lines
from seqloom.errors import DataError
from seqloom.system.json_parsing import parse_json
from seqloom.wording import counted

Unit = Literal["symbols", "words"]
"""What positions count: the symbols that the model reads, features and marks included, or words between spaces."""

Steps = Mapping[int, FloatArray]
"""What one input is told: by output step, counted from 0, a distribution over its source's symbols [S]."""

LARGEST_ORACLE = 64 << 20
"""The largest document of entries, in bytes: it is read as a whole, and takes several times that as numbers."""

_TOLERANCE = 1e-3
"""How far a distribution may be from 1 in all: people round to two or three digits."""

_PAIR = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Entry:
    """What was handed in for one input, not looked at yet. where: its place, for errors."""

    given: object
    where: str


@dataclass(frozen=True)
class Positions:
    """The positions of one source. of_symbol [S]: which position each symbol belongs to, -1 for none; count: how many."""

    unit: Unit
    of_symbol: IntArray
    count: int

    @classmethod
    def symbols(cls, count: int) -> Self:
        """Every symbol is a position."""
        return cls("symbols", np.arange(count), count)

    @classmethod
    def words(cls, text: str, spans: Sequence[tuple[int, int]]) -> Self:
        """Every word between spaces is a position. spans: where each symbol stands in the text; marks stand nowhere."""
        words = [(found.start(), found.end()) for found in _WORD.finditer(text)]
        belongs = [
            next((number for number, (first, last) in enumerate(words) if start < last and first < end), -1)
            for start, end in spans
        ]
        return cls("words", np.asarray(belongs, dtype=np.int64), len(words))

    def spread(self, weights: npt.NDArray[np.float64], where: str) -> FloatArray:
        """Weights of positions as weights of symbols: those of one word share what it has."""
        inside = self.of_symbol >= 0
        sizes = np.bincount(self.of_symbol[inside], minlength=self.count)
        lost = np.flatnonzero((weights > 0) & (sizes == 0))
        if len(lost):
            raise DataError(f"{where}: word {lost[0]} of the source has no symbol to look at. Leave it out")
        shares = weights / np.maximum(sizes, 1)
        return np.where(inside, shares[self.of_symbol], 0.0).astype(np.float32)


# --- entries --------------------------------------------------------------------------------------------------------


def read_oracle(file: str) -> Iterator[Entry]:
    """The entries of a file, one for each input.

    A .json file is one list of entries. In any other file, line i is the entry of input i: an alignment as it stands, or JSON;
    a blank line is None.
    """
    if file.removesuffix(".gz").endswith(".json"):
        return _document(file)
    return (parse_entry(line or "", f"{file}:{number}") for number, line in read_lines(file, _refuse))


def parse_entry(text: str, where: str) -> Entry:
    """An entry that is written on one line."""
    stripped = text.strip()
    if is_empty(stripped):
        return Entry(None, where)
    if stripped[0] not in '["n':  # so it is no JSON that an entry may be
        return Entry(stripped, where)
    try:
        return Entry(parse_json(stripped), where)
    except ValueError as problem:
        raise DataError(
            f"{where}: expected a list of distributions as JSON on one line, or an alignment such as 0-0 2-1, found "
            f"{abbreviated(stripped)} ({problem}). Write the entry of each input on a line of its own"
        ) from None


def _document(file: str) -> Iterator[Entry]:
    try:
        with open_bytes(file) as stream:
            body: Any = parse_json(_limited(stream.read(LARGEST_ORACLE + 1)))
    except DAMAGE as problem:
        raise DataError(str(damaged(file, problem))) from None
    except ValueError as problem:
        raise DataError(f"{file}: expected JSON, a list with one entry per input, but: {problem}. Correct it") from None
    if not isinstance(body, list):
        raise DataError(f"{file}: expected a list with one entry per input, found {abbreviated(body)}. Put [ ] around it")
    return (Entry(one, f"{file}: entry {number}") for number, one in enumerate(body, start=1))


def _limited(content: bytes) -> bytes:
    if len(content) > LARGEST_ORACLE:
        raise ValueError(f"it has more than {LARGEST_ORACLE:,} bytes; a file with an entry on each line may have more")
    return content


def _refuse(problem: ReadingProblem) -> None:
    raise DataError(str(problem))


# --- what an entry says of a source ---------------------------------------------------------------------------------


def parse_steps(entry: Entry, positions: Positions) -> Steps:
    """What an entry tells the model about a source with the given positions."""
    match entry.given:
        case None:
            return {}
        case str(alignment):
            return _aligned(alignment, positions, entry.where)
        case np.ndarray() as table if table.ndim == 2:
            return _listed(list(table), positions, entry.where)
        case list() | tuple() as rows:
            return _listed(rows, positions, entry.where)
        case other:
            raise DataError(
                f"{entry.where}: expected null, an alignment such as '0-0 2-1', or a list with one distribution per output "
                f"step, found {abbreviated(other)}"
            )


def _listed(rows: Sequence[object], positions: Positions, where: str) -> Steps:
    given = {step: row for step, row in enumerate(rows) if row is not None}
    return {step: _distribution(row, positions, f"{where}, step {step} (from 0)") for step, row in given.items()}


def _distribution(row: object, positions: Positions, where: str) -> FloatArray:
    if not isinstance(row, list | tuple | np.ndarray) or not all(map(_is_number, row)):
        raise DataError(f"{where}: expected null or a list of {counted(positions.count, 'number')}, found {abbreviated(row)}")
    if len(row) != positions.count:
        raise DataError(
            f"{where}: expected {positions.count} weights, as the source has so many {positions.unit}, found {len(row)}. "
            "Give one weight per position"
        )
    weights = np.asarray([_float(value) for value in row])
    if not np.isfinite(weights).all() or (weights < 0).any():
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise DataError(f"{where}: expected weights from 0 to 1, found {wrong:g}. Weights are shares of what is looked at")
    total = float(weights.sum())
    if abs(total - 1) > _TOLERANCE:
        raise DataError(f"{where}: expected weights that sum to 1, found a sum of {total:g}. Divide them by it, or write null")
    return positions.spread(weights / total, where)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        return math.inf


def _aligned(alignment: str, positions: Positions, where: str) -> Steps:
    """Source positions that belong to one step share its weight equally."""
    sources: dict[int, list[int]] = {}
    for pair in alignment.split():
        found = _PAIR.fullmatch(pair)
        if found is None:
            raise DataError(
                f"{where}: expected an alignment of pairs source-target that count from 0, such as 0-0 2-1, found {pair!r}"
            )
        source, step = map(int, found.groups())
        if source >= positions.count:
            raise DataError(
                f"{where}: the pair {pair} names source position {source}, but the source has {positions.count} "
                f"{positions.unit}, from 0 to {positions.count - 1}. Correct the pair"
            )
        sources.setdefault(step, []).append(source)
    return {step: positions.spread(_even(named, positions.count), where) for step, named in sources.items()}


def _even(named: Sequence[int], count: int) -> npt.NDArray[np.float64]:
    distinct = sorted(set(named))  # a pair that is there twice counts once
    weights = np.zeros(count)
    weights[distinct] = 1.0 / len(distinct)
    return weights


# --- batches --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Oracle:
    """What the sentences of a batch are told about one source.

    weights [B, T, S]: a distribution for each step. known [B, T]: False where the model looks for itself, as it does at all
    later steps.
    """

    weights: FloatArray
    known: BoolArray

    @classmethod
    def of(cls, told: Sequence[Steps], *, width: int, limits: IntArray) -> Self | None:
        """Put the steps of several sentences together; None if none is told anything.

        width: positions of the longest source. limits [B]: the longest output of each; steps beyond it cannot come.
        """
        kept = [{step: row for step, row in steps.items() if step < limit} for steps, limit in zip(told, limits, strict=True)]
        count = max((step + 1 for steps in kept for step in steps), default=0)
        if not count:
            return None
        weights = np.zeros((len(kept), count, width), dtype=np.float32)
        known = np.zeros((len(kept), count), dtype=np.bool_)
        for sentence, steps in enumerate(kept):
            for step, row in steps.items():
                weights[sentence, step, : len(row)] = row
                known[sentence, step] = True
        return cls(weights, known)
