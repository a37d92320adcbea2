"""Sources that are vectors of numbers.

In an example a vector is text, numbers between spaces: so it can be hashed, shown, compared and kept in any kind of file.
It is checked as soon as it is read, where file and line are known, and becomes an array where models need one.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import Example, abbreviated
from seqloom.data.kinds.contract import InputSize, ModelSide, ReadSource, Rows, SourceKind, SourceReader
from seqloom.errors import DataError
from seqloom.recipe.sections import VectorSource


class VectorKind(SourceKind[VectorSource]):
    """A vector of as many numbers as the recipe says."""

    refusal = "bad-vector"
    takes_lists = True

    def trouble_with(self, cell: str) -> str | None:
        """Say if it is no vector of this size."""
        try:
            parse_vector(cell, self.section.size)
        except ValueError as problem:
            return f"{problem}. Correct it, or the size in `data.sources`."
        return None

    def rows(self) -> Rows:
        """The numbers themselves."""
        return Rows(np.float32, self.section.size, lambda cell, _: parse_vector(cell, self.section.size))

    def input_size(self, vocabulary_size: int) -> InputSize:  # noqa: ARG002 (there is none)
        """How many numbers there are."""
        return self.section.size

    def reader(self, side: ModelSide) -> SourceReader:
        """Reads it as one position."""
        return _VectorReader(self.section.size, side)


class _VectorReader(SourceReader):
    def __init__(self, size: int, side: ModelSide) -> None:
        super().__init__(side)
        self._size = size

    def read(self, example: Example, text: str, *, blank: bool) -> ReadSource:
        from seqloom.data.vocabulary import Encoded

        try:
            vector = np.zeros(self._size, dtype=np.float32) if blank else parse_vector(text, self._size)
        except ValueError as problem:
            raise DataError(f"{problem}. Give as many numbers as the recipe's `data.sources` says") from problem
        return ReadSource(example, text, Encoded(vector[None], ("vector",), ((0, len(text)),)))


def parse_vector(text: str, size: int) -> npt.NDArray[np.float32]:
    """The numbers of a text, between spaces or commas. Raises ValueError with what was expected and what was found."""
    words = text.replace(",", " ").split()
    if len(words) != size:
        raise ValueError(f"expected {size} numbers, found {len(words)}: {abbreviated(text)}")
    try:
        # Python would read 1_000 as a number; nobody's table means that.
        vector = np.asarray([float(word) if "_" not in word else np.nan for word in words], dtype=np.float64)
    except ValueError:
        vector = np.full(size, np.nan)
    if not (np.abs(vector) <= np.finfo(np.float32).max).all():
        raise ValueError(f"expected {size} finite numbers, found {abbreviated(text)}")
    return vector.astype(np.float32)


def as_text(values: object) -> str | None:
    """A list of numbers as the text that stands for it; None if it is not one."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return None
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in listed):
        return None
    return " ".join(repr(value) for value in listed)
