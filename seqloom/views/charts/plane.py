"""The plane of encodings, as a drawing and as a page in which one points at a text to see it and its neighbours.

Groups differ in colour and in shape, so that a grey print tells them apart, too.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqloom.errors import UsageError
from seqloom.results.plane import Plane
from seqloom.system.atomic_files import write_file
from seqloom.views.drawing.page import embedded, foreign, headline, number, page, text
from seqloom.views.drawing.shapes import document, text_line
from seqloom.views.drawing.theme import LIGHT, group_style
from seqloom.views.text.labels import clean, estimated_width, isolated, shortened, starts_right_to_left

JSON_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away; new fields do not count."""

MOST_TEXTS = 2000
"""More points than this hide each other, and browsers are slow with them."""

NEIGHBOURS = 3

_WIDTH, _HEIGHT, _MARGIN, _TITLE = 760.0, 470.0, 14.0, 28.0
_MOST_NUMBERED = 60
"""So many texts are numbered and listed below a drawing; of more, one sees the groups."""
_RADIUS, _FONT, _LINE = 5.0, 12.0, 18.0
_LONGEST = 90
_MOST_GROUPS = 24
"""So many groups have a mark of their own; further ones begin again."""


def write_plane(plane: Plane, path: str | Path, *, title: str) -> Path:
    """Write a plane as .html, .svg or .json, and return the path."""
    path = Path(path)
    require_plane_ending(path)
    if len(plane.texts) > MOST_TEXTS:
        raise UsageError(f"{len(plane.texts):,} texts do not fit into a plane, {MOST_TEXTS:,} do. Give fewer")
    match path.suffix.lower():
        case ".html":
            content = plane_page(plane, title)
        case ".svg":
            content = plane_svg(plane, title)
        case _:
            body = {"version": JSON_VERSION, **plane.as_json(NEIGHBOURS)}
            content = json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n"
    write_file(path, content.encode("utf-8"))
    return path


def require_plane_ending(path: Path) -> None:
    """Refuse a name whose ending says none of the forms, before any work is spent."""
    if path.suffix.lower() not in (".html", ".svg", ".json"):
        got = f"the ending '{path.suffix}'" if path.suffix else "no ending"
        raise UsageError(f"{path}: for a plane, expected a file name that ends in .html, .svg or .json, got {got}.")


# --- the drawing ----------------------------------------------------------------------------------------------------


def plane_svg(plane: Plane, title: str = "") -> str:
    """The plane as a whole SVG file, with its texts listed below by number, or their groups if there are many."""
    numbered = len(plane.texts) <= _MOST_NUMBERED
    top = _TITLE + _MARGIN if title else _MARGIN
    heading = text_line(_MARGIN, _MARGIN + 14, clean(title), "ink bold", size=15) if title else ""
    listed, width, height = _list(plane, numbered=numbered)
    width = max(width, _WIDTH, estimated_width(title) * 15)
    body = (
        f"{heading}<g transform='translate({_MARGIN:g} {top:g})'>{_points(plane, numbered=numbered, tooltips=True)}</g>"
        f"<g transform='translate({_MARGIN:g} {top + _HEIGHT + 34:g})'>{listed}</g>"
    )
    return document(
        width + 2 * _MARGIN,
        top + _HEIGHT + 34 + height + _MARGIN,
        body,
        description=title or "Plane of encodings",
        style=group_style(),
    )


def _points(plane: Plane, *, numbered: bool, tooltips: bool) -> str:
    """Frame, captions of the axes and points, 760 by 470 and a caption below."""
    places = _places(plane)
    marks = _marks(plane)
    captions = [
        f"{name} principal component, {100 * share:.0f} % of the variance \u2192"
        for name, share in zip(("first", "second"), plane.shares, strict=True)
    ]
    parts = [
        f'<rect class="panel" x="0" y="0" width="{_WIDTH:g}" height="{_HEIGHT:g}" rx="4"/>',
        text_line(_WIDTH, _HEIGHT + 15, captions[0], "quiet", size=11, anchor="end"),
        f'<g transform="translate(13 10) rotate(-90)">{text_line(0, 0, captions[1], "quiet", size=11, anchor="end")}</g>',
    ]
    for index, ((x, y), mark) in enumerate(zip(places, marks, strict=True)):
        tooltip = f"<title>{text(_described(plane, index))}</title>" if tooltips else ""
        parts.append(f'<g class="point" data-index="{index}">{tooltip}{_mark(mark, x, y)}</g>')
    if numbered:
        spots = _number_spots(places)
        parts += [
            text_line(x, y + 3.4, str(index + 1), "ink num", size=10, anchor="middle") for index, (x, y) in enumerate(spots)
        ]
    return "".join(parts)


def _places(plane: Plane) -> list[tuple[float, float]]:
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


def _number_spots(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where each point's number goes: around it, where neither a point nor another number is, if there is such a place."""
    taken: list[tuple[float, float]] = list(places)
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


def _marks(plane: Plane) -> list[int]:
    """The mark of each text: that of its group, in the order in which groups come."""
    order = {group: index for index, group in enumerate(dict.fromkeys(plane.groups))}
    return [order[group] % _MOST_GROUPS for group in plane.groups]


def _mark(mark: int, x: float, y: float) -> str:
    """A disc, square, triangle or diamond in one of six colours; 24 in all."""
    kind, size = f"g{mark % len(LIGHT.groups)}", _RADIUS
    match (mark + mark // 12) % 4:
        case 0:
            return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{size:g}"/>'
        case 1:
            side = 1.8 * size
            place = f'x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:g}" height="{side:g}"'
            return f'<rect class="{kind}" {place}/>'
        case 2:
            corners = [(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)]
        case _:
            corners = [(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)]
    points = " ".join(f"{x + size * across:.1f},{y + size * down:.1f}" for across, down in corners)
    return f'<polygon class="{kind}" points="{points}"/>'


def _described(plane: Plane, index: int) -> str:
    group = f" ({isolated(plane.groups[index])})" if plane.groups[index] else ""
    return f"{index + 1}  {isolated(plane.texts[index])}{group}"


def _list(plane: Plane, *, numbered: bool) -> tuple[str, float, float]:
    """The texts below each other under the name of their group, in columns, or the names alone; with width and height."""
    blocks = _blocks(plane, numbered=numbered)
    widest = max((estimated_width(line) * _FONT + 46 for _, lines in blocks for line, _ in lines), default=0.0)
    widest = max([widest, *(estimated_width(shortened(name, _LONGEST)) * _FONT + 40 for name, _ in blocks)])
    columns = max(1, min(len(blocks), int(_WIDTH // widest)))
    tallest = math.ceil(sum(len(lines) + bool(name) for name, lines in blocks) / columns)
    marks, parts = _marks(plane), []
    column, row, deepest = 0, 0, 0
    for name, lines in blocks:
        if row and row + len(lines) + bool(name) > tallest + 1 and column + 1 < columns:
            column, row = column + 1, 0
        left = column * _WIDTH / columns
        mark = marks[plane.groups.index(name)]
        if name:
            parts.append(
                _mark(mark, left + 8, row * _LINE + 8) + _listed(left + 20, row, shortened(name, _LONGEST), "ink bold")
            )
            row += 1
        for line, index in lines:
            number_at = text_line(left + 34, row * _LINE + 12, str(index + 1), "quiet num", size=_FONT, anchor="end")
            parts.append(number_at + _listed(left + 42, row, line, "ink"))
            row += 1
        deepest = max(deepest, row)
    return "".join(parts), widest, deepest * _LINE


def _blocks(plane: Plane, *, numbered: bool) -> list[tuple[str, list[tuple[str, int]]]]:
    """Groups with their texts and the texts' indices; without texts if those are not numbered."""
    names = list(dict.fromkeys(plane.groups))
    if not numbered:
        return [(name, []) for name in names[:_MOST_GROUPS] if name]
    return [
        (
            name,
            [
                (shortened(clean(one), _LONGEST), index)
                for index, (one, group) in enumerate(zip(plane.texts, plane.groups, strict=True))
                if group == name
            ],
        )
        for name in names
    ]


def _listed(left: float, row: int, content: str, kind: str) -> str:
    # A list is read from its left edge, whatever the script: in a right-to-left text that is its end.
    rtl = starts_right_to_left(content)
    return text_line(left, row * _LINE + 12, clean(content), kind, size=_FONT, rtl=rtl)


# --- the page -------------------------------------------------------------------------------------------------------


def plane_page(plane: Plane, title: str) -> str:
    """A page with the plane and a table of all texts and their nearest neighbours."""
    names = [name for name in dict.fromkeys(plane.groups) if name]
    marks = _marks(plane)
    keys = "".join(
        f'<li><svg class="sl" width="16" height="16" viewBox="0 0 16 16">{_mark(marks[plane.groups.index(name)], 8, 8)}</svg>'
        f"{foreign(name)}</li>"
        for name in names
    )
    drawing = (
        f'<svg class="sl" viewBox="-2 -2 {_WIDTH + 4:g} {_HEIGHT + 24:g}" role="img" aria-label="Plane of encodings">'
        f'{_points(plane, numbered=len(plane.texts) <= _MOST_NUMBERED, tooltips=False)}<g class="links"></g></svg>'
    )
    body = (
        f'<style>{group_style()}</style><main class="report">{headline(title)}{_agreement(plane)}'
        f'<section class="seqloom-plane"><ul class="groups">{keys}</ul><div class="plot">{drawing}</div>'
        f"{_table(plane)}{embedded(_data(plane))}</section></main>"
    )
    return page(title, body, styles=("report.css", "plane.css"), scripts=("plane.js",))


def _agreement(plane: Plane) -> str:
    nearest, able = plane.alike
    if not able:
        return ""
    return f'<p class="summary">The nearest neighbour belongs to the same group for {nearest:,} of {able:,} texts.</p>'


def _table(plane: Plane) -> str:
    columns = (
        f'<th class="num">number</th><th>text</th><th>group</th><th colspan="{NEIGHBOURS}">nearest, with cosine distance</th>'
    )
    rows = "".join(_row(plane, index) for index in range(len(plane.texts)))
    return f'<div class="wide"><table class="neighbours"><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>'


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
                "at": [round(x, 1), round(y, 1)],
                "text": clean(plane.texts[index]),
                "group": clean(plane.groups[index]),
                "near": [[other, _distance(plane, index, other)] for other in plane.neighbours(index, NEIGHBOURS)],
            }
            for index, (x, y) in enumerate(_places(plane))
        ]
    }
