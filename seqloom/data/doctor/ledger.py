"""What the data doctor keeps of every pair, in flat arrays: 36 bytes each, so that millions of pairs fit."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from seqloom.data.doctor.checks import SIDES, Chunk
from seqloom.data.examples import Origin


@dataclass(slots=True)
class Ledger:
    """Two hashes, the lengths of both sides and the line of every pair of a split.

    sides: those that are text; named: of sources that are files, all names.
    The hashes are Python's own, of 64 bits: among 5 million pairs two different ones agree with a chance of 1 in a million.
    """

    sources: "array[int]" = field(default_factory=lambda: array("q"))
    pairs: "array[int]" = field(default_factory=lambda: array("q"))
    lines: "array[int]" = field(default_factory=lambda: array("I"))
    files: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    sides: Sequence[str] = SIDES
    named: dict[str, set[str]] = field(default_factory=dict)
    characters: dict[str, "array[int]"] = field(init=False)
    words: dict[str, "array[int]"] = field(init=False)

    def __post_init__(self) -> None:
        self.characters = {side: array("I") for side in self.sides}
        self.words = {side: array("I") for side in self.sides}

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, chunk: Chunk) -> None:
        """Enter a chunk. A feature belongs to its source: the same word in two languages is two sources."""
        for file, group in groupby(chunk.examples, key=lambda example: example.origin.file):
            if not self.files or self.files[-1] != file:
                self.files.append(file)
                self.starts.append(len(self.lines))
            self.lines.extend([example.origin.line for example in group])
        keys = [hash((*example.sources.values(), example.features)) for example in chunk.examples]
        self.sources.extend(keys)
        self.pairs.extend([hash((key, example.target)) for key, example in zip(keys, chunk.examples, strict=True)])
        for name, files in self.named.items():
            files.update(example.sources[name] for example in chunk.examples)
        for side in self.sides:
            self.characters[side].extend(map(len, chunk.texts[side]))
            self.words[side].extend([len(text.split()) for text in chunk.texts[side]])

    def source_characters(self) -> NDArray[np.uint32] | None:
        """How many characters the sources of each pair have; None if none of them is text."""
        lengths = [as_lengths(self.characters[side]) for side in self.sides[:-1]]
        return np.sum(lengths, axis=0, dtype=np.uint32) if lengths else None

    def target_characters(self) -> NDArray[np.uint32]:
        """How many characters the target of each pair has."""
        return as_lengths(self.characters[self.sides[-1]])

    def origin(self, place: int) -> Origin:
        """Say where the pair with this number came from."""
        return Origin(self.files[bisect_right(self.starts, place) - 1], self.lines[place])


def as_integers(values: "array[int]") -> NDArray[np.int64]:
    """See an array of hashes as NumPy does, without a copy."""
    return np.frombuffer(values, dtype=np.int64)


def as_lengths(values: "array[int]") -> NDArray[np.uint32]:
    """See an array of lengths as NumPy does, without a copy."""
    return np.frombuffer(values, dtype=np.uint32)
