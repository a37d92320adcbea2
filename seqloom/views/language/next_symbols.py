"""The distribution of the next symbol along a text: how probable the true one was, what else was, and how sure the model."""

import math
from collections.abc import Sequence

from seqloom.results.language import Reading, Summary
from seqloom.views.charts.plots import nice_ticks
from seqloom.views.drawing.page import embedded, foreign, headline, number, page, text
from seqloom.views.language.shading import LINE_END
from seqloom.views.language.surprise import SCRIPTS, STYLES, details, facts, legend, shaded_reading
from seqloom.views.text.labels import Label, estimated_width, isolated, label

_HEIGHT, _LEFT, _TOP, _BOTTOM = 150.0, 40.0, 12.0, 30.0
_FONT = 13.0
_NARROWEST, _WIDEST = 17.0, 76.0


def next_symbols_page(readings: Sequence[Reading], summary: Summary, title: str) -> str:
    """Every line of a text, symbol by symbol."""
    lines = "".join(f"<section>{_line(one)}</section>" for one in readings)
    body = f'<main class="report language"><header>{headline(title)}{facts(summary)}</header>{lines}</main>'
    return page(title, body, styles=STYLES, scripts=SCRIPTS)


def _line(reading: Reading) -> str:
    return (
        f'<div class="seqloom-text"><p class="line">{shaded_reading(reading)}</p>{legend()}{embedded(details([reading]))}</div>'
        f'<figure class="along"><figcaption><b>Surprise and entropy along the text</b><span class="keys">'
        '<span><i class="key-1"></i>surprise at the true symbol</span>'
        '<span><i class="key-0"></i>entropy before it</span></span>'
        f'</figcaption><div class="wide">{_chart(reading)}</div></figure>{_table(reading)}'
    )


# --- the chart ------------------------------------------------------------------------------------------------------


def _chart(reading: Reading) -> str:
    """Bars of surprise and a line of entropy, in bits, above the symbols."""
    labels = [_true_label(reading, index) for index in range(len(reading.line.symbols))]
    widest = max(estimated_width(one.text) for one in labels) * _FONT + 8
    column = min(max(widest, _NARROWEST), _WIDEST)
    ticks = nice_ticks(0.0, max(float(reading.bits.max()), float(reading.entropies.max()), 1.0), 4)
    base, width = _HEIGHT - _BOTTOM, _LEFT + column * len(labels) + 8

    def height(bits: float) -> float:
        return base - bits / ticks[-1] * (base - _TOP)

    grid = "".join(
        f'<line class="axis" x1="{_LEFT}" x2="{width - 8:.1f}" y1="{height(tick):.1f}" y2="{height(tick):.1f}"/>'
        f'<text class="quiet num" x="{_LEFT - 7}" y="{height(tick) + 3.5:.1f}" font-size="11" text-anchor="end">{tick:g}</text>'
        for tick in ticks
    )
    bars = "".join(
        f'<rect class="doubt bar" x="{_LEFT + index * column + 2:.1f}" y="{height(bits):.1f}" width="{column - 4:.1f}"'
        f' height="{max(base - height(bits), 0.5):.1f}">'
        f"<title>{text(f'{isolated(labels[index].full)}: {bits:.2f} bits')}</title></rect>"
        for index, bits in enumerate(reading.bits.tolist())
    )
    points = " ".join(
        f"{_LEFT + (index + 0.5) * column:.1f},{height(bits):.1f}" for index, bits in enumerate(reading.entropies.tolist())
    )
    curve = f'<polyline class="line-a" stroke-width="1.75" stroke-linejoin="round" points="{points}"/>'
    names = "".join(_name(one, _LEFT + (index + 0.5) * column, base + 18) for index, one in enumerate(labels))
    unit = f'<text class="quiet" x="{_LEFT - 7}" y="{base + 18}" font-size="11" text-anchor="end">bits</text>'
    return (
        f'<svg class="sl" width="{width:.0f}" height="{_HEIGHT:.0f}" viewBox="0 0 {width:.0f} {_HEIGHT:.0f}" role="img"'
        f' aria-label="Surprise and entropy of every symbol">{grid}{bars}{curve}{names}{unit}</svg>'
    )


def _label(symbol: str) -> Label:
    return label(LINE_END if symbol == "<end>" else symbol, mark=symbol == "<end>")


def _true_label(reading: Reading, index: int) -> Label:
    """An unknown symbol is shown as it stands in the text."""
    start, end = reading.line.spans[index]
    return label(reading.line.text[start:end]) if reading.line.unknown[index] else _label(reading.line.symbols[index])


def _name(one: Label, x: float, y: float) -> str:
    direction = ' direction="rtl" unicode-bidi="isolate"' if one.rtl else ""
    kind = "quiet" if one.mark else "ink"
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{_FONT:g}" text-anchor="middle"{direction}'
    return f'<text class="{kind}" {place}>{text(one.text)}</text>'


# --- the table ------------------------------------------------------------------------------------------------------


def _table(reading: Reading) -> str:
    most = max(len(one) for one in reading.alternatives)
    head = (
        '<tr><th>true symbol</th><th>probability</th><th class="num">rank</th><th class="num">entropy, bits</th>'
        f'<th colspan="{most}">most probable there</th></tr>'
    )
    rows = "".join(_row(reading, index) for index in range(len(reading.line.symbols)))
    return f'<div class="wide"><table class="next"><thead>{head}</thead><tbody>{rows}</tbody></table></div>'


def _row(reading: Reading, index: int) -> str:
    symbol, shown = reading.line.symbols[index], _true_label(reading, index).full
    probability = math.exp(min(0.0, float(reading.log_probs[index])))
    named = foreign(shown, "symbol")
    if reading.line.unknown[index]:
        named = f"{foreign(shown, 'symbol unknown')} <small>unknown</small>"
    alternatives = "".join(_alternative(other, value, own=other == symbol) for other, value in reading.alternatives[index])
    return (
        f"<tr><th>{named}</th><td>{_bar(probability, 'own')}</td><td class='num'>{int(reading.ranks[index]):,}</td>"
        f"<td class='num'>{number(float(reading.entropies[index]), 2)}</td>{alternatives}</tr>"
    )


def _alternative(symbol: str, log_prob: float, *, own: bool) -> str:
    kind = "alternative own" if own else "alternative"
    bar = _bar(math.exp(min(0.0, log_prob)), "")
    return f'<td class="{kind}">{foreign(_label(symbol).text, "symbol")}{bar}</td>'


def _bar(probability: float, kind: str) -> str:
    named = " ".join(filter(None, ["chance", kind]))
    return f'<span class="{named}" style="--p:{probability:.3f}"><b>{_probability(probability)}</b></span>'


def _probability(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}".replace("e-0", "e\u2212").replace("e-", "e\u2212")
