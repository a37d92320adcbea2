"""Charts as SVG files of their own, in the colours of all views: for white pages, dark ones, and paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from seqloom.views.charts.plots import nice_ticks, spoken
from seqloom.views.drawing.theme import drawing_style

Point = tuple[float, float]

LINES = ("line-a", "line-b", "line-c")
FILLS = ("accent", "doubt", "quiet")
DASHES = ("", ' stroke-dasharray="6 3"', ' stroke-dasharray="2 3"')  # so that curves are told apart without colours, too


@dataclass(frozen=True)
class Curve:
    """Points (x, y) with a name, and perhaps an interval (low, high) of each."""

    name: str
    points: Sequence[Point]
    intervals: Sequence[Point] = ()


@dataclass(frozen=True)
class Estimate:
    """A value in a row of its own, with its interval."""

    label: str
    value: float
    interval: Point


@dataclass(frozen=True)
class Scale:
    """Maps values between the outermost ticks to pixels."""

    ticks: tuple[float, ...]
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> "Scale":
        """Make a scale that holds all values."""
        return cls(tuple(nice_ticks(min(values), max(values))), start, end)

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high = self.ticks[0], self.ticks[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def line_figure(
    title: str,
    curves: Sequence[Curve],
    *,
    x_label: str,
    marks: Sequence[tuple[float, str]] = (),
    size: Point = (560, 300),
    floor: float | None = None,
) -> str:
    """Up to three curves with their intervals as bars. marks: (x, text) along the axis; floor: a value the axis must show."""
    width, height = size
    values = [y for curve in curves for pair in (*curve.intervals, *((y, y) for _, y in curve.points)) for y in pair]
    upward = Scale.over(values if floor is None else [floor, *values], height - 44, 56)
    places = [x for curve in curves for x, _ in curve.points]
    low, high = min(places), max(places)
    margin = 0.06 * (high - low or 1.0)
    across = Scale((low - margin, high + margin), 48, width - 16)
    body = title_and_keys(title, [curve.name for curve in curves])
    for tick in upward.ticks:
        body += line((across.start, upward(tick)), (across.end, upward(tick)), "axis")
        body += words(40, upward(tick) + 4, spoken(tick), "quiet num", anchor="end")
    for x, mark in marks or [(x, spoken(x)) for x in sorted(set(places))]:
        body += words(across(x), height - 25, mark, "quiet num", anchor="middle")
    body += words(width - 16, height - 8, x_label, "quiet", anchor="end")
    for index, curve in enumerate(curves):
        # Curves with intervals stand a little apart, so that their bars do not hide one another.
        shift = 5.0 * (index - (len(curves) - 1) / 2) if curve.intervals else 0.0
        body += _curve(curve, index, [(across(x) + shift, upward(y)) for x, y in curve.points], upward)
    return document(width, height, body, description=title)


def dots_figure(title: str, dots: Sequence[Estimate], *, x_label: str, label_width: float = 190, width: float = 560) -> str:
    """One row for each value, on a shared axis, with intervals."""
    row, top = 21.0, 44.0
    height = top + row * len(dots) + 48
    values = [value for dot in dots for value in (*dot.interval, dot.value)]
    across = Scale.over(values, label_width, width - 64)
    body = words(14, 22, title, "ink bold", size=13)
    for tick in across.ticks:
        body += line((across(tick), top - 10), (across(tick), height - 40), "axis")
        body += words(across(tick), height - 25, spoken(tick), "quiet num", anchor="middle")
    body += words(width - 16, height - 8, x_label, "quiet", anchor="end")
    for index, dot in enumerate(dots):
        y = top + (index + 0.5) * row
        start, end = (across(value) for value in dot.interval)
        body += words(label_width - 12, y + 4, dot.label, "ink", anchor="end")
        body += line((start, y), (end, y), LINES[0], width=2)
        body += circle(across(dot.value), y, 4, FILLS[0], tooltip=f"{dot.label}: {dot.value:.1f}")
        body += words(width - 16, y + 4, f"{dot.value:.1f}", "ink num", anchor="end")
    return document(width, height, body, description=title)


def _curve(curve: Curve, index: int, places: Sequence[Point], upward: Scale) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    style, dash = LINES[index % 3], DASHES[index % 3]
    body = f'<polyline class="{style}" stroke-width="1.75" stroke-linejoin="round"{dash} points="{path}"/>'
    for (x, _), (low, high) in zip(places, curve.intervals, strict=False):
        body += line((x, upward(low)), (x, upward(high)), style, width=1.5)
    for (x, y), (across, value) in zip(places, curve.points, strict=True):
        body += circle(x, y, 3.2, FILLS[index % 3], tooltip=f"{curve.name}, {spoken(across)}: {spoken(value)}")
    return body


def title_and_keys(title: str, names: Sequence[str]) -> str:
    """The title, and below it which line is which."""
    body, x = words(14, 22, title, "ink bold", size=13), 14.0
    for index, name in enumerate(names):
        body += line((x, 38), (x + 22, 38), LINES[index % 3], width=2, more=DASHES[index % 3])
        body += words(x + 28, 42, name, "ink")
        x += 28 + 6.6 * len(name) + 22
    return body


def document(width: float, height: float, body: str, *, description: str) -> str:
    """A whole SVG file on its own paper, so that it reads on any page."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sl" role="img" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}"><title>{escape(description)}</title>'
        f'<style>{drawing_style()}</style><rect class="paper" width="{width:g}" height="{height:g}" rx="4"/>{body}</svg>\n'
    )


def words(x: float, y: float, text: str, kind: str, *, anchor: str = "start", size: float = 11.5) -> str:
    """A line of text. kind: ink or quiet, num for figures, bold."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}">{escape(text)}</text>'


def line(start: Point, end: Point, kind: str, *, width: float = 1, more: str = "") -> str:
    """A straight line. kind: axis, or one of LINES."""
    places = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line class="{kind}" {places} stroke-width="{width:g}"{more}/>'


def circle(x: float, y: float, radius: float, kind: str, *, tooltip: str = "") -> str:
    """A dot. kind: one of FILLS."""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"><title>{escape(tooltip)}</title></circle>'
