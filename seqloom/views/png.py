"""Heat maps as PNG, for documents that take neither HTML nor SVG. The same layout and colours, drawn by matplotlib.

Figures are made without pyplot, which keeps global state: nothing here disturbs a user's own plots or a server's threads.
"""

import io
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from seqloom.errors import MissingExtraError
from seqloom.predictions import Candidate, FloatArray
from seqloom.views.fonts import MissingFontWarning, colour_emoji, families, missing_characters, missing_message
from seqloom.views.labels import Label, clean, estimated_width
from seqloom.views.layout import CAPTION, COVERAGE, GAP, Layout, arrange, column_labels, row_labels
from seqloom.views.svg import cell_inset, chosen_sources, chosen_weights, probability
from seqloom.views.theme import LEVELS, LIGHT

_MARGIN, _TITLE, _LEGEND = 12.0, 30.0, 42.0
_UNITS_PER_INCH = 100.0
_SHARPNESS = 2.0
_LARGEST_SIDE = 8000.0
_EMOJI_HEIGHT = 109.0


def to_png(candidate: Candidate, *, source: str | None = None, head: int | None = None, title: str = "") -> bytes:
    """One output's attention as a PNG file; arguments as for `to_svg`.

    Characters that no installed font has are drawn as boxes, and a MissingFontWarning says which and what to install.
    """
    canvas = _Canvas.for_panels(list(_panels(candidate, source, head)), " ".join(clean(title).split()))
    absent = missing_characters(canvas.texts)
    if absent:
        warnings.warn(missing_message(absent), MissingFontWarning, stacklevel=2)
    return canvas.png()


class _Panel:
    """What is drawn for one source: labels, layout and weights (None without attention)."""

    def __init__(self, candidate: Candidate, name: str | None, head: int | None) -> None:
        alignment = candidate.alignment[name] if name is not None else None
        self.name = clean(name or "")
        self.rows, self.columns = row_labels(candidate), column_labels(alignment)
        self.layout = arrange(self.rows, self.columns)
        self.weights = chosen_weights(alignment, head) if alignment is not None else None
        self.probabilities = [probability(one) for one in candidate.log_probs]


def _panels(candidate: Candidate, source: str | None, head: int | None) -> Iterator[_Panel]:
    for name in chosen_sources(candidate, source):
        yield _Panel(candidate, name, head)


class _Canvas:
    """A page measured in the layout's pixels, y downwards. Remembers the texts it drew, to check their fonts."""

    def __init__(self, width: float, height: float) -> None:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtraError("Drawing PNG pictures", "plot") from None
        self.scale = min(_SHARPNESS, _LARGEST_SIDE / max(width, height))
        size = (width / _UNITS_PER_INCH, height / _UNITS_PER_INCH)
        self.figure = Figure(figsize=size, dpi=_UNITS_PER_INCH * self.scale, facecolor=LIGHT.paper)
        self.axes: Any = self.figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        self.axes.axis("off")
        self.texts: list[str] = []

    @classmethod
    def for_panels(cls, panels: list[_Panel], title: str) -> "_Canvas":
        """Title, panels one below the other, legend."""
        top = _MARGIN + (_TITLE if title else 0)
        width = max(*(one.layout.width for one in panels), estimated_width(title) * 16, 400) + 2 * _MARGIN
        canvas = cls(width, top + sum(one.layout.height + GAP for one in panels) + _LEGEND)
        if title:
            canvas.text(_MARGIN, top - GAP - 2, title, LIGHT.ink, 15, weight="bold")
        for panel in panels:
            canvas.panel(panel, _MARGIN, top)
            top += panel.layout.height + GAP
        if panels[0].weights is None:
            canvas.text(_MARGIN, top + 10, "This model has no attention; only probabilities can be shown.", LIGHT.quiet, 12)
        else:
            canvas.legend(_MARGIN, top)
        return canvas

    def panel(self, panel: _Panel, x: float, y: float) -> None:
        """One source's map with its upper left corner at (x, y)."""
        layout = panel.layout
        left, top = x + layout.left, y + layout.top
        for index, one in enumerate(panel.rows):
            middle = top + (index + 0.5) * layout.cell
            self.label(one, left - GAP, middle + layout.font * 0.35, layout, align="right")
        self.probabilities(panel, left + len(panel.columns) * layout.cell + GAP, top)
        if panel.weights is not None:
            self.column_labels(panel, left, top - GAP)
            self.cells(panel.weights, left, top, layout.cell)
            self.coverage(panel.weights, left, top, layout.cell)
            self.text(left, y + 11, f"{panel.name} \u2192", LIGHT.quiet, 11)
            self.text(left - GAP, top - GAP, "output \u2193", LIGHT.quiet, 11, align="right")

    def column_labels(self, panel: _Panel, left: float, y: float) -> None:
        """Upright letters centred over their column, others leaning out of it."""
        layout = panel.layout
        for index, (one, turned) in enumerate(zip(panel.columns, layout.turned, strict=True)):
            x = left + (index + 0.5) * layout.cell
            if turned:
                self.label(one, x + layout.font * 0.35, y, layout, align="left", angle=layout.angle)
            else:
                self.label(one, x, y, layout, align="center")

    def cells(self, weights: FloatArray, left: float, top: float, cell: float) -> None:
        """Draw the grid; as in SVG, cells that round to the palest shade are left to the panel behind."""
        rows, columns = weights.shape
        self.bar(left, top, columns * cell, rows * cell, LIGHT.ramp[0])
        shown = np.ma.masked_less(weights, 0.5 / LEVELS)
        x, y = left + np.arange(columns + 1) * cell, top + np.arange(rows + 1) * cell
        edges = {"edgecolors": LIGHT.paper, "linewidth": _points(2 * cell_inset(cell))} if cell_inset(cell) else {}
        self.axes.pcolormesh(x, y, shown, cmap=_colour_map(), vmin=0, vmax=1, **edges)

    def coverage(self, weights: FloatArray, left: float, top: float, cell: float) -> None:
        """Below each column, how much attention it received over all steps."""
        sums = weights.sum(axis=0)
        heights = np.maximum(sums * (COVERAGE - 2) / max(float(sums.max(initial=0.0)), 1.0), 0.5)
        y, gap = top + len(weights) * cell + GAP, max(cell_inset(cell), 0.5)
        self.axes.bar(left + (np.arange(len(sums)) + 0.5) * cell, heights, cell - 2 * gap, y, color=LIGHT.accent, alpha=0.6)
        self.text(left - GAP, y + 10, "coverage", LIGHT.quiet, 11, align="right")

    def probabilities(self, panel: _Panel, x: float, top: float) -> None:
        """Right of each row, how probable its symbol was given those before it."""
        cell, bars = panel.layout.cell, panel.layout.bars
        inset = max(cell * 0.2, 1.5)
        for row, value in enumerate(panel.probabilities):
            y = top + row * cell
            self.bar(x, y + inset, max(value * bars, 1.0), cell - 2 * inset, LIGHT.accent, opacity=0.6)
            if cell >= 13:
                self.text(x + bars + 6, y + cell / 2 + 3.5, f"{value:.2f}", LIGHT.quiet, 10)
        self.text(x, top + len(panel.probabilities) * cell + CAPTION + 2, "probability", LIGHT.quiet, 11)

    def legend(self, x: float, y: float) -> None:
        """Draw the shades from 0 to 1."""
        self.text(x, y + 9, "weight", LIGHT.quiet, 11)
        ramp = np.linspace(0, 1, 161)[None, :]
        self.axes.pcolormesh(x + 46 + np.arange(162) / 161 * 160, [y, y + 9], ramp, cmap=_colour_map(), vmin=0, vmax=1)
        for share, mark in ((0.0, "0"), (0.5, "0.5"), (1.0, "1")):
            self.text(x + 46 + 160 * share, y + 22, mark, LIGHT.quiet, 10, align="center")

    def label(self, one: Label, x: float, y: float, layout: Layout, *, align: str, angle: int = 0) -> None:
        """Draw a symbol's label; emoji as pictures if no font has them as outlines."""
        picture = colour_emoji(one.text) if missing_characters([one.text]) else None
        if picture is None:
            self.text(x, y, one.text, LIGHT.quiet if one.mark else LIGHT.ink, layout.font, align=align, angle=angle)
        else:
            self.picture(picture, x, y - layout.font * 0.35, layout.font * 1.1, align)

    def picture(self, pixels: Any, x: float, y: float, size: float, align: str) -> None:
        """Put a small picture of the given height in place of a label."""
        from matplotlib.offsetbox import AnnotationBbox, OffsetImage

        # OffsetImage counts 72 to the inch like type, whatever the figure's own resolution.
        image = OffsetImage(pixels, zoom=_points(size) / max(len(pixels), _EMOJI_HEIGHT))
        place = {"left": 0.0, "center": 0.5, "right": 1.0}[align]
        self.axes.add_artist(AnnotationBbox(image, (x, y), frameon=False, pad=0, box_alignment=(place, 0.5)))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        colour: str,
        size: float,
        *,
        align: str = "left",
        angle: int = 0,
        weight: str = "normal",
    ) -> None:
        """Draw a line of text with its baseline at y. A dollar sign is a dollar sign, no formula."""
        self.texts.append(text)
        self.axes.text(
            x,
            y,
            text,
            color=colour,
            fontsize=_points(size),
            family=families(text),
            weight=weight,
            ha=align,
            va="baseline",
            rotation=angle,
            rotation_mode="anchor",
            parse_math=False,
        )

    def bar(self, x: float, y: float, width: float, height: float, colour: str, *, opacity: float = 1.0) -> None:
        """Fill a rectangle."""
        from matplotlib.patches import Rectangle

        self.axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, alpha=opacity, linewidth=0))

    def png(self) -> bytes:
        """Give the file's bytes. matplotlib's own notes on missing glyphs are dropped, because ours says more."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        written = io.BytesIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"Glyph \d+")
            canvas: Any = FigureCanvasAgg(self.figure)
            canvas.print_png(written)
        return written.getvalue()


def _points(size: float) -> float:
    return size * 72.0 / _UNITS_PER_INCH


def _colour_map() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("seqloom", LIGHT.ramp)
