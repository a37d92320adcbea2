"""What is asked of a search for a particular batch, as opposed to the recipe's section, which is the same for all batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from seqloom.errors import DataError, UsageError
from seqloom.recipe.sections import SearchSection
from seqloom.search.contracts import IntArray
from seqloom.symbols import BEGIN, END
from seqloom.wording import counted


@dataclass(frozen=True, eq=False)
class Request:
    """A batch of B sentences to be searched.

    limits [B]: the longest output of each, `end` included, at least 1. keys [B]: who each sentence is, for sampling: draws
    depend on the key, never on the place in the batch, so give equal keys only to sentences that may share their draws.
    prefixes: none, or per sentence the symbols its output must begin with (maybe none); they count in log-probabilities and
    lengths, and neither `forbid` nor a minimum length applies to them. forbid: symbols never to be written (`begin` never is).
    source_lengths: per source name [B], how many positions are real. It cuts padding off the attention weights and out
    of the coverage term; all positions of a source that is not named are real. closed: the last symbol that a limit allows is
    `end`, so that every output is whole. phrases: none, or per sentence the runs of symbols that its output is expected to
    have.
    """

    limits: IntArray
    keys: IntArray
    prefixes: Sequence[IntArray] = ()
    forbid: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    source_lengths: Mapping[str, IntArray] = field(default_factory=dict)
    closed: bool = False
    phrases: Sequence[Sequence[IntArray]] = ()

    def __post_init__(self) -> None:
        counts = {"keys": len(self.keys), **{f"source_lengths[{name!r}]": len(n) for name, n in self.source_lengths.items()}}
        counts |= {name: len(given) for name, given in (("prefixes", self.prefixes), ("phrases", self.phrases)) if len(given)}
        for name, count in counts.items():
            if count != self.sentences:
                raise UsageError(
                    f"search request: `limits` is for {self.sentences} sentences, `{name}` for {count}. Give one per sentence"
                )
        if self.sentences and self.limits.min() < 1:
            raise UsageError(f"search request: an output has 1 symbol at least; the smallest limit is {self.limits.min()}")
        for sentence, prefix in enumerate(self.prefixes):
            self._check_prefix(sentence, prefix)

    def _check_prefix(self, sentence: int, prefix: IntArray) -> None:
        if len(prefix) > self.limits[sentence]:
            raise UsageError(
                f"sentence {sentence}: its prefix has {counted(len(prefix), 'symbol')}, "
                f"but its longest output {self.limits[sentence]}. Shorten the prefix, or raise `length_extra`"
            )
        if np.any(prefix == BEGIN) or np.any(prefix[:-1] == END):
            raise UsageError(
                f"sentence {sentence}: its prefix is {prefix.tolist()}. `begin` ({BEGIN}) cannot be written, "
                f"and nothing can follow `end` ({END}). Take them out"
            )

    @property
    def sentences(self) -> int:
        """B, the number of sentences."""
        return len(self.limits)

    def only(self, sentence: int) -> "Request":
        """Make the request for one of the sentences alone."""
        one = slice(sentence, sentence + 1)
        return Request(
            limits=self.limits[one],
            keys=self.keys[one],
            prefixes=self.prefixes[one],
            forbid=self.forbid,
            source_lengths={name: lengths[one] for name, lengths in self.source_lengths.items()},
            closed=self.closed,
            phrases=self.phrases[one],
        )


MOST_PLACES = 1 << 27
"""What one input may take: positions to look at x rows of its search x longest output. With 12 bytes each, for every head."""
_FEWEST_POSITIONS = 32
"""A row takes memory at every step, however short its source is: as much as so many positions."""


def require_bounded(section: SearchSection, limit: int, positions: int) -> None:
    """Refuse an input whose search could take more memory than any answer is worth. Raises `DataError` without a place."""
    rows = section.rows
    if rows * limit * max(positions, _FEWEST_POSITIONS) > MOST_PLACES:
        raise DataError(
            f"expected a search that looks at {MOST_PLACES:,} places at most, found one for up to {positions:,} positions x "
            f"{rows:,} outputs x {limit:,} symbols. Cut the input into parts, or ask for fewer or shorter outputs: --beam, "
            "--sample, --maximum-length (in a recipe: search)"
        )


def longest_outputs(section: SearchSection, source_lengths: IntArray) -> IntArray:
    """Compute the limits that a search section sets for sources of the given lengths [B]; 0 where there is no source."""
    limits: IntArray = np.floor(section.length_factor * source_lengths).astype(np.int64) + section.length_extra
    return np.maximum(limits, 1)
