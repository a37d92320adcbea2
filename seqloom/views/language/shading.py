"""A line of text whose symbols are shaded, one by one, in one piece: neighbours join as their script wants it.

The shades are in the markup, so the text can be read without the script, which only adds pointing.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seqloom.results.language import Line
from seqloom.views.drawing.page import text
from seqloom.views.text.labels import visible
from seqloom.views.text.segments import segments

LINE_END = "\u21b5"


@dataclass(frozen=True)
class Shade:
    """How a stretch of text is shaded: from -1, full in the one colour, over 0 to 1, full in the other. title: on hover."""

    strength: float
    title: str = ""


def shaded(line: Line, shade_of: Callable[[Sequence[int]], Shade]) -> str:
    """The line as markup. shade_of: the shade of a stretch that belongs to these symbols; several if they share a shape."""
    units = line.text.encode("utf-16-le", "surrogatepass")  # segments count as browsers do

    def cut(start: int, end: int) -> str:
        return units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")

    pieces, done = [], 0
    shown: set[int] = set()
    for one in segments(line.text, line.spans):
        pieces += [text(cut(done, one.start)), _piece(line, cut(one.start, one.end), one.symbols, shade_of(one.symbols))]
        done = one.end
        shown.update(one.symbols)
    pieces.append(text(cut(done, len(units) // 2)))
    pieces += [_mark(line, index, shade_of([index])) for index in range(len(line.symbols)) if index not in shown]
    return f'<span class="shaded" dir="auto">{"".join(pieces)}</span>'


def surprise_shade(bits: float, choices: int) -> Shade:
    """Full colour for what is as improbable as a blind guess among all symbols, or more."""
    return Shade(min(1.0, bits / max(1.0, math.log2(choices))))


def _piece(line: Line, content: str, symbols: Sequence[int], shade: Shade) -> str:
    kind = "unknown" if any(line.unknown[one] for one in symbols) else ""
    return _element(text(content), symbols, shade, kind)


def _mark(line: Line, index: int, shade: Shade) -> str:
    """A symbol that stands nowhere in the text: `end`, as the end of the line."""
    sign = LINE_END if line.symbols[index] == "<end>" else visible(line.symbols[index])
    return _element(text(sign), [index], shade, "mark")


def _element(content: str, symbols: Sequence[int], shade: Shade, kind: str) -> str:
    kinds = " ".join(filter(None, [kind, "low" if shade.strength < 0 else ""]))
    named = f' class="{kinds}"' if kinds else ""
    title = f' title="{text(shade.title)}"' if shade.title else ""
    numbers = ",".join(map(str, symbols))
    return f'<i{named} data-s="{numbers}" style="--v:{abs(shade.strength):.2f}"{title}>{content}</i>'
