"""What a language model says about texts and what it writes, as plain data that commands, views and notebooks share.

Letters: T symbols of a line, `end` included.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class ScoredText:
    """`log p(y)` of one line: in all, and per symbol, `end` included.

    unknown: which of the symbols, counted from 0, are not in the vocabulary; their probability is that of any unknown symbol.
    """

    text: str
    log_prob: float
    symbols: tuple[str, ...]
    log_probs: tuple[float, ...]
    unknown: tuple[int, ...] = ()

    @property
    def surprise(self) -> float:
        """Bits per symbol: what `--ranked` sorts by."""
        return -self.log_prob / math.log(2) / len(self.symbols)

    def as_json(self) -> dict[str, Any]:
        """The object that `score --json` prints for a line."""
        return {
            "text": self.text,
            "log_prob": self.log_prob,
            "bits_per_symbol": self.surprise,
            "symbols": list(self.symbols),
            "log_probs": list(self.log_probs),
            "unknown": list(self.unknown),
        }


@dataclass(frozen=True)
class Summary:
    """All lines together. characters: those of the text, a line's end counted as one."""

    lines: int
    symbols: int
    characters: int
    unknown: int
    log_prob: float

    @classmethod
    def of(cls, scored: Sequence[ScoredText]) -> "Summary":
        """Add lines up."""
        return cls(
            lines=len(scored),
            symbols=sum(len(one.symbols) for one in scored),
            characters=sum(len(one.text) + 1 for one in scored),
            unknown=sum(len(one.unknown) for one in scored),
            log_prob=math.fsum(one.log_prob for one in scored),
        )

    @property
    def perplexity(self) -> float:
        """How many equally probable symbols the model was as unsure between, on average."""
        return math.exp(min(_LARGEST_EXPONENT, -self.log_prob / max(1, self.symbols)))

    @property
    def bits_per_symbol(self) -> float:
        """The base 2 logarithm of the perplexity."""
        return -self.log_prob / math.log(2) / max(1, self.symbols)

    @property
    def bits_per_character(self) -> float:
        """What models with other symbols can be compared by."""
        return -self.log_prob / math.log(2) / max(1, self.characters)

    def as_json(self) -> dict[str, Any]:
        """The summary as `score --json` prints it."""
        return {
            "count": self.lines,
            "symbols": self.symbols,
            "characters": self.characters,
            "unknown": self.unknown,
            "log_prob": self.log_prob,
            "perplexity": self.perplexity,
            "bits_per_symbol": self.bits_per_symbol,
            "bits_per_character": self.bits_per_character,
        }


@dataclass(frozen=True, eq=False)
class Studied:
    """What a model says about each of the symbols [B, T] that it is shown.

    ranks: 1 is the model's own choice. entropies: of the whole distribution, in bits. top_ids and top_log_probs [B, T, k]: the
    most probable symbols, best first.
    """

    log_probs: FloatArray
    ranks: IntArray
    entropies: FloatArray
    top_ids: IntArray
    top_log_probs: FloatArray


@dataclass(frozen=True)
class Line:
    """One line as its symbols. spans: where each stands in the text; equal numbers for `end`. unknown: which are unknown."""

    text: str
    symbols: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    unknown: tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model said at every symbol of a line.

    number: the line's number in its text, from 1. log_probs, ranks (1 is the model's own choice) and entropies (in bits) [T].
    alternatives: for each symbol, what the model held most probable there, with log-probabilities, best first.
    choices: how many symbols the vocabulary has.
    """

    number: int
    line: Line
    log_probs: FloatArray
    ranks: IntArray
    entropies: FloatArray
    alternatives: tuple[tuple[tuple[str, float], ...], ...]
    choices: int

    @cached_property
    def bits(self) -> FloatArray:
        """The surprise at each symbol."""
        return -self.log_probs / np.float32(math.log(2))

    @property
    def log_prob(self) -> float:
        """The log-probability of the line."""
        return float(self.log_probs.sum(dtype=np.float64))

    @property
    def surprise(self) -> float:
        """Bits per symbol."""
        return float(self.bits.mean(dtype=np.float64))

    def as_json(self) -> dict[str, Any]:
        """The line as `explain` writes it to a .json file."""
        return {
            "line": self.number,
            "text": self.line.text,
            "log_prob": self.log_prob,
            "symbols": [
                {
                    "symbol": symbol,
                    "span": list(span),
                    "unknown": unknown,
                    "log_prob": float(self.log_probs[index]),
                    "rank": int(self.ranks[index]),
                    "entropy_bits": float(self.entropies[index]),
                    "alternatives": [{"symbol": other, "log_prob": value} for other, value in self.alternatives[index]],
                }
                for index, (symbol, span, unknown) in enumerate(
                    zip(self.line.symbols, self.line.spans, self.line.unknown, strict=True)
                )
            ],
        }


@dataclass(frozen=True, eq=False)
class Unit:
    """One hidden unit over a text. layer counts from 1, number from 0. values: for each line, one for each symbol.

    selectivity: the variance between two groups of symbols, those where the unit is high and those where it is low, parted
    where that is greatest; 1 for a unit that is 1 at half of the symbols and -1 at the others.
    """

    layer: int
    number: int
    selectivity: float
    values: tuple[FloatArray, ...]


@dataclass(frozen=True, eq=False)
class Activations:
    """What hidden units showed after each symbol of a text was read."""

    lines: tuple[Line, ...]
    units: tuple[Unit, ...]

    def as_json(self) -> dict[str, Any]:
        """The activations as `explain --units` writes them to a .json file."""
        return {
            "lines": [{"text": line.text, "symbols": list(line.symbols)} for line in self.lines],
            "units": [
                {
                    "layer": unit.layer,
                    "unit": unit.number,
                    "selectivity": unit.selectivity,
                    "values": [np.round(values.astype(np.float64), 5).tolist() for values in unit.values],
                }
                for unit in self.units
            ],
        }


@dataclass(frozen=True)
class GeneratedText:
    """A text that a language model wrote, perhaps from a given beginning on.

    symbols and log_probs: of the whole text; the first `given` of them are the prompt's. finished: it ended with `end`.
    log_probs are the model's own, whatever temperature and cuts it was drawn with.
    """

    text: str
    symbols: tuple[str, ...]
    log_probs: tuple[float, ...]
    given: int
    finished: bool

    @property
    def log_prob(self) -> float:
        """The log-probability of the whole text."""
        return math.fsum(self.log_probs)

    @property
    def completion_log_prob(self) -> float:
        """The log-probability of what was written, given the prompt."""
        return math.fsum(self.log_probs[self.given :])

    def as_json(self) -> dict[str, Any]:
        """The object that `sample --json` prints."""
        return {
            "text": self.text,
            "log_prob": self.log_prob,
            "completion_log_prob": self.completion_log_prob,
            "symbols": list(self.symbols),
            "log_probs": list(self.log_probs),
            "given": self.given,
            "finished": self.finished,
        }


def unknown_pieces(lines: Iterable[Line]) -> Counter[str]:
    """The pieces of text that are unknown symbols, with how often each occurs."""
    return Counter(
        line.text[start:end]
        for line in lines
        for (start, end), unknown in zip(line.spans, line.unknown, strict=True)
        if unknown
    )
