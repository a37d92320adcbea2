"""A sheet to draw PNG pictures on, by matplotlib, with a font for any script.

Figures are made without pyplot, which keeps global state: nothing here disturbs a user's own plots or a server's threads.
"""

import io
import warnings
from collections.abc import Sequence
from typing import Any

from seqloom.errors import MissingExtraError
from seqloom.views.drawing.fonts import MissingFontWarning, colour_emoji, families, missing_characters, missing_message
from seqloom.views.drawing.pixels import Pixels
from seqloom.views.drawing.theme import LIGHT
from seqloom.views.text.labels import Label, estimated_width

_UNITS_PER_INCH = 100.0
_SHARPNESS = 2.0
_LARGEST_SIDE = 8000.0
_EMOJI_HEIGHT = 109.0
_ANCHORS = {"left": 0.0, "center": 0.5, "right": 1.0}
"""How much of a text lies left of where it is put."""


class Canvas:
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

    def label(self, one: Label, x: float, y: float, *, size: float, align: str, angle: int = 0) -> None:
        """Draw a symbol's label; emoji as pictures if no font has them as outlines."""
        picture = colour_emoji(one.text) if missing_characters([one.text]) else None
        if picture is None:
            self.text(x, y, one.text, getattr(LIGHT, one.kind), size, align=align, angle=angle)
        else:
            self._emoji(picture, x, y - size * 0.35, size * 1.1, align)
        if one.unknown and not angle:
            width = estimated_width(one.text) * size
            self.bar(x - width * _ANCHORS[align], y + size * 0.22, width, 1.4, LIGHT.doubt)

    def _emoji(self, pixels: Any, x: float, y: float, size: float, align: str) -> None:
        """Put a small picture of the given height in place of a label."""
        from matplotlib.offsetbox import AnnotationBbox, OffsetImage

        # OffsetImage counts 72 to the inch like type, whatever the figure's own resolution.
        image = OffsetImage(pixels, zoom=points(size) / max(len(pixels), _EMOJI_HEIGHT))
        place = _ANCHORS[align]
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
            fontsize=points(size),
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

    def frame(
        self, x: float, y: float, width: float, height: float, colour: str, thickness: float, *, opacity: float = 1.0
    ) -> None:
        """Draw the edge of a rectangle."""
        from matplotlib.patches import Rectangle

        line = points(thickness)
        self.axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=colour, alpha=opacity, linewidth=line))

    def line(
        self,
        places: Sequence[tuple[float, float]],
        colour: str,
        thickness: float,
        *,
        dashed: bool = False,
        opacity: float = 1.0,
    ) -> None:
        """Draw a line through places."""
        from matplotlib.lines import Line2D

        drawn = Line2D([x for x, _ in places], [y for _, y in places], color=colour, linewidth=points(thickness), alpha=opacity)
        drawn.set_linestyle("--" if dashed else "-")
        self.axes.add_line(drawn)

    def area(self, corners: Sequence[tuple[float, float]], colour: str, radius: float = 0.0) -> None:
        """Fill a polygon; a disc around its one corner if it has a radius."""
        from matplotlib.patches import Circle, Polygon

        filled = Circle(corners[0], radius) if radius else Polygon(list(corners))
        filled.set(facecolor=colour, linewidth=0, zorder=3)
        self.axes.add_patch(filled)

    def image(self, pixels: Pixels, x: float, y: float, width: float, height: float) -> None:
        """Draw pixels [height, width, 3] into a rectangle."""
        limits = self.axes.get_xlim(), self.axes.get_ylim()
        self.axes.imshow(pixels, extent=(x, x + width, y + height, y), interpolation="antialiased", aspect="auto")
        self.axes.set(xlim=limits[0], ylim=limits[1])  # imshow fits the axes to what it drew

    def png(self) -> bytes:
        """Give the file's bytes, and warn of characters that no installed font has.

        matplotlib's own notes on missing glyphs are dropped, because ours says more.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        absent = missing_characters(self.texts)
        if absent:
            warnings.warn(missing_message(absent), MissingFontWarning, stacklevel=3)
        written = io.BytesIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"Glyph \d+")
            canvas: Any = FigureCanvasAgg(self.figure)
            canvas.print_png(written)
        return written.getvalue()


def points(size: float) -> float:
    """Give a length in points, as matplotlib measures type and lines."""
    return size * 72.0 / _UNITS_PER_INCH
