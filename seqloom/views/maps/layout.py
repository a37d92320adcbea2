"""Where everything stands in a heat map: rows are output symbols, columns source symbols.

Computed once in Python and handed to the page's script, so that the page, SVG and PNG agree.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seqloom.results.predictions import Alignment, Candidate
from seqloom.views.text.labels import END_SIGN, Label, estimated_width, label

GAP = 8.0
CAPTION = 16.0
COVERAGE = 34.0

_WIDTH, _HEIGHT = 900.0, 1080.0
_SMALLEST, _SMALLER, _LARGEST = 13.0, 22.0, 36.0
_NARROWEST = 46.0  # the word "coverage" stands in the left margin


@dataclass(frozen=True)
class MapLayout:
    """Sizes of one map in pixels. The grid begins at (left, top).

    angle: how far turned column labels lean; turned: which columns have one. bars: room for the bars of probability.
    """

    cell: float
    font: float
    left: float
    top: float
    bars: float
    angle: int
    turned: tuple[bool, ...]
    width: float
    height: float


def row_labels(candidate: Candidate) -> list[Label]:
    """Labels of the output symbols; the final `<end>` is a mark."""
    last = len(candidate.tokens) - 1
    return [label(token, mark=index == last and token == END_SIGN) for index, token in enumerate(candidate.tokens)]


def column_labels(alignment: Alignment | None) -> list[Label]:
    """Labels of the source symbols; those with an empty span are marks and features. None without attention."""
    if alignment is None:
        return []
    columns = enumerate(zip(alignment.symbols, alignment.spans, strict=True))
    return [label(symbol, mark=start == end, unknown=index in alignment.unknown) for index, (symbol, (start, end)) in columns]


def arrange(rows: Sequence[Label], columns: Sequence[Label], *, alone: bool = False) -> MapLayout:
    """Square cells as large as a screen allows, and margins that hold the labels.

    alone: without room for probabilities and coverage, and with smaller cells, as there may be several.
    """
    cell = min(_cell_size(len(rows), len(columns)), _SMALLER if alone else _LARGEST)
    font = round(min(max(cell * 0.5, 10.0), 15.0), 1)
    angle, turned = _turning(columns, cell)
    left = round(max([_width(one, font) for one in rows] + [_NARROWEST]) + GAP + 2)
    top = round(CAPTION + _header_height(columns, turned, angle, font) + GAP)
    bars = 0.0 if alone else 48.0 if columns else 240.0
    grid_right = left + len(columns) * cell
    beside = 0.0 if alone else GAP + bars + 44
    width = max(grid_right + beside, _overhang(columns, turned, angle, font, left, cell))
    below = GAP if alone else GAP + COVERAGE + GAP if columns else GAP + CAPTION
    height = top + len(rows) * cell + below
    return MapLayout(cell, font, left, top, bars, angle, turned, math.ceil(width), math.ceil(height))


def _cell_size(rows: int, columns: int) -> float:
    if not columns:
        return 24.0
    fitting = min(_WIDTH / columns, _HEIGHT / max(rows, 1))
    return float(math.floor(min(max(fitting, _SMALLEST), _LARGEST)))


def _turning(columns: Sequence[Label], cell: float) -> tuple[int, tuple[bool, ...]]:
    """Characters stand upright and only marks among them are turned; words are all turned, less steeply if there is room."""
    singles = sum(one.single for one in columns)
    words = sum(not one.single and not one.mark for one in columns)
    if singles >= 2 * words:
        return 90, tuple(not one.single for one in columns)
    return (50 if cell >= 20 else 90), (True,) * len(columns)


def _header_height(columns: Sequence[Label], turned: Sequence[bool], angle: int, font: float) -> float:
    lean = math.radians(angle)
    heights = [
        _width(one, font) * math.sin(lean) + font * math.cos(lean) if leans else font * 1.25
        for one, leans in zip(columns, turned, strict=True)
    ]
    return max(heights, default=0.0)


def _overhang(columns: Sequence[Label], turned: Sequence[bool], angle: int, font: float, left: float, cell: float) -> float:
    """How far to the right leaning labels reach."""
    reach = math.cos(math.radians(angle))
    ends = [
        left + (index + 0.5) * cell + _width(one, font) * reach + GAP
        for index, (one, leans) in enumerate(zip(columns, turned, strict=True))
        if leans
    ]
    return max(ends, default=0.0)


def _width(one: Label, font: float) -> float:
    return estimated_width(one.text) * font
