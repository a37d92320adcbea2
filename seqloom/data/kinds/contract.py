"""What every kind of source says of itself. Whoever deals with sources asks here, and never what kind one is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import Padded
from seqloom.data.examples import Example, Origin, ProblemCode
from seqloom.data.media.files import Media
from seqloom.data.media.store import StoredFrontend
from seqloom.recipe.sections import SourceSection
from seqloom.results.layouts import Layout, Tokens
from seqloom.results.predictions import Alignment, FloatArray

if TYPE_CHECKING:
    from seqloom.data.vocabulary import Encoded, Vocabulary

InputSize = int | tuple[int, ...]
"""What an encoder must know of its source: the size of a vocabulary or of vectors, or the shape of pictures."""

Renderer = Callable[[], npt.NDArray[np.uint8]]
"""Draws a source for a person, [height, width, 3], when it is called. Raises `DataError` if it cannot be read any more."""

Section = TypeVar("Section", bound=SourceSection)


class Rows(Protocol):
    """Makes numbers of the cells of a table, to be kept in prepared data: a row for each example."""

    @property
    def kind(self) -> np.dtype[Any]:
        """Of the numbers."""
        ...

    @property
    def width(self) -> int | None:
        """How many numbers a row has; None if it is one number and no row."""
        ...

    def row(self, text: str, origin: Origin) -> npt.NDArray[Any] | int:
        """The numbers of a cell."""
        ...

    def finish(self) -> None:
        """All cells were there: raise `DataError` if some are no good."""


@dataclass(frozen=True)
class ReadSource:
    """One source of an example, read for prediction: symbols or numbers, or a file that is not opened yet."""

    example: Example
    text: str
    encoded: "Encoded | None" = None
    media: Media | None = None


@dataclass(frozen=True)
class ModelSide:
    """What models have for one source. longest: so many symbols of a text are read. features: whether they stand before it.

    tell_apart: unknown symbols get ids of their own, so that they can be copied.
    """

    name: str
    vocabulary: "Vocabulary | None" = None
    frontend: StoredFrontend | None = None
    layout: Layout = Tokens()  # noqa: RUF009 (it never changes)
    longest: int = 0
    features: bool = False
    tell_apart: bool = False


class SourceReader(ABC):
    """Reads one source of examples for prediction, as models of one recipe read it."""

    @abstractmethod
    def read(self, example: Example, text: str, *, blank: bool) -> ReadSource:
        """Read a source. blank: all sources are, so that no model is asked. Raises `DataError` without its place."""

    @abstractmethod
    def batch(self, sources: Sequence[ReadSource]) -> Padded:
        """The source of several examples, padded. Here files are opened."""

    @abstractmethod
    def alignment(self, source: ReadSource, weights: FloatArray) -> Alignment:
        """Where a model looked, weights [H, T, S]."""

    @abstractmethod
    def positions(self, source: ReadSource) -> int:
        """At how many positions a model can look."""

    def renderer(self, source: ReadSource) -> Renderer | None:  # noqa: ARG002 (most kinds are shown as they are written)
        """How the source is drawn; None if it is shown as it is written."""
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
