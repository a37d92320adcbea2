"""Heat maps and strips of pictures as PNG, for documents that take neither HTML nor SVG. The same layouts and colours."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from seqloom.results.predictions import Candidate, FloatArray
from seqloom.views.drawing.canvas import Canvas, points
from seqloom.views.drawing.pixels import Pixels
from seqloom.views.drawing.theme import LEVELS, LIGHT, NAMED, SPOT, VEIL
from seqloom.views.maps.chosen import by_look, chosen_sources, chosen_weights, probability
from seqloom.views.maps.class_bars import ClassBars, class_bars
from seqloom.views.maps.exhibits import Exhibit, Picture
from seqloom.views.maps.inner import InnerMap, heading, in_lines, inner_maps
from seqloom.views.maps.layout import CAPTION, COVERAGE, GAP, MapLayout, arrange, column_labels, row_labels
from seqloom.views.maps.overlays import blocks, composed, is_pictured, light, smooth
from seqloom.views.maps.reels import HEAD as FRAME_NUMBERS
from seqloom.views.maps.reels import Reel, plan_reels, without_reels
from seqloom.views.maps.strips import CAPTION_LINE, CAPTION_SIZE, PROBABILITY_SIZE, Outline, PictureStep, plan_strip
from seqloom.views.maps.svg import HEADING, NOTE_LINE, NOTE_SIZE, WIDEST, cell_inset, map_notes
from seqloom.views.text.labels import Label, clean, estimated_width, isolated, label, wrapped

_MARGIN, _TITLE, _LEGEND = 12.0, 30.0, 42.0


def to_png(
    candidate: Candidate,
    *,
    source: str | None = None,
    head: int | None = None,
    title: str = "",
    pictures: Mapping[str, Picture] | None = None,
) -> bytes:
    """One output's attention as a PNG file; arguments as for `to_svg`.

    Characters that no installed font has are drawn as boxes, and a MissingFontWarning says which and what to install.
    """
    return _stacked(list(_panels(candidate, pictures or {}, source, head)), title)


def several_to_png(exhibits: Sequence[Exhibit], *, title: str = "") -> bytes:
    """The best outputs of several predictions one below the other, each below its label; of classes, how probable each is."""
    panels: list[_Panel] = []
    for one in exhibits:
        panels += [_Heading(one.label)] if one.label else []
        reels = plan_reels(one)
        panels += map(_Reel, reels)
        if (bars := class_bars(one.prediction)) is not None:
            panels.append(_Bars(bars))
        if (left := without_reels(one.in_time.best, reels)) is not None and (left.alignment or bars is None):
            panels += _panels(left, one.pictures)
        for look in one.inside:
            panels += [_Heading(heading(look)), *map(_Rounds, in_lines([*inner_maps(look)], WIDEST))]
    return _stacked(panels, title)


class _Panel(Protocol):
    """A piece of a picture. shades: it needs the legend of shades. notes: what else is to be said at the foot, once."""

    width: float
    height: float
    shades: bool
    notes: list[str]

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        """Draw it with its upper left corner at (x, y)."""


def _panels(
    candidate: Candidate, pictures: Mapping[str, Picture], source: str | None = None, head: int | None = None
) -> Iterator[_Panel]:
    candidate = by_look(candidate) if source is None and head is None else candidate
    for name in chosen_sources(candidate, source):
        if name is None or not is_pictured(candidate.alignment[name]):
            yield _HeatMap(candidate, name, head)
        else:
            yield _Strip(candidate, name, pictures.get(name), head)


def _stacked(panels: Sequence[_Panel], title: str) -> bytes:
    """Title, panels one below the other, legends."""
    title = " ".join(clean(title).split())
    top = _MARGIN + (_TITLE if title else 0)
    width = max(*(one.width for one in panels), estimated_width(title) * 16, 400) + 2 * _MARGIN
    notes = "; ".join(dict.fromkeys(note for one in panels for note in one.notes))
    shades = any(one.shades for one in panels)
    lines = wrapped(notes, (width - 2 * _MARGIN) / NOTE_SIZE) if notes else []
    foot = len(lines) * NOTE_LINE + (_LEGEND if shades else GAP)
    canvas = Canvas(width, top + sum(one.height + GAP for one in panels) + foot)
    if title:
        canvas.text(_MARGIN, top - GAP - 2, title, LIGHT.ink, 15, weight="bold")
    for panel in panels:
        panel.draw(canvas, _MARGIN, top)
        top += panel.height + GAP
    for line in lines:
        canvas.text(_MARGIN, top + 10, line, LIGHT.quiet, NOTE_SIZE)
        top += NOTE_LINE
    if shades:
        _draw_legend(canvas, _MARGIN, top)
    return canvas.png()


class _Heading:
    """Whose prediction follows."""

    def __init__(self, label: str) -> None:
        self.label = clean(label)
        self.width, self.height = estimated_width(label) * 15, HEADING
        self.shades = False
        self.notes: list[str] = []

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        canvas.text(x, y + HEADING - 4, self.label, LIGHT.ink, 14, weight="bold")


class _Bars:
    """How probable each class is."""

    def __init__(self, bars: ClassBars) -> None:
        self.bars = bars
        self.width, self.height = bars.width, bars.height
        self.shades = False
        self.notes: list[str] = []

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        for shape in self.bars.shapes(x, y):
            shape.draw(canvas)


class _Strip:
    """One source that is a picture: the picture, then once per symbol with the attention over it."""

    def __init__(self, candidate: Candidate, name: str, picture: Picture | None, head: int | None) -> None:
        self.strip = plan_strip(candidate, name, picture, head)
        self.width, self.height = self.strip.width, self.strip.height
        self.shades, self.notes = False, self.strip.notes

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        strip = self.strip
        width, height = strip.panel
        canvas.image(strip.pixels, x, y, width, height)
        self.word(canvas, label(strip.name, mark=True), x, y)
        for index, step in enumerate(strip.steps, start=1):
            left, top = strip.place(index)
            self.step(canvas, step, x + left, y + top)
        self.caption(canvas, x, y + strip.caption_top)

    def step(self, canvas: Canvas, step: PictureStep, x: float, y: float) -> None:
        """One symbol's picture with the symbol and its probability below."""
        width, height = self.strip.panel
        enlarge = blocks if self.strip.hard else smooth
        lights = light(enlarge(step.weights, *self.strip.pixels.shape[:2]))
        canvas.image(composed(self.strip.pixels, lights), x, y, width, height)
        for one in step.outlines:
            self.outline(canvas, one, x, y)
        self.word(canvas, step.label, x, y)
        canvas.text(x + width / 2, y + height + 31, f"{step.probability:.2f}", LIGHT.quiet, PROBABILITY_SIZE, align="center")

    def word(self, canvas: Canvas, one: Label, x: float, y: float) -> None:
        """What stands below a picture."""
        width, height = self.strip.panel
        canvas.label(one, x + width / 2, y + height + 17, size=self.strip.label_size(one), align="center")

    def outline(self, canvas: Canvas, one: Outline, x: float, y: float) -> None:
        """A bright line on a dark one, so that it shows on any picture."""
        width, height = self.strip.panel
        place = (x + one.left * width, y + one.top * height, one.width * width, one.height * height)
        canvas.frame(*place, VEIL, 3.2, opacity=0.65)
        canvas.frame(*place, NAMED if one.named else SPOT, 1.4)

    def caption(self, canvas: Canvas, x: float, y: float) -> None:
        """The whole output and its score."""
        strip = self.strip
        for index, line in enumerate(strip.caption):
            canvas.text(x, y + index * CAPTION_LINE, line, LIGHT.ink, CAPTION_SIZE, weight="bold")
        canvas.text(x + strip.width, y, strip.scores, LIGHT.quiet, PROBABILITY_SIZE, align="right")


class _Reel:
    """One source that is a film: its frames, then once per symbol with the attention over them."""

    def __init__(self, reel: Reel) -> None:
        self.reel = reel
        self.width, self.height = reel.width, reel.height
        self.shades, self.notes = False, reel.notes

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        reel = self.reel
        for index, frame in enumerate(reel.starts):
            left = x + reel.place(0, index)[0] + reel.panel[0] / 2
            canvas.text(left, y + FRAME_NUMBERS - 5, str(frame + 1), LIGHT.quiet, 10, align="center")
        self.row(canvas, 0, label(reel.name, mark=True), [reel.frames[one] for one in reel.starts], x, y)
        for row, step in enumerate(reel.steps, start=1):
            self.row(canvas, row, step.label, reel.lit(step), x, y)
            along, middle = reel.place(row, len(reel.starts))
            canvas.text(x + along, y + middle + reel.panel[1] / 2 + 4, f"{step.probability:.2f}", LIGHT.quiet, PROBABILITY_SIZE)

    def row(self, canvas: Canvas, row: int, word: Label, frames: Sequence[Pixels], x: float, y: float) -> None:
        """A word, and the frames as it lights them."""
        left, top = self.reel.place(row, 0)
        canvas.label(word, x + left - 8, y + top + self.reel.panel[1] / 2 + 4, size=CAPTION_SIZE, align="right")
        for index, frame in enumerate(frames):
            canvas.image(frame, x + self.reel.place(row, index)[0], y + top, *self.reel.panel)


class _HeatMap:
    """One source's labels, layout and weights (None without attention)."""

    def __init__(self, candidate: Candidate, name: str | None, head: int | None) -> None:
        alignment = candidate.alignment[name] if name is not None else None
        self.name = clean(name or "")
        self.rows, self.columns = row_labels(candidate), column_labels(alignment)
        self.layout = arrange(self.rows, self.columns)
        self.width, self.height = self.layout.width, self.layout.height
        self.weights = chosen_weights(alignment, head) if alignment is not None else None
        self.shades = alignment is not None
        self.notes = map_notes(alignment)
        self.probabilities = [probability(one) for one in candidate.log_probs]

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        layout = self.layout
        left, top = x + layout.left, y + layout.top
        _draw_rows(canvas, self.rows, layout, left, top)
        self.draw_probabilities(canvas, left + len(self.columns) * layout.cell + GAP, top)
        if self.weights is not None:
            _draw_columns(canvas, self.columns, layout, left, top - GAP)
            _draw_cells(canvas, self.weights, left, top, layout.cell)
            _draw_coverage(canvas, self.weights, left, top, layout.cell)
            canvas.text(left, y + 11, f"{isolated(self.name)} \u2192", LIGHT.quiet, 11)
            canvas.text(left - GAP, top - GAP, "output \u2193", LIGHT.quiet, 11, align="right")

    def draw_probabilities(self, canvas: Canvas, x: float, top: float) -> None:
        """Right of each row, how probable its symbol was given those before it."""
        cell, bars = self.layout.cell, self.layout.bars
        inset = max(cell * 0.2, 1.5)
        for row, value in enumerate(self.probabilities):
            y = top + row * cell
            canvas.bar(x, y + inset, max(value * bars, 1.0), cell - 2 * inset, LIGHT.accent, opacity=0.6)
            if cell >= 13:
                canvas.text(x + bars + 6, y + cell / 2 + 3.5, f"{value:.2f}", LIGHT.quiet, 10)
        canvas.text(x, top + len(self.probabilities) * cell + CAPTION + 2, "probability", LIGHT.quiet, 11)


class _Rounds:
    """Rounds in which an encoder looked, beside each other."""

    def __init__(self, line: Sequence[InnerMap]) -> None:
        self.line = line
        self.width = sum(one.layout.width + GAP for one in line)
        self.height = max(one.layout.height for one in line)
        self.shades = True
        self.notes: list[str] = []

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        for one in self.line:
            layout = one.layout
            left, top = x + layout.left, y + layout.top
            _draw_rows(canvas, one.rows, layout, left, top)
            _draw_columns(canvas, one.columns, layout, left, top - GAP)
            _draw_cells(canvas, one.weights, left, top, layout.cell)
            canvas.text(left, y + 11, one.across, LIGHT.quiet, 11)
            canvas.text(left - GAP, top - GAP, one.down, LIGHT.quiet, 11, align="right")
            x += layout.width + GAP


def _draw_rows(canvas: Canvas, rows: Sequence[Label], layout: MapLayout, left: float, top: float) -> None:
    """Labels that end at the grid."""
    for index, one in enumerate(rows):
        middle = top + (index + 0.5) * layout.cell
        canvas.label(one, left - GAP, middle + layout.font * 0.35, size=layout.font, align="right")


def _draw_columns(canvas: Canvas, columns: Sequence[Label], layout: MapLayout, left: float, y: float) -> None:
    """Upright letters centred over their column, others leaning out of it."""
    for index, (one, turned) in enumerate(zip(columns, layout.turned, strict=True)):
        x = left + (index + 0.5) * layout.cell
        if turned:
            canvas.label(one, x + layout.font * 0.35, y, size=layout.font, align="left", angle=layout.angle)
        else:
            canvas.label(one, x, y, size=layout.font, align="center")


def _draw_cells(canvas: Canvas, weights: FloatArray, left: float, top: float, cell: float) -> None:
    """Draw the grid; as in SVG, cells that round to the palest shade are left to the panel behind."""
    rows, columns = weights.shape
    canvas.bar(left, top, columns * cell, rows * cell, LIGHT.ramp[0])
    shown = np.ma.masked_less(weights, 0.5 / LEVELS)
    x, y = left + np.arange(columns + 1) * cell, top + np.arange(rows + 1) * cell
    edges = {"edgecolors": LIGHT.paper, "linewidth": points(2 * cell_inset(cell))} if cell_inset(cell) else {}
    canvas.axes.pcolormesh(x, y, shown, cmap=_colour_map(), vmin=0, vmax=1, **edges)


def _draw_coverage(canvas: Canvas, weights: FloatArray, left: float, top: float, cell: float) -> None:
    """Below each column, how much attention it received over all steps."""
    sums = weights.sum(axis=0)
    heights = np.maximum(sums * (COVERAGE - 2) / max(float(sums.max(initial=0.0)), 1.0), 0.5)
    y, gap = top + len(weights) * cell + GAP, max(cell_inset(cell), 0.5)
    canvas.axes.bar(left + (np.arange(len(sums)) + 0.5) * cell, heights, cell - 2 * gap, y, color=LIGHT.accent, alpha=0.6)
    canvas.text(left - GAP, y + 10, "coverage", LIGHT.quiet, 11, align="right")


def _draw_legend(canvas: Canvas, x: float, y: float) -> None:
    """Draw the shades from 0 to 1."""
    canvas.text(x, y + 9, "weight", LIGHT.quiet, 11)
    ramp = np.linspace(0, 1, 161)[None, :]
    canvas.axes.pcolormesh(x + 46 + np.arange(162) / 161 * 160, [y, y + 9], ramp, cmap=_colour_map(), vmin=0, vmax=1)
    for share, mark in ((0.0, "0"), (0.5, "0.5"), (1.0, "1")):
        canvas.text(x + 46 + 160 * share, y + 22, mark, LIGHT.quiet, 10, align="center")


def _colour_map() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("seqloom", LIGHT.ramp)
