"""How surprising a text was to a language model: every symbol shaded by it, with what the model had expected instead."""

import math
from collections.abc import Sequence
from typing import Any

from seqloom.results.language import Reading, Summary
from seqloom.views.drawing.elements import as_elements
from seqloom.views.drawing.page import embedded, headline, number, page
from seqloom.views.language.shading import Shade, shaded, surprise_shade
from seqloom.views.text.labels import visible

STYLES = ("report.css", "language.css")
SCRIPTS = ("elements.js", "language.js", "texts.js")

MOST_SYMBOLS = 30_000
"""More symbols than this make a page that browsers are slow with."""


def surprise_page(readings: Sequence[Reading], summary: Summary, title: str, *, ranked: bool = True) -> str:
    """Lines by their surprise, the most surprising first, or in the order of the text; buttons change it."""
    shown = sorted(readings, key=lambda one: -one.surprise) if ranked else list(readings)
    rows = "".join(_row(one) for one in shown)
    body = (
        f'<main class="report language"><header>{headline(title)}{facts(summary)}{_left_out(readings, summary)}'
        f'</header><section class="seqloom-text">{legend()}{_controls(shown, ranked=ranked)}<ol class="lines">{rows}</ol>'
        f"{embedded(details(shown))}</section></main>"
    )
    return page(title, body, styles=STYLES, scripts=SCRIPTS)


def facts(summary: Summary) -> str:
    """The figures of a whole text, as a row."""
    pairs = [
        ("lines", f"{summary.lines:,}"),
        ("symbols", f"{summary.symbols:,}"),
        ("log-probability", number(summary.log_prob, 2)),
        ("perplexity per symbol", f"{summary.perplexity:.4g}"),
        ("bits per symbol", number(summary.bits_per_symbol)),
        ("bits per character", number(summary.bits_per_character)),
    ]
    if summary.unknown:
        pairs.append(("unknown symbols", f"{summary.unknown:,}"))
    listed = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in pairs)
    return f'<dl class="facts">{listed}</dl>'


def shaded_reading(reading: Reading) -> str:
    """A line shaded by surprise; a shape that several symbols share has the shade of the most surprising one."""

    def shade(symbols: Sequence[int]) -> Shade:
        return surprise_shade(max(float(reading.bits[one]) for one in symbols), reading.choices)

    return shaded(reading.line, shade)


def reading_drawing(reading: Reading) -> dict[str, Any]:
    """A shaded line as data, for a page whose script makes its elements, and what pointing at them shows."""
    return {"markup": as_elements(shaded_reading(reading)), "data": details([reading])}


def legend() -> str:
    """What the shades mean."""
    return (
        '<p class="shades"><span>expected</span><i></i><span>as improbable as a blind guess, or more</span>'
        '<span class="unknown-key"><u>unknown symbol</u></span></p>'
    )


def details(readings: Sequence[Reading]) -> dict[str, Any]:
    """What pointing shows, for the script: symbols are named once and numbered."""
    names: dict[str, int] = {}

    def numbered(symbol: str) -> int:
        return names.setdefault(visible(symbol), len(names))

    lines = [
        {
            "s": [numbered(one) for one in reading.line.symbols],
            "p": [_short(value) for value in reading.log_probs.tolist()],
            "r": reading.ranks.tolist(),
            "e": [round(value, 2) for value in reading.entropies.tolist()],
            "a": [[[numbered(symbol), _short(value)] for symbol, value in one] for one in reading.alternatives],
        }
        for reading in readings
    ]
    return {"symbols": list(names), "lines": lines}


def _short(log_prob: float) -> float:
    """A probability in as few digits as anyone reads."""
    return float(f"{math.exp(min(0.0, log_prob)):.3g}")


def _row(reading: Reading) -> str:
    return (
        f'<li data-number="{reading.number}" data-surprise="{reading.surprise:.5f}"><span class="num">{reading.number}</span>'
        f'<span class="num">{number(reading.surprise, 2)}</span>{shaded_reading(reading)}</li>'
    )


def _controls(readings: Sequence[Reading], *, ranked: bool) -> str:
    head = '<p class="columns"><span>line</span><span>bits per symbol</span></p>'
    if len(readings) < 2:
        return head
    first, second = ("true", "false") if ranked else ("false", "true")
    return (
        '<p class="order" role="group" aria-label="Order"><span>order</span>'
        f'<button type="button" data-order="surprise" aria-pressed="{first}">most surprising first</button>'
        f'<button type="button" data-order="number" aria-pressed="{second}">as in the text</button></p>{head}'
    )


def _left_out(readings: Sequence[Reading], summary: Summary) -> str:
    if len(readings) == summary.lines:
        return ""
    note = f"The {len(readings):,} most surprising of {summary.lines:,} lines are shown; the figures are those of all."
    return f'<p class="remark">{note}</p>'
