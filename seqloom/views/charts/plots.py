"""Small charts as inline SVG: lines over steps, and bars over ranges of length. Values show on hover and in print alike."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from seqloom.views.drawing.page import text
from seqloom.views.text.labels import isolated

Point = tuple[float, float]

WIDTH, HEIGHT = 520.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 54.0, 24.0, 22.0, 40.0
"""Room for letters of 15 around the plot: narrow screens show all of them in that size (report.css)."""
MOST_CURVES = 3
"""So many can be told apart by their colours."""
_MOST_POINTS = 240
_LONG_NUMBER = 1_000_000
_LINES = ("line-a", "line-b", "line-c")
_FILLS = ("accent", "doubt", "quiet")


@dataclass(frozen=True)
class Panel:
    """One chart of curves that share an axis, such as training and validation loss over steps.

    curves: by name, points (step, value). Points whose value is not a number are left out.
    """

    title: str
    curves: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    x_label: str = "step"


@dataclass(frozen=True)
class _Axis:
    """Maps values to pixels and knows where its ticks stand."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def line_chart(panel: Panel) -> str:
    """Draw the panel as an SVG with up to `MOST_CURVES` curves, their legend above."""
    curves = {name: thinned(_finite(points)) for name, points in panel.curves.items()}
    shown = {name: points for name, points in curves.items() if points}
    if not shown:
        return ""
    everything = [point for points in shown.values() for point in points]
    across = _axis([0.0, *(x for x, _ in everything)], _LEFT, WIDTH - _RIGHT, padded=False)
    upward = _axis([y for _, y in everything], HEIGHT - _BOTTOM, _TOP)
    lines = "".join(_curve(name, points, across, upward, index) for index, (name, points) in enumerate(shown.items()))
    return _figure(panel.title, _legend(list(shown)), _grid(across, upward, panel.x_label) + lines)


def bar_chart(title: str, bars: Sequence[tuple[str, float, str]], *, highest: float | None = None, x_label: str = "") -> str:
    """Bars of (label, value, small print below the label). highest: the top of the axis, by default from the values."""
    if not bars:
        return ""
    tallest = max(value for _, value, _ in bars)
    upward = _axis([0.0, highest or tallest or 1.0, tallest], HEIGHT - _BOTTOM - 14, _TOP)  # bars of zeros still need an axis
    step = (WIDTH - _LEFT - _RIGHT) / len(bars)
    body = _horizontal_lines(upward)
    for index, (label, value, small) in enumerate(bars):
        middle, top = _LEFT + (index + 0.5) * step, upward.place(max(value, 0.0))
        width = min(step * 0.64, 56.0)
        body += (
            f'<rect class="accent" x="{middle - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}"'
            f' height="{max(upward.start - top, 0.5):.1f}" rx="1.5">'
            f"<title>{text(f'{isolated(label)}: {spoken(value)} {small}')}</title></rect>"
            + _text(middle, top - 5, spoken(value), "ink num", "middle", 10.5)
            + _text(middle, HEIGHT - 35, label, "quiet num", "middle")
            + _text(middle, HEIGHT - 19, small, "quiet num", "middle", 9.5)
        )
    return _figure(title, "", body + _text(WIDTH - _RIGHT, HEIGHT - 3, x_label, "quiet", "end"))


def thinned(points: Sequence[Point], most: int = _MOST_POINTS) -> list[Point]:
    """At most so many points, each the mean of its neighbours: a screen shows no more, and noise hides less."""
    if len(points) <= most:
        return list(points)
    edges = [round(index * len(points) / most) for index in range(most + 1)]
    groups = [points[start:end] for start, end in pairwise(edges)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def spoken(value: float) -> str:
    """Write a value with about four digits, as short as can be."""
    if value != 0 and (abs(value) < 0.001 or abs(value) >= 1_000_000):
        return f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e").replace("-", "\u2212")
    written = f"{value:,.{max(0, 3 - len(str(int(abs(value)))) + 1)}f}"
    shortened = written.rstrip("0").rstrip(".") if "." in written else written
    return shortened.replace("-", "\u2212")


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Write the numbers of an axis with as many digits as tell them apart, the same for all."""
    step = min((abs(after - before) for before, after in pairwise(ticks)), default=0.0)
    if not step or max(map(abs, ticks)) >= _LONG_NUMBER or step < 1 / _LONG_NUMBER:
        return [spoken(tick) for tick in ticks]
    digits = next(digits for digits in range(10) if abs(step - round(step, digits)) < step / 1000)
    return [f"{tick:,.{digits}f}".replace("-", "\u2212") if tick else "0" for tick in ticks]


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that enclose the range, some four to seven of them."""
    if high <= low:
        margin = abs(low) * 0.1 or 1.0
        low, high = low - margin, high + margin
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = max(12, 3 - math.floor(math.log10(step)))  # enough for steps of any size
    return [round(index * step, digits) for index in range(first, last + 1)]


def _axis(values: Sequence[float], start: float, end: float, *, padded: bool = True) -> _Axis:
    """Make an axis over the values; padded: one that reaches to the ticks around them."""
    ticks = nice_ticks(min(values), max(values))
    low, high = (ticks[0], ticks[-1]) if padded or min(values) == max(values) else (min(values), max(values))
    if high <= low:  # values that differ by less than ticks can say, such as a score of 1e-14
        high = low + 1.0
    return _Axis(low, high, start, end, tuple(tick for tick in ticks if low <= tick <= high))


def _finite(points: Sequence[Point]) -> list[Point]:
    return [(float(x), float(y)) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def _curve(name: str, points: Sequence[Point], across: _Axis, upward: _Axis, index: int) -> str:
    places = [(across.place(x), upward.place(y)) for x, y in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    radius = 2.6 if len(points) <= 40 else 0.0
    dots = "".join(
        f'<g class="dot"><title>{text(f"{isolated(name)}, {spoken(x)}: {spoken(y)}")}</title>'
        f'<circle class="{_FILLS[index % 3]}" cx="{px:.1f}" cy="{py:.1f}" r="{radius}"/>'
        f'<circle class="hit" cx="{px:.1f}" cy="{py:.1f}" r="7"/></g>'
        for (x, y), (px, py) in zip(points, places, strict=True)
    )
    return f'<polyline class="{_LINES[index % 3]}" stroke-width="1.75" stroke-linejoin="round" points="{path}"/>{dots}'


def _grid(across: _Axis, upward: _Axis, x_label: str) -> str:
    named = zip(across.ticks, tick_labels(across.ticks), strict=True)
    marks = "".join(_text(across.place(tick), HEIGHT - 22, mark, "quiet num", "middle") for tick, mark in named)
    return _horizontal_lines(upward) + marks + _text(WIDTH - _RIGHT, HEIGHT - 5, x_label, "quiet", "end")


def _horizontal_lines(upward: _Axis) -> str:
    return "".join(
        f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{upward.place(tick):.1f}" y2="{upward.place(tick):.1f}"/>'
        + _text(_LEFT - 8, upward.place(tick) + 3.5, mark, "quiet num", "end")
        for tick, mark in zip(upward.ticks, tick_labels(upward.ticks), strict=True)
    )


def _legend(names: Sequence[str]) -> str:
    """Named even for a single curve, since titles are broad."""
    keys = "".join(f'<span><i class="key-{index % 3}"></i>{text(name)}</span>' for index, name in enumerate(names))
    return f'<span class="keys">{keys}</span>'


def _figure(title: str, legend: str, body: str) -> str:
    return (
        f'<figure class="chart"><figcaption><b dir="auto">{text(title)}</b>{legend}</figcaption>'
        f'<svg class="sl" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{text(title)}">{body}</svg></figure>'
    )


def _text(x: float, y: float, content: str, kind: str, anchor: str, size: float = 11) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}">{text(content)}</text>'
