"""What a language model makes of a text, as drawings for print: symbols beside each other, on as many rows as they need."""

import math
from collections.abc import Callable, Iterator, Sequence

from seqloom.results.language import Activations, Line, Reading
from seqloom.views.drawing.page import number
from seqloom.views.drawing.sketch import Rectangle, Shape, Sketch, Stroke, Symbol, TextLine
from seqloom.views.drawing.theme import level
from seqloom.views.language.shading import LINE_END, surprise_shade
from seqloom.views.text.labels import Label, estimated_width, label

_WIDTH, _MARGIN, _LEFT = 920.0, 14.0, 14.0
_ROW, _FONT = 24.0, 14.0
_CELL, _SMALL, _BARS = 19.0, 12.0, 46.0
_ALTERNATIVES = 4
"""So many of the most probable symbols stand below each symbol."""
_NARROWEST = 26.0


def surprise_sketch(readings: Sequence[Reading], title: str) -> Sketch:
    """Lines in the order of the text, each symbol on orange: the stronger, the less it was expected."""

    def shade(reading: Reading, index: int) -> float:
        return surprise_shade(float(reading.bits[index]), reading.choices).strength

    legend = "orange: as improbable as a blind guess, or more; nothing: expected. Left: bits per symbol"
    lines = [(number(one.surprise, 2), one.line, _of(one, shade)) for one in readings]
    return _shaded([("", lines)], title, legend)


def units_sketch(activations: Activations, title: str) -> Sketch:
    """The text once for each unit: orange where it shows more than 0, blue where it shows less."""
    scale = max([1.0, *(float(abs(values).max(initial=0.0)) for unit in activations.units for values in unit.values)])
    blocks = []
    for unit in activations.units:
        shown = zip(activations.lines, unit.values, strict=True)
        lines = [("", line, [value / scale for value in values.tolist()]) for line, values in shown]
        blocks.append((f"layer {unit.layer}, unit {unit.number}", lines))
    return _shaded(blocks, title, f"value after the symbol is read: orange up to {scale:.2g}, blue down to \u2212{scale:.2g}")


def next_symbols_sketch(readings: Sequence[Reading], title: str) -> Sketch:
    """Every symbol with the surprise at it; below it what was most probable there, on blue: the darker, the more."""
    shapes: list[Shape] = [*_heading(title, "bars: surprise in bits; below each symbol: what was most probable there")]
    top = 58.0
    for reading in readings:
        labels = [_true_label(reading.line, index) for index in range(len(reading.line.symbols))]
        for columns in _columns(reading, labels):
            shapes += _distributions(reading, labels, columns, top)
            top += _BARS + (_ALTERNATIVES + 2) * _CELL + 12
    return Sketch(_WIDTH + 2 * _MARGIN, top, shapes)


# --- shaded text ----------------------------------------------------------------------------------------------------

Shaded = tuple[str, Line, Sequence[float]]
"""What stands before a line, the line, and the strength of each of its symbols, from -1 to 1."""


def _of(reading: Reading, shade: Callable[[Reading, int], float]) -> list[float]:
    return [shade(reading, index) for index in range(len(reading.line.symbols))]


def _shaded(blocks: Sequence[tuple[str, Sequence[Shaded]]], title: str, legend: str) -> Sketch:
    shapes, top = _heading(title, legend), 66.0
    for name, lines in blocks:
        if name:
            shapes.append(TextLine(_LEFT, top, name, size=13, bold=True))
            top += _ROW
        indent = _LEFT + (44.0 if any(before for before, _, _ in lines) else 0.0)
        for before, line, strengths in lines:
            shapes.append(TextLine(indent - 12, top, before, "quiet", 11, "end"))
            drawn, top = _line(line, strengths, indent, top)
            shapes += drawn
        top += 10 if name else 0
    return Sketch(_WIDTH + 2 * _MARGIN, top, shapes)


def _line(line: Line, strengths: Sequence[float], left: float, top: float) -> tuple[list[Shape], float]:
    """The symbols of a line from left to right, wrapped; and where the next line begins."""
    shapes: list[Shape] = []
    x = left
    for index, strength in enumerate(strengths):
        one = _true_label(line, index)
        width = max(estimated_width(one.text) * _FONT, 5.0) + 1
        if x + width > _WIDTH + _MARGIN:
            x, top = left, top + _ROW
        ground = Rectangle(
            x, top - 15, width, 20, "doubt" if strength > 0 else "accent", opacity=0.75 * min(1.0, abs(strength))
        )
        shapes += [ground, Symbol(x + width / 2, top, one, _FONT)]
        x += width
    return shapes, top + _ROW


def _true_label(line: Line, index: int) -> Label:
    """A symbol as it stands in the text, a line's end as a sign, an unknown one marked."""
    start, end = line.spans[index]
    if line.unknown[index]:
        return label(line.text[start:end], unknown=True)
    return _label(line.symbols[index])


def _label(symbol: str) -> Label:
    return label(LINE_END if symbol == "<end>" else symbol, mark=symbol == "<end>" or not symbol.strip())


def _heading(title: str, legend: str) -> list[Shape]:
    return [TextLine(_LEFT, 24, title, size=14, bold=True), TextLine(_LEFT, 42, legend, "quiet", 11.5)]


# --- distributions --------------------------------------------------------------------------------------------------


def _columns(reading: Reading, labels: Sequence[Label]) -> Iterator[list[tuple[int, float, float]]]:
    """The symbols in rows that fit: of each its number, where its column begins, and how wide it is."""
    row: list[tuple[int, float, float]] = []
    x = _LEFT
    for index, one in enumerate(labels):
        others = [_label(symbol).text for symbol, _ in reading.alternatives[index][:_ALTERNATIVES]]
        width = max(_NARROWEST, *(estimated_width(text) * _SMALL + 8 for text in others), estimated_width(one.text) * 13 + 8)
        if row and x + width > _WIDTH + _MARGIN:
            yield row
            row, x = [], _LEFT
        row.append((index, x, width))
        x += width
    yield row


def _distributions(
    reading: Reading, labels: Sequence[Label], columns: Sequence[tuple[int, float, float]], top: float
) -> Iterator[Shape]:
    most = max(1.0, float(reading.bits.max()))
    base = top + _BARS
    yield Stroke([(_LEFT, base), (columns[-1][1] + columns[-1][2], base)], "rule")
    for index, x, width in columns:
        bits, middle = float(reading.bits[index]), x + width / 2
        high = bits / most * (_BARS - 16)
        yield Rectangle(x + 3, base - high, width - 6, high, "doubt", faint=True)
        yield TextLine(middle, base - high - 3, f"{bits:.1f}", "quiet", 9, "middle")
        yield Symbol(middle, base + 16, labels[index], 13)
        for row, (symbol, log_prob) in enumerate(reading.alternatives[index][:_ALTERNATIVES]):
            weight, y = math.exp(min(0.0, log_prob)), base + 22 + row * _CELL
            yield Rectangle(x + 1, y, width - 2, _CELL - 1, f"w{level(weight)}", tooltip=f"{symbol}: {weight:.3f}")
            shown = _label(symbol)
            yield TextLine(middle, y + 13.5, shown.text, "paper" if weight > 0.5 else "ink", _SMALL, "middle")
