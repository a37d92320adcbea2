"""How probable each class is that a model considered: names with bars, for outputs that are classes."""

from collections.abc import Iterator
from dataclasses import dataclass

from seqloom.results.predictions import Prediction
from seqloom.views.drawing.sketch import Rectangle, Shape, TextLine
from seqloom.views.maps.layout import CAPTION, GAP
from seqloom.views.text.labels import clean, estimated_width, shortened

_LINE, _SIZE, _FULL, _NUMBER = 22.0, 13.0, 240.0, 52.0
_LONGEST_NAME = 40
_REST = 0.0005
"""So small a share would be written as 0.0 %."""


@dataclass(frozen=True)
class ClassBars:
    """Classes with their probabilities, the most probable first. rest: the share of all that are not listed."""

    classes: tuple[tuple[str, float], ...]
    rest: float

    @property
    def left(self) -> float:
        """Where the bars begin: right of the longest name."""
        return max(estimated_width(name) for name, _ in self._lines) * _SIZE * 1.1 + GAP

    @property
    def width(self) -> float:
        """From the names to the numbers."""
        return self.left + _FULL + _NUMBER

    @property
    def height(self) -> float:
        """A line for each class, and the caption."""
        return len(self._lines) * _LINE + CAPTION + GAP

    @property
    def _lines(self) -> list[tuple[str, float]]:
        return [*self.classes, *([("all others", self.rest)] if self.rest > _REST else [])]

    def shapes(self, x: float, y: float) -> Iterator[Shape]:
        """The bars with their upper left corner at (x, y)."""
        bars = x + self.left
        for index, (name, share) in enumerate(self._lines):
            top, listed = y + index * _LINE, index < len(self.classes)
            base, kind = top + _LINE / 2 + _SIZE * 0.35, "ink" if listed else "quiet"
            yield TextLine(bars - GAP, base, name, kind, _SIZE, "end", bold=index == 0)
            yield Rectangle(bars, top + 4, max(share * _FULL, 1.0), _LINE - 8, kind="accent" if listed else "quiet", faint=True)
            yield TextLine(bars + share * _FULL + 6, base, f"{share:.1%}", "quiet", 11)
        yield TextLine(bars, y + len(self._lines) * _LINE + CAPTION - 4, "probability of each class", "quiet", 11)


def class_bars(prediction: Prediction) -> ClassBars | None:
    """Plan the bars; None if outputs are no classes, or one alone was asked for."""
    shares = [(shortened(clean(one.text), _LONGEST_NAME), one.probability) for one in prediction.candidates]
    known = tuple((name, share) for name, share in shares if share is not None)
    return ClassBars(known, 1.0 - sum(share for _, share in known)) if len(known) == len(shares) > 1 else None
