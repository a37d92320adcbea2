"""What every kind of source says of itself. Whoever deals with sources asks here, and never what kind one is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import Padded
from seqloom.data.examples import Example, Origin, ProblemCode
from seqloom.recipe.sections import SourceSection
from seqloom.results.layouts import Layout, Tokens
from seqloom.results.predictions import Alignment, FloatArray

if TYPE_CHECKING:
    from seqloom.data.media.catalogue import Catalogue
    from seqloom.data.media.files import Media
    from seqloom.data.media.store import StoredFrontend
    from seqloom.data.vocabulary import Encoded, Vocabulary

InputSize = int | tuple[int, ...]
"""What an encoder must know of its source: the size of a vocabulary or of vectors, or the shape of pictures."""

Renderer = Callable[[], npt.NDArray[np.uint8]]
"""Draws a source for a person, when it is called: [height, width, 3], or of what moves [frames, height, width, 3].

Raises `DataError` if it cannot be read any more."""

Player = Callable[[], bytes]
"""Gives a source that is a sound as a WAV file, when it is called. Raises `DataError` if it cannot be read any more."""

Section = TypeVar("Section", bound=SourceSection)


@dataclass(frozen=True)
class Rows:
    """How cells of a table become numbers that are kept in prepared data: `row` makes those of a cell, given with its place.

    kind: of the numbers. width: how many a row has; None if it is one number and no row. files: where cells name some.
    """

    kind: type[np.generic]
    width: int | None
    row: Callable[[str, Origin], npt.NDArray[Any] | int]
    files: "Catalogue | None" = None


@dataclass(frozen=True)
class ReadSource:
    """One source of an example, read for prediction: symbols or numbers, or a file that is not decoded yet.

    length: of a file, as how many symbols it counts. unread: so many symbols at its end are left out.
    """

    example: Example
    text: str
    encoded: "Encoded | None" = None
    media: "Media | None" = None
    unread: int = 0
    length: int = 0

    @property
    def symbols(self) -> "Encoded":
        """Of a source that is no file."""
        if self.encoded is None:
            raise TypeError(f"{self.text} is a file")
        return self.encoded


@dataclass(frozen=True)
class ModelSide:
    """What models have for one source. longest: so many symbols of a text are read. features: whether they stand before it.

    tell_apart: unknown symbols get ids of their own, so that they can be copied.
    """

    name: str
    vocabulary: "Vocabulary | None" = None
    frontend: "StoredFrontend | None" = None
    layout: Layout = Tokens()  # noqa: RUF009 (it never changes)
    longest: int = 0
    features: bool = False
    tell_apart: bool = False


class SourceReader(ABC):
    """Reads one source of examples for prediction, as models of one recipe do: symbols or numbers, unless a kind differs."""

    def __init__(self, side: ModelSide) -> None:
        self._side = side

    @abstractmethod
    def read(self, example: Example, text: str, *, blank: bool) -> ReadSource:
        """Read a source. blank: all sources are, so that no model is asked. Raises `DataError` without its place."""

    def batch(self, sources: Sequence[ReadSource]) -> Padded:
        """The source of several examples, padded. Here files are opened."""
        return Padded.of([one.symbols.ids for one in sources])

    def alignment(self, source: ReadSource, weights: FloatArray) -> Alignment:
        """Where a model looked, weights [H, T, S]."""
        return Alignment(weights, source.symbols.symbols, source.symbols.spans, self._side.layout)

    def positions(self, source: ReadSource) -> int:
        """At how many positions a model can look."""
        return len(source.symbols.ids)

    def count(self, values: npt.NDArray[Any], length: int) -> int:  # noqa: ARG002 (most positions follow from the length)
        """At how many positions a model can look in what was read: values [S, ...], as long as they are real."""
        return self._side.layout.positions(int(length))

    def at_speed(self, speed: float) -> "SourceReader":  # noqa: ARG002 (most kinds are no sounds)
        """What reads the source as it is played at a speed; itself if it cannot be heard."""
        return self

    def renderer(self, source: ReadSource) -> Renderer | None:  # noqa: ARG002 (most kinds are shown as they are written)
        """How the source is drawn; None if it is shown as it is written."""
        return None

    def player(self, source: ReadSource) -> Player | None:  # noqa: ARG002 (most kinds are no sounds)
        """What plays the source; None if it cannot be heard."""
        return None


class SourceKind(ABC, Generic[Section]):
    """One source of a recipe. section: what the recipe says of it."""

    refusal: ClassVar[ProblemCode | None] = None
    """The code of a cell that cannot be read; None if any text will do."""
    takes_lists: ClassVar[bool] = False
    """Whether it may be a list of numbers in JSON lines and Parquet, and have tabs in a line of text."""

    def __init__(self, section: Section) -> None:
        self.section = section

    def trouble_with(self, cell: str) -> str | None:  # noqa: ARG002 (most kinds take any text)
        """What is wrong with a cell of a table, as far as can be told from the cell alone."""
        return None

    @abstractmethod
    def rows(self) -> Rows:
        """What makes numbers of cells. Text has none: a vocabulary makes symbols of it."""

    @abstractmethod
    def input_size(self, vocabulary_size: int) -> InputSize:
        """What an encoder of it must know. vocabulary_size: of the source; 0 if it has no vocabulary."""

    @abstractmethod
    def reader(self, side: ModelSide) -> SourceReader:
        """What reads it for prediction."""
