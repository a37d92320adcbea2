"""The interactive heat map: a piece of HTML that stands alone in a page, several times in a report, or in a notebook.

Everything of substance is in the markup, so it can be read without the script; the script adds choosing and hovering. Elements
are found from their map's root by class, never by id, so any number of maps live on one page.
"""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from seqloom.results.inner_looks import InnerLook
from seqloom.results.predictions import Alignment, Candidate, FloatArray, Prediction
from seqloom.views.drawing.elements import as_elements
from seqloom.views.drawing.page import asset, embedded, foreign, headline, number, page, script, text
from seqloom.views.drawing.theme import LEVELS, drawing_style, page_variables
from seqloom.views.maps import inner
from seqloom.views.maps.chosen import chosen_sources, probability
from seqloom.views.maps.exhibits import Exhibit, Shown, as_exhibit
from seqloom.views.maps.layout import MapLayout, arrange, column_labels, row_labels
from seqloom.views.maps.looks import LIGHTING, look, look_data
from seqloom.views.maps.overlays import is_pictured
from seqloom.views.maps.reels import plan_reels, reel_data, reel_markup
from seqloom.views.maps.strips import pictured, plan_strip
from seqloom.views.maps.svg import UNKNOWN_NOTE, cell_inset, inner_drawing, static_drawing
from seqloom.views.text.graphemes import utf16_offsets
from seqloom.views.text.labels import Label, clean
from seqloom.views.text.segments import output_spans, segments

STYLES = ("map.css", "look.css", "reel.css")
SCRIPTS = ("elements.js", "grid.js", "look.js", "map.js", "inner.js", "reel.js", "living.js", "maps.js")
EMPTY = "\u2205"

SCALE = 10_000
"""Weights travel as whole ten-thousandths: shorter than decimals, and finer than anyone reads."""

_LONG_TEXT = 200
"""Texts of more letters than this are set smaller."""

NO_ATTENTION = (
    "This model has no attention: it writes from a summary of the whole source, so there is no map to draw. "
    "The bars show how probable each output symbol was, given those before it."
)
_INNER_ALONE = (
    "This model writes from a summary, without attention over the sources. What it looked at while it read them is below."
)


def to_html(shown: Shown, title: str) -> str:
    """One prediction as a self-contained page."""
    return several_to_html([shown], title)


def several_to_html(shown: Sequence[Shown], title: str) -> str:
    """Predictions as a self-contained page: one below the other, or beside each other if they have labels to compare."""
    exhibits = [as_exhibit(one) for one in shown]
    components = "".join(component(one) for one in exhibits)
    beside = len(exhibits) > 1 and all(one.label for one in exhibits)
    content = f'<div class="beside">{components}</div>' if beside else components
    body = f"<main>{headline(title)}{content}</main>"
    return page(title, body, styles=STYLES, scripts=SCRIPTS)


def to_fragment(shown: Shown) -> str:
    """Give the map with its style and script, for `_repr_html_` of a notebook. Without scripts it stays a drawing."""
    css = page_variables() + drawing_style() + "".join(asset(name) for name in STYLES)
    return f'<div class="seqloom"><style>{css}</style>{component(shown, compact=True)}<script>{script(SCRIPTS)}</script></div>'


def drawing(shown: Shown) -> dict[str, Any]:
    """The map as data, for a page whose script makes its elements and then draws in them, as `maps.js` does here."""
    exhibit = as_exhibit(shown)
    return {"markup": as_elements(_section(exhibit, compact=False, scripted=True)), "data": _data(exhibit)}


def component(shown: Shown, *, compact: bool = False) -> str:
    """Make the map alone. The page around it must carry STYLES and SCRIPTS. compact: pictures as strips only."""
    return _section(as_exhibit(shown), compact=compact, scripted=False)


def _section(exhibit: Exhibit, *, compact: bool, scripted: bool) -> str:
    """The markup of a map. scripted: without what the script draws, and without its data."""
    prediction, best = exhibit.in_time, exhibit.in_time.best
    attention = any(one.alignment for one in prediction.candidates)
    heading = foreign(exhibit.label, "whose", "h2") if exhibit.label else ""
    strips = [plan_strip(best, name, exhibit.pictures.get(name)) for name in pictured(best)]
    return (
        f'<section class="seqloom-map">{heading}{_texts(prediction)}{_candidates(prediction)}'
        f"{'' if attention else foreign(_INNER_ALONE if exhibit.inside else NO_ATTENTION, 'note', 'p')}"
        f'<div class="controls"></div>{"".join(map(reel_markup, plan_reels(exhibit)))}'
        f"{''.join(look(one, compact=compact, scripted=scripted) for one in strips)}"
        f"{_plot(best, scripted=scripted)}{''.join(_inside(one, scripted=scripted) for one in exhibit.inside)}"
        f"{'' if scripted else embedded(_data(exhibit))}</section>"
    )


def _inside(look: InnerLook, *, scripted: bool) -> str:
    """Where an encoder looked while it read, round by round."""
    still = "" if scripted else "".join(f'<div class="round">{inner_drawing(one)}</div>' for one in inner.inner_maps(look))
    return f'<div class="inside"><p class="what">{text(inner.heading(look))}</p><div class="rounds">{still}</div></div>'


def _plot(candidate: Candidate, *, scripted: bool) -> str:
    """The heat map of the first source that is no picture, if there is one."""
    drawn = [name for name in chosen_sources(candidate, None) if name not in pictured(candidate)]
    if not drawn:
        return ""
    legend = "" if drawn[0] is None else _legend(candidate.alignment[drawn[0]])
    still = "" if scripted else static_drawing(candidate, drawn[0])
    return f'<div class="plot"><div class="scroll">{still}</div></div>{legend}'


def _texts(prediction: Prediction) -> str:
    features = "".join(foreign(one, "feature") for one in prediction.features)
    names = list(prediction.sources)
    sources = "".join(
        _line(name, (features if index == 0 else "") + _shadeable(one, "source", name), long=len(one) > _LONG_TEXT)
        for index, (name, one) in enumerate(prediction.sources.items())
    )
    doubt = '<span class="doubt-key">less sure<i></i><span class="certainty"></span></span>'
    caption = "output" if "output" not in names else "written"
    output = _line(caption, _shadeable(prediction.text, "output", "") + doubt, long=len(prediction.text) > _LONG_TEXT)
    return f'<dl class="texts">{sources}{output}</dl>'


def _line(caption: str, content: str, *, long: bool) -> str:
    return f'<dt dir="auto">{text(caption)}</dt><dd class="{"long" if long else "short"}">{content}</dd>'


def _shadeable(value: str, kind: str, name: str) -> str:
    """Put a text in one piece, as the script needs it to find ranges in it, with room for boxes behind."""
    return f'<span class="shadeable {kind}" data-name="{text(name)}"><span class="run" dir="auto">{text(value)}</span></span>'


def _candidates(prediction: Prediction) -> str:
    if not prediction.alternatives:
        return f'<p class="scores">{_scores(prediction.best)}</p>'
    rows = "".join(
        f'<li><button type="button" class="candidate" aria-pressed="{str(index == 0).lower()}">'
        f"<b>{index + 1}</b>{foreign(one.text or EMPTY, 'text')}"
        f"<span class='num'>{_chance(one) or _scores(one)}</span></button></li>"
        for index, one in enumerate(prediction.candidates)
    )
    return f'<ol class="candidates" aria-label="Outputs, best first">{rows}</ol>'


def _chance(candidate: Candidate) -> str:
    """A bar for the probability of a class; nothing for other outputs."""
    if candidate.probability is None:
        return ""
    share = f"{candidate.probability:.1%}"
    return f'<span class="chance"><i style="width:{share}"></i></span><span>{share}</span>'


def _scores(candidate: Candidate) -> str:
    unfinished = "" if candidate.finished else "<span>unfinished</span>"
    return f"<span>score {number(candidate.score)}</span><span>log p {number(candidate.log_prob)}</span>{unfinished}"


def _legend(alignment: Alignment) -> str:
    unknown = f'<span class="unknown-key">{UNKNOWN_NOTE}</span>' if alignment.unknown else ""
    return f'<div class="legend"><span>weight</span><span>0</span><i></i><span>1</span>{unknown}</div>'


def _data(exhibit: Exhibit) -> dict[str, Any]:
    candidates = exhibit.in_time.candidates
    names = list(dict.fromkeys(name for one in candidates for name in one.alignment))
    lighting = {"lighting": LIGHTING} if any(pictured(one) for one in candidates) else {}
    return {
        "scale": SCALE,
        "levels": LEVELS,
        **lighting,
        **({"reels": [reel_data(one) for one in reels]} if (reels := plan_reels(exhibit)) else {}),
        "sources": [clean(name) for name in names],
        "looks": max((one.looks for candidate in candidates for one in candidate.alignment.values()), default=1),
        "candidates": [_candidate_data(one, exhibit, names) for one in candidates],
        **({"inside": [_inner_data(one, exhibit) for one in exhibit.inside]} if exhibit.inside else {}),
    }


def _inner_data(look: InnerLook, exhibit: Exhibit) -> dict[str, Any]:
    """first: at which row the places of the source begin that was read."""
    rows, columns = inner.row_labels(look), inner.column_labels(look)
    texts = exhibit.prediction.sources
    return {
        "source": clean(look.source),
        "first": look.rows.sources.index(look.source),
        "captions": inner.captions(look),
        "down": next(inner.inner_maps(look)).down,
        "rows": [_label_data(one) for one in rows],
        "columns": [_label_data(one) for one in columns],
        "row_segments": inner.place_segments(look.rows, texts),
        "column_segments": inner.place_segments(look.columns, texts),
        "rounds": [_scaled(one) for one in look.weights],
        "layout": _layout_data(arrange(rows, columns, alone=True)),
    }


def _candidate_data(candidate: Candidate, exhibit: Exhibit, names: Sequence[str]) -> dict[str, Any]:
    rows = row_labels(candidate)
    maps = [_map_data(candidate, rows, name, exhibit) for name in names]
    return {
        "text": clean(candidate.text),
        "rows": [_label_data(one) for one in rows],
        "probabilities": [round(probability(one), 4) for one in candidate.log_probs],
        "output": _output_segments(candidate),
        "maps": maps or [_heat_map_data(rows, None, "")],
    }


def _map_data(candidate: Candidate, rows: Sequence[Label], name: str, exhibit: Exhibit) -> dict[str, Any]:
    alignment = candidate.alignment.get(name)
    if alignment is None or not is_pictured(alignment):
        return _heat_map_data(rows, alignment, exhibit.prediction.sources.get(name, ""))
    return {"heads": _heads(alignment), **look_data(candidate, alignment, exhibit.pictures.get(name))}


def _heat_map_data(rows: Sequence[Label], alignment: Alignment | None, source: str) -> dict[str, Any]:
    columns = column_labels(alignment)
    return {
        "columns": [_label_data(one) for one in columns],
        "heads": _heads(alignment),
        "segments": [astuple(one) for one in segments(source, alignment.spans)] if alignment else [],
        "unknown": _unknown_segments(alignment, source) if alignment else [],
        "layout": _layout_data(arrange(rows, columns)),
    }


def _unknown_segments(alignment: Alignment, source: str) -> list[tuple[int, int, tuple[int, ...]]]:
    found = segments(source, [alignment.spans[one] for one in alignment.unknown])
    return [(one.start, one.end, one.symbols) for one in found]


def _heads(alignment: Alignment | None) -> list[list[int]]:
    """Per head, its weights row by row as whole numbers."""
    return [] if alignment is None else _scaled(alignment.weights)


def _scaled(weights: FloatArray) -> list[list[int]]:
    scaled = np.rint(np.nan_to_num(weights, posinf=0.0, neginf=0.0) * SCALE).astype(np.int64)
    listed: list[list[int]] = scaled.reshape(len(scaled), -1).tolist()
    return listed


def _label_data(one: Label) -> list[Any]:
    """Text, right to left, the theme's colour, and the full symbol if it was shortened."""
    return [one.text, int(one.rtl), one.kind, one.full if one.full != one.text else 0]


def _layout_data(layout: MapLayout) -> dict[str, Any]:
    return {
        "cell": layout.cell,
        "inset": cell_inset(layout.cell),
        "font": layout.font,
        "left": layout.left,
        "top": layout.top,
        "bars": layout.bars,
        "angle": layout.angle,
        "turned": [int(one) for one in layout.turned],
        "width": layout.width,
        "height": layout.height,
    }


def _output_segments(candidate: Candidate) -> list[tuple[int, int, tuple[int, ...]]]:
    """Ranges of the output text per symbol; a text that is not its tokens in order is one range of them all."""
    spans = output_spans(candidate.text, candidate.tokens)
    if spans is None:
        return [(0, utf16_offsets(candidate.text)[-1], tuple(range(len(candidate.tokens))))] if candidate.text else []
    return [(one.start, one.end, one.symbols) for one in segments(candidate.text, spans)]
