"""How the positions lie that an encoder writes, so that whoever names or draws them need not know what was read."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Tokens:
    """One after the other, a position for each thing that was read: the symbols of a text, or one vector."""

    def positions(self, length: int) -> int:
        """How many positions an encoder writes for so many that it read."""
        return length


@dataclass(frozen=True)
class Sentences(Tokens):
    """One after the other, a position for each sentence of a text."""

    def sentences(self, closing: Sequence[bool]) -> list[slice]:
        """Where the sentences of a text lie among its symbols. closing: which symbols close one; the last one does anyway."""
        ends = [place + 1 for place, closes in enumerate(closing) if closes or place + 1 == len(closing)]
        return [slice(start, end) for start, end in pairwise([0, *ends])]


@dataclass(frozen=True)
class Grid:
    """Over a picture, row by row from the top left."""

    rows: int
    columns: int

    @property
    def places(self) -> int:
        """How many positions there are."""
        return self.rows * self.columns

    def positions(self, length: int) -> int:  # noqa: ARG002 (a picture is one thing, however finely it was looked at)
        """How many positions an encoder writes: as many for every picture."""
        return self.places

    def names(self) -> tuple[str, ...]:
        """Row and column of each position, from 1."""
        return tuple(f"{row},{column}" for row in range(1, self.rows + 1) for column in range(1, self.columns + 1))


@dataclass(frozen=True)
class Frames:
    """In time: of a file that became rows, a position for every `stride` of them.

    seconds: from one row to the next, where that is known. beyond: so long a row goes on after the next begins.
    """

    stride: int = 1
    seconds: float | None = None
    beyond: float = 0.0

    def positions(self, length: int) -> int:
        """How many positions an encoder writes for so many rows."""
        return -(-length // self.stride)

    def names(self, count: int) -> tuple[str, ...]:
        """The row at which each of so many positions begins, from 1; the time, in seconds, where that is known."""
        if self.seconds is None:
            return tuple(str(1 + self.stride * one) for one in range(count))
        return tuple(f"{one * self.stride * self.seconds:.2f}" for one in range(count))

    @property
    def position_seconds(self) -> float:
        """From one position to the next; 0 where that is not known."""
        return self.stride * (self.seconds or 0.0)


@dataclass(frozen=True)
class Film:
    """In time and space: a grid for every frame, one grid after the other, each row by row from the top left."""

    rows: int
    columns: int

    @property
    def places(self) -> int:
        """How many positions a frame has."""
        return self.rows * self.columns

    def positions(self, length: int) -> int:
        """How many positions an encoder writes for so many frames."""
        return length * self.places

    def names(self, count: int) -> tuple[str, ...]:
        """Frame, row and column of each of so many positions, from 1."""
        cells = Grid(self.rows, self.columns).names()
        return tuple(f"{1 + one // self.places},{cells[one % self.places]}" for one in range(count))


Layout = Tokens | Grid | Frames | Film
