"""A drawing of a few kinds of shapes, which is written once and comes out as SVG and as PNG alike.

Measures are pixels, y downwards. Colours are names of the theme: ink, quiet, accent, doubt, rule, panel, paper; w0 to w40 for
weights, g0, g1 ... for groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from seqloom.views.drawing.canvas import Canvas
from seqloom.views.drawing.page import text as markup
from seqloom.views.drawing.pixels import Pixels, data_uri, rgb_png
from seqloom.views.drawing.shapes import document, label_text, rectangle, text_line
from seqloom.views.drawing.theme import colour, group_style
from seqloom.views.text.labels import Label, clean, isolated, starts_right_to_left

Point = tuple[float, float]

_ALIGNED = {"start": "left", "middle": "center", "end": "right"}
_STROKES = {"rule": "axis", "accent": "line-a", "doubt": "line-b", "quiet": "line-c", "ink": "cursor"}


class Shape(Protocol):
    """Something that a sketch holds."""

    def svg(self) -> str:
        """The shape as markup."""

    def draw(self, canvas: Canvas) -> None:
        """Draw the shape."""


@dataclass(frozen=True)
class TextLine:
    """A line of text with its baseline at y. anchor: start, middle or end. Whatever its script, `start` is its left end."""

    x: float
    y: float
    text: str
    kind: str = "ink"
    size: float = 12.0
    anchor: str = "start"
    bold: bool = False

    def svg(self) -> str:
        """The text as text."""
        kind = f"{self.kind} bold" if self.bold else self.kind
        shown, rtl = clean(self.text), starts_right_to_left(self.text)
        return text_line(self.x, self.y, shown, f"{kind} num", size=self.size, anchor=self.anchor, rtl=rtl)

    def draw(self, canvas: Canvas) -> None:
        """Draw the text."""
        align, weight = _ALIGNED[self.anchor], "bold" if self.bold else "normal"
        canvas.text(self.x, self.y, clean(self.text), colour(self.kind), self.size, align=align, weight=weight)


@dataclass(frozen=True)
class Symbol:
    """The label of a symbol."""

    x: float
    y: float
    label: Label
    size: float = 12.0
    anchor: str = "middle"

    def svg(self) -> str:
        """The label as text."""
        return label_text(self.label, self.x, self.y, size=self.size, anchor=self.anchor)

    def draw(self, canvas: Canvas) -> None:
        """Draw the label."""
        canvas.label(self.label, self.x, self.y, size=self.size, align=_ALIGNED[self.anchor])


@dataclass(frozen=True)
class Rectangle:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    tooltip: str = ""
    faint: bool = False
    opacity: float = 1.0

    def svg(self) -> str:
        """The rectangle."""
        kind = f"{self.kind} bar" if self.faint else self.kind
        x, y, width, height = (round(one, 2) for one in (self.x, self.y, self.width, self.height))
        return rectangle(x, y, width, height, kind, tooltip=self.tooltip, opacity=self.opacity)

    def draw(self, canvas: Canvas) -> None:
        """Draw the rectangle."""
        canvas.bar(self.x, self.y, self.width, self.height, colour(self.kind), opacity=0.6 if self.faint else self.opacity)


@dataclass(frozen=True)
class Stroke:
    """A line through points."""

    points: Sequence[Point]
    kind: str
    width: float = 1.0
    dashed: bool = False
    faint: bool = False

    def svg(self) -> str:
        """The line."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)
        more = (' stroke-dasharray="5 3"' if self.dashed else "") + (' opacity="0.5"' if self.faint else "")
        kind = _STROKES[self.kind]
        return f'<polyline class="{kind}" stroke-width="{self.width:g}" stroke-linejoin="round"{more} points="{places}"/>'

    def draw(self, canvas: Canvas) -> None:
        """Draw the line."""
        opacity = 0.5 if self.faint else 1.0
        canvas.line(self.points, colour(self.kind), self.width, dashed=self.dashed, opacity=opacity)


@dataclass(frozen=True)
class Area:
    """A filled polygon, or a disc of a radius around its one corner."""

    corners: Sequence[Point]
    kind: str
    radius: float = 0.0

    def svg(self) -> str:
        """The area."""
        if self.radius:
            [(x, y)] = self.corners
            return f'<circle class="{self.kind}" cx="{x:.1f}" cy="{y:.1f}" r="{self.radius:g}"/>'
        return f'<polygon class="{self.kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in self.corners)}"/>'

    def draw(self, canvas: Canvas) -> None:
        """Draw the area."""
        canvas.area(self.corners, colour(self.kind), self.radius)


@dataclass(frozen=True)
class Photo:
    """Pixels in a rectangle."""

    pixels: Pixels
    x: float
    y: float
    width: float
    height: float

    def svg(self) -> str:
        """The picture, held in the drawing itself."""
        place = f'x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" height="{self.height:g}"'
        return f'<image {place} preserveAspectRatio="none" href="{data_uri(rgb_png(self.pixels))}"/>'

    def draw(self, canvas: Canvas) -> None:
        """Draw the picture."""
        canvas.image(self.pixels, self.x, self.y, self.width, self.height)


@dataclass(frozen=True)
class Group:
    """Shapes that belong together. title: what pointing at them says; index: their number, for a page's script."""

    shapes: Sequence[Shape]
    title: str = ""
    kind: str = ""
    index: int | None = None

    def svg(self) -> str:
        """The shapes with what pointing says."""
        named = f' class="{self.kind}"' if self.kind else ""
        numbered = "" if self.index is None else f' data-index="{self.index}"'
        title = f"<title>{escape(clean(self.title))}</title>" if self.title else ""
        return f"<g{named}{numbered}>{title}{''.join(one.svg() for one in self.shapes)}</g>"

    def draw(self, canvas: Canvas) -> None:
        """Draw the shapes."""
        for one in self.shapes:
            one.draw(canvas)


@dataclass(frozen=True)
class Sketch:
    """Shapes on a sheet, those behind first."""

    width: float
    height: float
    shapes: Sequence[Shape]

    def svg(self, description: str) -> str:
        """A whole SVG file."""
        body = "".join(one.svg() for one in self.shapes)
        return document(self.width, self.height, body, description=description, style=group_style())

    def inline(self, description: str) -> str:
        """The drawing for a page that brings the style."""
        body = "".join(one.svg() for one in self.shapes)
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
        return f'<svg class="sl" {size} role="img" aria-label="{markup(description)}">{body}</svg>'

    def png(self) -> bytes:
        """A PNG file."""
        canvas = Canvas(self.width, self.height)
        for one in self.shapes:
            one.draw(canvas)
        return canvas.png()


def between(before: str, symbol: str, after: str) -> str:
    """A symbol amid words, in a direction of its own."""
    return f"{before}{isolated(symbol)}{after}"
