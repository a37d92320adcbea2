"""The interactive heat map: a piece of HTML that stands alone in a page, several times in a report, or in a notebook.

Everything of substance is in the markup, so it can be read without the script; the script adds choosing and hovering. Elements
are found from their map's root by class, never by id, so any number of maps live on one page.
"""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from seqloom.predictions import Alignment, Candidate, Prediction
from seqloom.views.graphemes import utf16_offsets
from seqloom.views.labels import Label, clean
from seqloom.views.layout import Layout, arrange, column_labels, row_labels
from seqloom.views.page import asset, embedded, foreign, number, page, text
from seqloom.views.segments import output_spans, segments
from seqloom.views.svg import cell_inset, probability, static_drawing
from seqloom.views.theme import LEVELS, drawing_style, page_variables

STYLES = ("map.css",)
SCRIPTS = ("map.js",)
EMPTY = "\u2205"

_SCALE = 10_000
"""Weights travel as whole ten-thousandths: shorter than decimals, and finer than anyone reads."""

_NO_ATTENTION = (
    "This model has no attention: it writes from a summary of the whole source, so there is no map to draw. "
    "The bars show how probable each output symbol was, given those before it."
)


def to_html(prediction: Prediction, title: str) -> str:
    """One prediction as a self-contained page."""
    return several_to_html([prediction], title)


def several_to_html(predictions: Sequence[Prediction], title: str) -> str:
    """Predictions one below the other as a self-contained page."""
    body = f"<main><h1 dir=auto>{text(title)}</h1>{''.join(component(one) for one in predictions)}</main>"
    return page(title, body, styles=STYLES, scripts=SCRIPTS)


def to_fragment(prediction: Prediction) -> str:
    """Give the map with its style and script, for `_repr_html_` of a notebook. Without scripts it stays a drawing."""
    css = page_variables() + drawing_style() + "".join(asset(name) for name in STYLES)
    code = "".join(asset(name) for name in SCRIPTS)
    return f'<div class="seqloom"><style>{css}</style>{component(prediction)}<script>{code}</script></div>'


def component(prediction: Prediction) -> str:
    """Make the map alone. The page around it must carry STYLES and SCRIPTS."""
    attention = any(one.alignment for one in prediction.candidates)
    note, legend = ("", _legend()) if attention else (f'<p class="note">{_NO_ATTENTION}</p>', "")
    return (
        '<section class="seqloom-map">'
        f"{_texts(prediction)}{_candidates(prediction)}{note}"
        '<div class="controls"></div>'
        f'<div class="plot"><div class="scroll">{static_drawing(prediction.best)}</div></div>'
        f"{legend}{embedded(_data(prediction))}</section>"
    )


def _texts(prediction: Prediction) -> str:
    features = "".join(foreign(one, "feature") for one in prediction.features)
    names = list(prediction.sources)
    sources = "".join(
        _line(name, (features if index == 0 else "") + _shadeable(one, "source", name))
        for index, (name, one) in enumerate(prediction.sources.items())
    )
    doubt = '<span class="doubt-key">less sure<i></i><span class="certainty"></span></span>'
    caption = "output" if "output" not in names else "written"
    return f'<dl class="texts">{sources}{_line(caption, _shadeable(prediction.text, "output", "") + doubt)}</dl>'


def _line(caption: str, content: str) -> str:
    return f"<dt dir=auto>{text(caption)}</dt><dd>{content}</dd>"


def _shadeable(value: str, kind: str, name: str) -> str:
    """Put a text in one piece, as the script needs it to find ranges in it, with room for boxes behind."""
    return f'<span class="shadeable {kind}" data-name="{text(name)}"><span class="run" dir="auto">{text(value)}</span></span>'


def _candidates(prediction: Prediction) -> str:
    if not prediction.alternatives:
        return f'<p class="scores">{_scores(prediction.best)}</p>'
    rows = "".join(
        f'<li><button type="button" class="candidate" aria-pressed="{str(index == 0).lower()}">'
        f"<b>{index + 1}</b>{foreign(one.text or EMPTY, 'text')}<span class='num'>{_scores(one)}</span></button></li>"
        for index, one in enumerate(prediction.candidates)
    )
    return f'<ol class="candidates" aria-label="Outputs, best first">{rows}</ol>'


def _scores(candidate: Candidate) -> str:
    unfinished = "" if candidate.finished else "<span>unfinished</span>"
    return f"<span>score {number(candidate.score)}</span><span>log p {number(candidate.log_prob)}</span>{unfinished}"


def _legend() -> str:
    return '<div class="legend"><span>weight</span><span>0</span><i></i><span>1</span></div>'


def _data(prediction: Prediction) -> dict[str, Any]:
    names = list(dict.fromkeys(name for one in prediction.candidates for name in one.alignment))
    return {
        "scale": _SCALE,
        "levels": LEVELS,
        "sources": [clean(name) for name in names],
        "candidates": [_candidate_data(one, prediction, names) for one in prediction.candidates],
    }


def _candidate_data(candidate: Candidate, prediction: Prediction, names: Sequence[str]) -> dict[str, Any]:
    rows = row_labels(candidate)
    maps = [_map_data(rows, candidate.alignment.get(name), prediction.sources.get(name, "")) for name in names]
    return {
        "text": clean(candidate.text),
        "rows": [_label_data(one) for one in rows],
        "probabilities": [round(probability(one), 4) for one in candidate.log_probs],
        "output": _output_segments(candidate),
        "maps": maps or [_map_data(rows, None, "")],
    }


def _map_data(rows: Sequence[Label], alignment: Alignment | None, source: str) -> dict[str, Any]:
    columns = column_labels(alignment)
    return {
        "columns": [_label_data(one) for one in columns],
        "heads": _heads(alignment),
        "segments": [astuple(one) for one in segments(source, alignment.spans)] if alignment else [],
        "layout": _layout_data(arrange(rows, columns)),
    }


def _heads(alignment: Alignment | None) -> list[list[int]]:
    """Per head, its weights row by row as whole numbers."""
    if alignment is None:
        return []
    scaled = np.rint(np.nan_to_num(alignment.weights, posinf=0.0, neginf=0.0) * _SCALE).astype(np.int64)
    listed: list[list[int]] = scaled.reshape(len(scaled), -1).tolist()
    return listed


def _label_data(one: Label) -> list[Any]:
    """Text, right to left, mark, and the full symbol if it was shortened."""
    return [one.text, int(one.rtl), int(one.mark), one.full if one.full != one.text else 0]


def _layout_data(layout: Layout) -> dict[str, Any]:
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
