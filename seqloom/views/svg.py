"""Heat maps as SVG. Labels stay text, so whatever shows the file shapes every script by itself."""

import math
from html import escape

import numpy as np

from seqloom.errors import UsageError
from seqloom.predictions import Alignment, Candidate, FloatArray
from seqloom.views.labels import Label, clean
from seqloom.views.layout import CAPTION, COVERAGE, GAP, Layout, arrange, column_labels, row_labels
from seqloom.views.theme import LEVELS, drawing_style, level

LEGEND = 34.0
_MARGIN = 12.0
_TITLE = 30.0


def to_svg(candidate: Candidate, *, source: str | None = None, head: int | None = None, title: str = "") -> str:
    """One output's attention as a whole SVG file.

    source: draw only this one of several sources. head: draw this head (from 0) instead of the mean. Without attention, the
    drawing shows the probabilities and says so.
    """
    names = chosen_sources(candidate, source)
    panels = [_panel(candidate, name, head, tooltips=True) for name in names]
    top = _TITLE + _MARGIN if title else _MARGIN
    parts = [text_line(_MARGIN, top - GAP - 2, clean(title), "ink bold", size=15)] if title else []
    for _, height, body in panels:
        parts.append(f'<g transform="translate({_MARGIN:g} {top:g})">{body}</g>')
        top += height + GAP
    width = max(max(panel[0] for panel in panels), len(title) * 8.5, 320.0) + 2 * _MARGIN
    parts.append(_legend(_MARGIN, top) if names[0] is not None else _note(_MARGIN, top))
    return document(width, top + LEGEND + GAP, "".join(parts), description=title or candidate.text)


def static_drawing(candidate: Candidate) -> str:
    """Draw the first source for use inside a page, which brings style and legend, and tooltips by its script."""
    name = chosen_sources(candidate, None)[0]
    width, height, body = _panel(candidate, name, None, tooltips=False)
    return f'<svg class="sl" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">{body}</svg>'


def chosen_sources(candidate: Candidate, source: str | None) -> list[str | None]:
    """Name the alignments to draw; a single None if the model has no attention."""
    if source is None:
        return [*candidate.alignment] or [None]
    if source not in candidate.alignment:
        known = ", ".join(sorted(candidate.alignment)) or "none: the model has no attention"
        raise UsageError(f"There is no attention over a source named '{source}'. Sources with attention: {known}.")
    return [source]


def chosen_weights(alignment: Alignment, head: int | None) -> FloatArray:
    """Give the weights of one head, or their mean, [T, S]; anything that is not a number counts as 0."""
    if head is not None and not 0 <= head < len(alignment.weights):
        raise UsageError(f"There is no attention head {head}: heads run from 0 to {len(alignment.weights) - 1}.")
    weights = alignment.mean if head is None else alignment.weights[head]
    cleaned: FloatArray = np.nan_to_num(weights.astype(np.float32), posinf=0.0, neginf=0.0)
    return cleaned


def probability(log_prob: float) -> float:
    """Give the probability, 0 for what is not a number."""
    return 0.0 if math.isnan(log_prob) else math.exp(min(log_prob, 0.0))


def _panel(candidate: Candidate, name: str | None, head: int | None, *, tooltips: bool) -> tuple[float, float, str]:
    """Width, height and content of one source's map."""
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
            text_line(layout.left, 11, f"{clean(name)} \u2192", "quiet", size=11),
            text_line(layout.left - GAP, layout.top - GAP, "output \u2193", "quiet", size=11, anchor="end"),
        ]
    return layout.width, layout.height, "".join(parts)


def _row_labels(rows: list[Label], layout: Layout) -> str:
    middle = layout.top + layout.cell / 2 + layout.font * 0.35
    return "".join(
        _label(one, layout.left - GAP, middle + index * layout.cell, layout, anchor="end") for index, one in enumerate(rows)
    )


def _column_labels(columns: list[Label], layout: Layout) -> str:
    parts = []
    for index, (one, turned) in enumerate(zip(columns, layout.turned, strict=True)):
        x, y = layout.left + (index + 0.5) * layout.cell, layout.top - GAP
        if turned:
            shift = layout.font * 0.35
            place = f"translate({x + shift:g} {y:g}) rotate(-{layout.angle})"
            parts.append(f'<g transform="{place}">{_label(one, 0, 0, layout, anchor="start")}</g>')
        else:
            parts.append(_label(one, x, y, layout, anchor="middle"))
    return "".join(parts)


def _cells(weights: FloatArray, rows: list[Label], columns: list[Label], layout: Layout, *, tooltips: bool) -> str:
    """Draw the grid. Cells that round to the palest shade are left to the panel behind, which has its colour."""
    cell, inset = layout.cell, cell_inset(layout.cell)
    size = cell - 2 * inset
    parts = [_rect(layout.left, layout.top, len(columns) * cell, len(rows) * cell, "panel")]
    for row, column in np.argwhere(weights * LEVELS + 0.5 >= 1).tolist():
        weight = float(weights[row, column])
        tooltip = f"{rows[row].full} \u2190 {columns[column].full}  {weight:.3f}" if tooltips else ""
        x, y = layout.left + column * cell + inset, layout.top + row * cell + inset
        parts.append(_rect(x, y, size, size, f"w{level(weight)}", tooltip=tooltip))
    return "".join(parts)


def cell_inset(cell: float) -> float:
    """Half the gap between cells; small cells touch."""
    return 0.75 if cell >= 16 else 0.0


def _coverage(weights: FloatArray, columns: list[Label], layout: Layout) -> str:
    """Below each column, how much attention it received over all steps."""
    sums = weights.sum(axis=0)
    scale = (COVERAGE - 2) / max(float(sums.max(initial=0.0)), 1.0)
    top = layout.top + len(weights) * layout.cell + GAP
    inset = max(cell_inset(layout.cell), 0.5)
    parts = [text_line(layout.left - GAP, top + 10, "coverage", "quiet", size=11, anchor="end")]
    for index, (one, total) in enumerate(zip(columns, sums.tolist(), strict=True)):
        x = layout.left + index * layout.cell + inset
        tooltip = f"{one.full}  coverage {total:.2f}"
        parts.append(_rect(x, top, layout.cell - 2 * inset, max(total * scale, 0.5), "accent bar", tooltip=tooltip))
    return "".join(parts)


def _probabilities(candidate: Candidate, columns: int, layout: Layout) -> str:
    """Right of each row, how probable its symbol was given those before it."""
    left = layout.left + columns * layout.cell + GAP
    inset = max(layout.cell * 0.2, 1.5)
    parts = []
    for index, one in enumerate(candidate.log_probs):
        value, y = probability(one), layout.top + index * layout.cell
        width = max(value * layout.bars, 1.0)
        parts.append(_rect(left, y + inset, width, layout.cell - 2 * inset, "accent bar", tooltip=f"probability {value:.4f}"))
        if layout.cell >= 13:
            parts.append(text_line(left + layout.bars + 6, y + layout.cell / 2 + 3.5, f"{value:.2f}", "quiet num", size=10))
    bottom = layout.top + len(candidate.log_probs) * layout.cell + CAPTION
    return "".join(parts) + text_line(left, bottom + 2, "probability", "quiet", size=11)


def _legend(left: float, top: float) -> str:
    """Draw the shades from 0 to 1."""
    step = 160 / (LEVELS + 1)
    # Each shade reaches to the end and the next lies over it: side by side they would show seams.
    spans = [(index, index * step) for index in range(LEVELS + 1)]
    shades = "".join(_rect(left + 46 + start, top, 160 - start, 9, f"w{index}") for index, start in spans)
    marks = zip((0, 80, 160), ("0", "0.5", "1"), strict=True)
    ticks = "".join(text_line(left + 46 + x, top + 22, mark, "quiet num", size=10, anchor="middle") for x, mark in marks)
    return text_line(left, top + 9, "weight", "quiet", size=11) + shades + ticks


def _note(left: float, top: float) -> str:
    return text_line(left, top + 10, "This model has no attention; only probabilities can be shown.", "quiet", size=12)


def document(width: float, height: float, body: str, *, description: str, style: str = "") -> str:
    """A whole SVG file with the package's colours. style: what the drawing needs beside them."""
    background = _rect(0, 0, width, height, "paper")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sl" role="img" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}"><title>{escape(clean(description))}</title>'
        f"<style>{drawing_style()}{style}</style>{background}{body}</svg>\n"
    )


def _label(one: Label, x: float, y: float, layout: Layout, *, anchor: str) -> str:
    kind = "quiet" if one.mark else "ink"
    return text_line(x, y, one.text, kind, size=layout.font, anchor=anchor, rtl=one.rtl)


def text_line(x: float, y: float, text: str, kind: str, *, size: float, anchor: str = "start", rtl: bool = False) -> str:
    """Draw a line of text. In a right-to-left text `start` is its right end, so the anchors change places."""
    if rtl and anchor != "middle":
        anchor = "start" if anchor == "end" else "end"
    direction = ' direction="rtl" unicode-bidi="isolate"' if rtl else ""
    return (
        f'<text x="{x:g}" y="{y:g}" class="{kind}" font-size="{size:g}" text-anchor="{anchor}"{direction}>{escape(text)}</text>'
    )


def _rect(x: float, y: float, width: float, height: float, kind: str, *, tooltip: str = "") -> str:
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"'
    return f"{shape}><title>{escape(tooltip)}</title></rect>" if tooltip else f"{shape}/>"
