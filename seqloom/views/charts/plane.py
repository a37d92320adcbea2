"""The plane of encodings, as a drawing and as a page in which one points at a text to see it and its neighbours.

Groups differ in colour and in shape, so that a grey print tells them apart, too. Where there are hardly fewer groups than
texts, as where each text has a target of its own, they are none.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqloom.errors import UsageError
from seqloom.results.plane import Doubles, Plane
from seqloom.views.drawing.forms import as_document, write_form
from seqloom.views.drawing.page import embedded, foreign, header, number, section, sheet, wide_table
from seqloom.views.drawing.sketch import Area, Group, Point, Rectangle, Shape, Sketch, TextLine
from seqloom.views.drawing.theme import LIGHT, group_style
from seqloom.views.text.labels import clean, estimated_width, isolated, shortened, visible

JSON_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away; new fields do not count."""

MOST_TEXTS = 2000
"""More points than this hide each other, and browsers are slow with them."""

NEIGHBOURS = 3

_WIDTH, _HEIGHT, _MARGIN, _TITLE = 760.0, 470.0, 14.0, 28.0
_CAPTION = 18.0
_MOST_NUMBERED = 60
"""So many texts are numbered and listed below a drawing; of more, one sees the groups."""
_RADIUS, _FONT, _LINE, _LABEL = 5.0, 12.0, 18.0, 11.0
_LONGEST = 90
_LONGEST_LABEL = 24
"""Texts up to this length stand beside their points; longer ones are numbered."""
_MOST_GROUPS = 24
"""So many groups have a mark of their own: six colours, four shapes."""


def write_plane(plane: Plane, path: str | Path, *, title: str) -> Path:
    """Write a plane as .html, .svg, .png or .json, and return the path."""
    if len(plane.texts) > MOST_TEXTS:
        raise UsageError(f"{len(plane.texts):,} texts do not fit into a plane, {MOST_TEXTS:,} do. Give fewer")
    return write_form(
        path,
        {
            ".html": lambda: plane_page(plane, title),
            ".svg": lambda: plane_sketch(plane, title).svg(title),
            ".png": lambda: plane_sketch(plane, title).png(),
            ".json": lambda: as_document(JSON_VERSION, plane.as_json(NEIGHBOURS)),
        },
    )


# --- groups ---------------------------------------------------------------------------------------------------------


def _is_grouped(plane: Plane) -> bool:
    """Whether groups are few enough to be told apart, and many of them hold more than one text."""
    grouped = [group for group in plane.groups if group]
    names = set(grouped)
    return 0 < len(names) <= _MOST_GROUPS and 3 * len(names) <= 2 * len(grouped)


def _marks(plane: Plane) -> list[int]:
    """The mark of each text: that of its group, in the order in which groups come; all alike where there are none."""
    if not _is_grouped(plane):
        return [0] * len(plane.texts)
    order = {group: index for index, group in enumerate(dict.fromkeys(plane.groups))}
    return [order[group] % _MOST_GROUPS for group in plane.groups]


def _mark(mark: int, x: float, y: float) -> Shape:
    """A disc, square, triangle or diamond in one of six colours; 24 in all."""
    kind, size = f"g{mark % len(LIGHT.groups)}", _RADIUS
    match (mark + mark // 12) % 4:
        case 0:
            return Area([(x, y)], kind, size)
        case 1:
            side = 1.8 * size
            return Rectangle(x - side / 2, y - side / 2, side, side, kind)
        case 2:
            corners = [(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)]
        case _:
            corners = [(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)]
    return Area([(x + size * across, y + size * down) for across, down in corners], kind)


# --- the drawing ----------------------------------------------------------------------------------------------------


def plane_sketch(plane: Plane, title: str = "") -> Sketch:
    """The plane with texts beside their points, or listed below by number; of many long texts, their groups alone."""
    top = _MARGIN + (_TITLE if title else 0.0)
    heading: list[Shape] = [TextLine(_MARGIN, _MARGIN + 14, title, size=15, bold=True)] if title else []
    listed, width, height = _list(plane, _MARGIN, top + _CAPTION + _HEIGHT + 34)
    width = max(width, _WIDTH, estimated_width(title) * 15)
    shapes = [*heading, *_points(plane, _MARGIN, top, tooltips=True), *listed]
    return Sketch(width + 2 * _MARGIN, top + _CAPTION + _HEIGHT + 34 + height + _MARGIN, shapes)


def _points(plane: Plane, left: float, top: float, *, tooltips: bool) -> list[Shape]:
    """Captions of the axes, frame and points: 760 by 506."""
    across, upward = (f"{100 * share:.0f} % of the variance" for share in plane.shares)
    shapes: list[Shape] = [
        TextLine(left, top + 10, f"\u2191 second principal component, {upward}", "quiet", 11),
        Rectangle(left, top + _CAPTION, _WIDTH, _HEIGHT, "panel"),
        TextLine(
            left + _WIDTH, top + _CAPTION + _HEIGHT + 15, f"first principal component, {across} \u2192", "quiet", 11, "end"
        ),
    ]
    places = [(left + x, top + _CAPTION + y) for x, y in _places(plane)]
    for index, (place, mark) in enumerate(zip(places, _marks(plane), strict=True)):
        shapes.append(Group([_mark(mark, *place)], _described(plane, index) if tooltips else "", "point", index))
    if _is_short(plane):
        return [*shapes, *_labels(plane, places, (left, top + _CAPTION))]
    if _is_numbered(plane):
        spots = enumerate(_number_spots(places), start=1)
        shapes += [TextLine(x, y + 3.4, str(count), size=10, anchor="middle") for count, (x, y) in spots]
    return shapes


def _is_short(plane: Plane) -> bool:
    return all(len(one) <= _LONGEST_LABEL for one in plane.texts)


def _is_numbered(plane: Plane) -> bool:
    return len(plane.texts) <= _MOST_NUMBERED and not _is_short(plane)


def _places(plane: Plane) -> list[Point]:
    """Where points lie in pixels; both axes have one scale, because distances are what one looks at."""
    low, high = plane.places.min(axis=0), plane.places.max(axis=0)
    margin = 34.0
    spans = [max(float(one), 1e-12) for one in high - low]
    scale = min((_WIDTH - 2 * margin) / spans[0], (_HEIGHT - 2 * margin) / spans[1])
    middle = (low + high) / 2
    return [
        (_WIDTH / 2 + float(x - middle[0]) * scale, _HEIGHT / 2 - float(y - middle[1]) * scale)
        for x, y in plane.places.tolist()
    ]


def _labels(plane: Plane, places: Sequence[Point], corner: Point) -> Iterator[Shape]:
    """The texts beside their points, as many as have room: a label covers neither a point nor another label."""
    reach = _RADIUS + 1
    taken = np.array([[x - reach, y - reach, x + reach, y + reach] for x, y in places])
    frame = (corner[0], corner[1], corner[0] + _WIDTH, corner[1] + _HEIGHT)
    for index, (x, y) in enumerate(places):
        shown = visible(clean(plane.texts[index]))
        others = np.delete(taken, index, axis=0)  # its own point it may touch
        for box, anchor in _beside(x, y, estimated_width(shown) * _LABEL + 2):
            if _is_within(box, frame) and not _overlaps(box, others):
                start = box[0] if anchor == "start" else box[2] if anchor == "end" else x
                yield TextLine(start, box[3] - 3, shown, size=_LABEL, anchor=anchor)
                taken = np.vstack([taken, box])
                break


Bounds = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def _beside(x: float, y: float, width: float) -> Iterator[tuple[Bounds, str]]:
    """Where a label of some width may stand, the best place first."""
    high, gap = 13.0, _RADIUS + 3
    for down in (0.0, -8.0, 8.0):
        yield (x + gap, y - high / 2 + down, x + gap + width, y + high / 2 + down), "start"
        yield (x - gap - width, y - high / 2 + down, x - gap, y + high / 2 + down), "end"
    yield (x - width / 2, y - gap - high, x + width / 2, y - gap), "middle"
    yield (x - width / 2, y + gap, x + width / 2, y + gap + high), "middle"


def _is_within(box: Bounds, frame: Bounds) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _overlaps(box: Bounds, others: Doubles) -> bool:
    left, top, right, bottom = box
    apart = (others[:, 2] <= left) | (others[:, 0] >= right) | (others[:, 3] <= top) | (others[:, 1] >= bottom)
    return not bool(apart.all())


def _number_spots(places: Sequence[Point]) -> list[Point]:
    """Where each point's number goes: around it, where neither a point nor another number is, if there is such a place."""
    taken: list[Point] = list(places)
    spots = []
    for x, y in places:
        around = [
            (x + reach * math.cos(turn * math.pi / 4), y - reach * math.sin(turn * math.pi / 4))
            for reach in (12.0, 20.0)
            for turn in range(8)
        ]
        free = (spot for spot in around if all(math.dist(spot, other) > 10.5 for other in taken if other != (x, y)))
        spots.append(next(free, around[0]))
        taken.append(spots[-1])
    return spots


def _described(plane: Plane, index: int) -> str:
    group = f" ({isolated(plane.groups[index])})" if plane.groups[index] else ""
    return f"{index + 1}  {isolated(plane.texts[index])}{group}"


def _list(plane: Plane, left: float, top: float) -> tuple[list[Shape], float, float]:
    """The texts below each other under the name of their group, in columns, or the names alone; with width and height."""
    blocks = _blocks(plane)
    widest = max((estimated_width(line) * _FONT + 46 for _, lines in blocks for line, _ in lines), default=0.0)
    widest = max([widest, 1.0, *(estimated_width(shortened(name, _LONGEST)) * _FONT + 40 for name, _ in blocks)])
    columns = max(1, min(len(blocks), int(_WIDTH // widest)))
    tallest = math.ceil(sum(len(lines) + bool(name) for name, lines in blocks) / columns)
    marks, shapes = _marks(plane), list[Shape]()
    column, row, deepest = 0, 0, 0
    for name, lines in blocks:
        if row and row + len(lines) + bool(name) > tallest + 1 and column + 1 < columns:
            column, row = column + 1, 0
        x = left + column * _WIDTH / columns
        if name:
            y = top + row * _LINE
            shapes += [
                _mark(marks[plane.groups.index(name)], x + 8, y + 8),
                TextLine(x + 20, y + 12, shortened(name, _LONGEST), size=_FONT, bold=True),
            ]
            row += 1
        for line, index in lines:
            y = top + row * _LINE + 12
            shapes += [TextLine(x + 34, y, str(index + 1), "quiet", _FONT, "end"), TextLine(x + 42, y, line, size=_FONT)]
            row += 1
        deepest = max(deepest, row)
    return shapes, widest, deepest * _LINE


def _blocks(plane: Plane) -> list[tuple[str, list[tuple[str, int]]]]:
    """Groups with their numbered texts and the texts' indices; without texts if those are not numbered."""
    names = list(dict.fromkeys(plane.groups)) if _is_grouped(plane) else []
    if not _is_numbered(plane):
        return [(name, []) for name in names if name]
    texts = [(shortened(clean(one), _LONGEST), index) for index, one in enumerate(plane.texts)]
    if not names:
        return [("", texts)]
    return [(name, [one for one in texts if plane.groups[one[1]] == name]) for name in names]


# --- the page -------------------------------------------------------------------------------------------------------


def plane_page(plane: Plane, title: str) -> str:
    """A page with the plane and a table of all texts and their nearest neighbours."""
    names = [name for name in dict.fromkeys(plane.groups) if name] if _is_grouped(plane) else []
    marks = _marks(plane)
    keys = "".join(f"<li>{_key(marks[plane.groups.index(name)])}{foreign(name)}</li>" for name in names)
    drawn = Sketch(_WIDTH, _CAPTION + _HEIGHT + 20, _points(plane, 0, 0, tooltips=False)).inline("Plane of encodings")
    drawing = drawn.replace("</svg>", '<g class="links"></g></svg>')
    plot = (
        f'<div class="seqloom-plane"><ul class="groups">{keys}</ul><div class="plot"><div class="wide">{drawing}</div></div>'
        f"{_table(plane)}{embedded(_data(plane))}</div>"
    )
    style = f"<style>{group_style()}</style>"
    parts = style, header(title, _agreement(plane)), section("", plot)
    return sheet(title, *parts, styles=("plane.css",), scripts=("elements.js", "plane.js"))


def _key(mark: int) -> str:
    return f'<svg class="sl" width="16" height="16" viewBox="0 0 16 16">{_mark(mark, 8, 8).svg()}</svg>'


def _agreement(plane: Plane) -> str:
    nearest, able = plane.alike
    if not able or not _is_grouped(plane):
        return f"Close together: what the encoder takes to be alike. {len(plane.texts):,} texts."
    return f"The nearest neighbour belongs to the same group for {nearest:,} of {able:,} texts."


def _table(plane: Plane) -> str:
    beside = "group" if _is_grouped(plane) else "target"
    nearest = f'<th colspan="{NEIGHBOURS}">nearest, with cosine distance</th>'
    columns = f'<th class="num">number</th><th>text</th><th>{beside}</th>{nearest}'
    return wide_table(columns, "".join(_row(plane, index) for index in range(len(plane.texts))), "neighbours")


def _row(plane: Plane, index: int) -> str:
    near = "".join(
        f"<td>{foreign(plane.texts[other])} <small>{_distance(plane, index, other)}</small></td>"
        for other in plane.neighbours(index, NEIGHBOURS)
    )
    own = f"<th>{foreign(plane.texts[index])}</th><td>{foreign(plane.groups[index])}</td>"
    return f'<tr data-index="{index}"><td class="num">{index + 1}</td>{own}{near}</tr>'


def _distance(plane: Plane, index: int, other: int) -> str:
    return number(float(plane.distances[index, other]), 4)


def _data(plane: Plane) -> dict[str, Any]:
    """What pointing shows, for the script."""
    return {
        "points": [
            {
                "at": [round(x, 1), round(y + _CAPTION, 1)],
                "text": clean(plane.texts[index]),
                "group": clean(plane.groups[index]),
                "near": [[other, _distance(plane, index, other)] for other in plane.neighbours(index, NEIGHBOURS)],
            }
            for index, (x, y) in enumerate(_places(plane))
        ]
    }
