"""Heat maps and strips of pictures as SVG."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from seqloom.results.predictions import Alignment, Candidate, FloatArray
from seqloom.views.drawing.shapes import document, label_text, rectangle, text_line
from seqloom.views.drawing.theme import LEVELS, level
from seqloom.views.maps.chosen import by_look, chosen_sources, chosen_weights, probability
from seqloom.views.maps.class_bars import class_bars
from seqloom.views.maps.exhibits import Exhibit, Picture
from seqloom.views.maps.inner import InnerMap, heading, in_lines, inner_maps
from seqloom.views.maps.layout import CAPTION, COVERAGE, GAP, MapLayout, arrange, column_labels, row_labels
from seqloom.views.maps.overlays import is_pictured
from seqloom.views.maps.reels import plan_reels, reel_svg, without_reels
from seqloom.views.maps.strips import plan_strip, strip_svg
from seqloom.views.text.labels import Label, clean, estimated_width, isolated, starts_right_to_left, wrapped

LEGEND = 34.0
_MARGIN = 12.0
_TITLE = 30.0
_LEAST_WIDTH = 400.0
WIDEST = 960.0
"""Rounds stand beside each other up to this width."""
HEADING = 18.0
NOTE_SIZE, NOTE_LINE = 11.0, 18.0

UNKNOWN_NOTE = "orange: not in the model's vocabulary"
NO_ATTENTION = "This model has no attention; only probabilities can be shown."


class _Panel(NamedTuple):
    """A piece of a drawing. shades: it needs the legend of shades. notes: what else is to be said at the foot, once."""

    width: float
    height: float
    body: str
    shades: bool = False
    notes: Sequence[str] = ()


def to_svg(
    candidate: Candidate,
    *,
    source: str | None = None,
    head: int | None = None,
    title: str = "",
    pictures: Mapping[str, Picture] | None = None,
) -> str:
    """One output's attention as a whole SVG file: a heat map for each source, a strip for one that is a picture.

    source: draw only this one of several sources. head: draw this head (from 0) instead of the mean. pictures: by source
    name. Without attention, the drawing shows the probabilities and says so.
    """
    return _stacked(list(_panels(candidate, pictures or {}, source, head)), title, title or candidate.text)


def several_to_svg(exhibits: Sequence[Exhibit], *, title: str = "") -> str:
    """The best outputs of several predictions one below the other, each below its label; of classes, how probable each is."""
    panels: list[_Panel] = []
    for number, one in enumerate(exhibits):
        panels += [_heading(one.label)] if one.label else []
        reels = plan_reels(one)
        panels += [_Panel(reel.width, reel.height, reel_svg(reel), notes=reel.notes) for reel in reels]
        if (bars := class_bars(one.prediction)) is not None:
            panels.append(_Panel(bars.width, bars.height, "".join(shape.svg() for shape in bars.shapes(0, 0))))
        if (left := without_reels(one.in_time.best, reels)) is not None and (left.alignment or bars is None):
            panels += _panels(left, one.pictures, number=number)
        for look in one.inside:
            panels += [_heading(heading(look)), *map(_beside, in_lines([*inner_maps(look)], WIDEST))]
    return _stacked(panels, title, title or exhibits[0].prediction.text)


def _stacked(panels: Sequence[_Panel], title: str, description: str) -> str:
    top = _TITLE + _MARGIN if title else _MARGIN
    rtl = starts_right_to_left(title)
    parts = [text_line(_MARGIN, top - GAP - 2, clean(title), "ink bold", size=15, rtl=rtl)] if title else []
    for panel in panels:
        parts.append(f'<g transform="translate({_MARGIN:g} {top:g})">{panel.body}</g>')
        top += panel.height + GAP
    width = max(max(panel.width for panel in panels), len(title) * 8.5, _LEAST_WIDTH) + 2 * _MARGIN
    notes = "; ".join(dict.fromkeys(note for panel in panels for note in panel.notes))
    for line in wrapped(notes, (width - 2 * _MARGIN) / NOTE_SIZE) if notes else []:
        parts.append(text_line(_MARGIN, top + 10, line, "quiet", size=NOTE_SIZE))
        top += NOTE_LINE
    if any(panel.shades for panel in panels):
        parts.append(_legend(_MARGIN, top))
        top += LEGEND
    return document(width, top + GAP, "".join(parts), description=description)


def static_drawing(candidate: Candidate, name: str | None) -> str:
    """Draw one source for use inside a page, which brings style and legend, and tooltips by its script."""
    panel = _heat_map(candidate, name, None, tooltips=False)
    return _in_page(panel.width, panel.height, panel.body)


def _in_page(width: float, height: float, body: str) -> str:
    return f'<svg class="sl" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">{body}</svg>'


def _panels(
    candidate: Candidate,
    pictures: Mapping[str, Picture],
    source: str | None = None,
    head: int | None = None,
    number: int = 0,
) -> Iterator[_Panel]:
    """One panel per source. number: of the prediction among those of the drawing."""
    candidate = by_look(candidate) if source is None and head is None else candidate
    for index, name in enumerate(chosen_sources(candidate, source)):
        if name is None or not is_pictured(candidate.alignment[name]):
            yield _heat_map(candidate, name, head, tooltips=True)
        else:
            strip = plan_strip(candidate, name, pictures.get(name), head)
            drawn = strip_svg(strip, f"picture-{number}-{index}")
            yield _Panel(strip.width, strip.height, drawn, notes=strip.notes)


def _heading(label: str) -> _Panel:
    return _Panel(estimated_width(label) * 14, HEADING, text_line(0, HEADING - 4, clean(label), "ink bold", size=14))


def _beside(line: Sequence[InnerMap]) -> _Panel:
    """Rounds beside each other."""
    parts, left = [], 0.0
    for one in line:
        parts.append(f'<g transform="translate({left:g} 0)">{_inner_body(one, tooltips=True)}</g>')
        left += one.layout.width + GAP
    return _Panel(left, max(one.layout.height for one in line), "".join(parts), shades=True)


def inner_drawing(one: InnerMap) -> str:
    """Draw one round for use inside a page, which brings style and legend, and tooltips by its script."""
    return _in_page(one.layout.width, one.layout.height, _inner_body(one, tooltips=False))


def _inner_body(one: InnerMap, *, tooltips: bool) -> str:
    layout = one.layout
    return (
        _row_labels(one.rows, layout)
        + _column_labels(one.columns, layout)
        + _cells(one.weights, one.rows, one.columns, layout, tooltips=tooltips)
        + text_line(layout.left, 11, one.across, "quiet", size=11)
        + text_line(layout.left - GAP, layout.top - GAP, one.down, "quiet", size=11, anchor="end")
    )


def _heat_map(candidate: Candidate, name: str | None, head: int | None, *, tooltips: bool) -> _Panel:
    """One source's map; only the probabilities if the model has no attention."""
    alignment = candidate.alignment[name] if name is not None else None
    rows, columns = row_labels(candidate), column_labels(alignment)
    layout = arrange(rows, columns)
    parts = [_row_labels(rows, layout), _probabilities(candidate, len(columns), layout)]
    if alignment is not None and name is not None:
        weights = chosen_weights(alignment, head)
        parts += [
            _column_labels(columns, layout),
            _cells(weights, rows, columns, layout, tooltips=tooltips),
            _coverage(weights, columns, layout),
            text_line(layout.left, 11, f"{isolated(clean(name))} \u2192", "quiet", size=11),
            text_line(layout.left - GAP, layout.top - GAP, "output \u2193", "quiet", size=11, anchor="end"),
        ]
    return _Panel(layout.width, layout.height, "".join(parts), alignment is not None, map_notes(alignment))


def map_notes(alignment: Alignment | None) -> list[str]:
    """How a heat map is to be read, where that is not plain."""
    if alignment is None:
        return [NO_ATTENTION]
    return [UNKNOWN_NOTE] if alignment.unknown else []


def _row_labels(rows: list[Label], layout: MapLayout) -> str:
    middle = layout.top + layout.cell / 2 + layout.font * 0.35
    return "".join(
        label_text(one, layout.left - GAP, middle + index * layout.cell, size=layout.font, anchor="end")
        for index, one in enumerate(rows)
    )


def _column_labels(columns: list[Label], layout: MapLayout) -> str:
    parts = []
    for index, (one, turned) in enumerate(zip(columns, layout.turned, strict=True)):
        x, y = layout.left + (index + 0.5) * layout.cell, layout.top - GAP
        if turned:
            shift = layout.font * 0.35
            place = f"translate({x + shift:g} {y:g}) rotate(-{layout.angle})"
            parts.append(f'<g transform="{place}">{label_text(one, 0, 0, size=layout.font, anchor="start")}</g>')
        else:
            parts.append(label_text(one, x, y, size=layout.font, anchor="middle"))
    return "".join(parts)


def _cells(weights: FloatArray, rows: list[Label], columns: list[Label], layout: MapLayout, *, tooltips: bool) -> str:
    """Draw the grid. Cells that round to the palest shade are left to the panel behind, which has its colour."""
    cell, inset = layout.cell, cell_inset(layout.cell)
    size = cell - 2 * inset
    parts = [rectangle(layout.left, layout.top, len(columns) * cell, len(rows) * cell, "panel")]
    for row, column in np.argwhere(weights * LEVELS + 0.5 >= 1).tolist():
        weight = float(weights[row, column])
        tooltip = f"{isolated(rows[row].full)} \u2190 {isolated(columns[column].full)}  {weight:.3f}" if tooltips else ""
        x, y = layout.left + column * cell + inset, layout.top + row * cell + inset
        parts.append(rectangle(x, y, size, size, f"w{level(weight)}", tooltip=tooltip))
    return "".join(parts)


def cell_inset(cell: float) -> float:
    """Half the gap between cells; small cells touch."""
    return 0.75 if cell >= 16 else 0.0


def _coverage(weights: FloatArray, columns: list[Label], layout: MapLayout) -> str:
    """Below each column, how much attention it received over all steps."""
    sums = weights.sum(axis=0)
    scale = (COVERAGE - 2) / max(float(sums.max(initial=0.0)), 1.0)
    top = layout.top + len(weights) * layout.cell + GAP
    inset = max(cell_inset(layout.cell), 0.5)
    parts = [text_line(layout.left - GAP, top + 10, "coverage", "quiet", size=11, anchor="end")]
    for index, (one, total) in enumerate(zip(columns, sums.tolist(), strict=True)):
        x = layout.left + index * layout.cell + inset
        tooltip = f"{isolated(one.full)}  coverage {total:.2f}"
        parts.append(rectangle(x, top, layout.cell - 2 * inset, max(total * scale, 0.5), "accent bar", tooltip=tooltip))
    return "".join(parts)


def _probabilities(candidate: Candidate, columns: int, layout: MapLayout) -> str:
    """Right of each row, how probable its symbol was given those before it."""
    left = layout.left + columns * layout.cell + GAP
    inset = max(layout.cell * 0.2, 1.5)
    parts = []
    for index, one in enumerate(candidate.log_probs):
        value, y = probability(one), layout.top + index * layout.cell
        width = max(value * layout.bars, 1.0)
        parts.append(
            rectangle(left, y + inset, width, layout.cell - 2 * inset, "accent bar", tooltip=f"probability {value:.4f}")
        )
        if layout.cell >= 13:
            parts.append(text_line(left + layout.bars + 6, y + layout.cell / 2 + 3.5, f"{value:.2f}", "quiet num", size=10))
    bottom = layout.top + len(candidate.log_probs) * layout.cell + CAPTION
    return "".join(parts) + text_line(left, bottom + 2, "probability", "quiet", size=11)


def _legend(left: float, top: float) -> str:
    """Draw the shades from 0 to 1."""
    step = 160 / (LEVELS + 1)
    # Each shade reaches to the end and the next lies over it: side by side they would show seams.
    spans = [(index, index * step) for index in range(LEVELS + 1)]
    shades = "".join(rectangle(left + 46 + start, top, 160 - start, 9, f"w{index}") for index, start in spans)
    marks = zip((0, 80, 160), ("0", "0.5", "1"), strict=True)
    ticks = "".join(text_line(left + 46 + x, top + 22, mark, "quiet num", size=10, anchor="middle") for x, mark in marks)
    return text_line(left, top + 9, "weight", "quiet", size=11) + shades + ticks
