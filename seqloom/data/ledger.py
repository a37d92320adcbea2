"""What the data doctor keeps of every pair, in flat arrays: 36 bytes each, so that millions of pairs fit."""

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from seqloom.data.checks import SIDES, Chunk
from seqloom.data.records import Origin


@dataclass(slots=True)
class Ledger:
    """Two hashes, four lengths and the line of every pair of a split.

    The hashes are Python's own, of 64 bits: among 5 million pairs two different ones agree with a chance of 1 in a million.
    """

    sources: "array[int]" = field(default_factory=lambda: array("q"))
    pairs: "array[int]" = field(default_factory=lambda: array("q"))
    lines: "array[int]" = field(default_factory=lambda: array("I"))
    characters: dict[str, "array[int]"] = field(default_factory=lambda: {side: array("I") for side in SIDES})
    words: dict[str, "array[int]"] = field(default_factory=lambda: {side: array("I") for side in SIDES})
    files: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, chunk: Chunk) -> None:
        """Enter a chunk. A feature belongs to its source: the same word in two languages is two sources."""
        for file, group in groupby(chunk.examples, key=lambda example: example.origin.file):
            if not self.files or self.files[-1] != file:
                self.files.append(file)
                self.starts.append(len(self.lines))
            self.lines.extend([example.origin.line for example in group])
        keys = [hash((text, example.features)) for text, example in zip(chunk.texts["source"], chunk.examples, strict=True)]
        self.sources.extend(keys)
        self.pairs.extend([hash((key, target)) for key, target in zip(keys, chunk.texts["target"], strict=True)])
        for side in SIDES:
            self.characters[side].extend(map(len, chunk.texts[side]))
            self.words[side].extend([len(text.split()) for text in chunk.texts[side]])

    def origin(self, place: int) -> Origin:
        """Say where the pair with this number came from."""
        return Origin(self.files[bisect_right(self.starts, place) - 1], self.lines[place])


def as_integers(values: "array[int]") -> NDArray[np.int64]:
    """See an array of hashes as NumPy does, without a copy."""
    return np.frombuffer(values, dtype=np.int64)


def as_lengths(values: "array[int]") -> NDArray[np.uint32]:
    """See an array of lengths as NumPy does, without a copy."""
    return np.frombuffer(values, dtype=np.uint32)
