"""Pieces of running text that can be shaded, tied to the symbols of a model.

A page shows source and output as whole strings, so that the browser shapes them, and paints boxes behind ranges of them. A
range is a run of whole clusters: where a symbol ends inside a cluster, the cluster belongs to both neighbours.
"""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from seqloom.views.text.graphemes import clusters, utf16_offsets
from seqloom.views.text.labels import END_SIGN

Span = tuple[int, int]

# How subword vocabularies write "a space came before" or "continues the word".
_DECORATIONS = ("\u2581", "\u0120", "##", "@@")


@dataclass(frozen=True)
class Segment:
    """A range of the text, counted in UTF-16 units as browsers do, and the indices of the symbols it belongs to."""

    start: int
    end: int
    symbols: tuple[int, ...]


def segments(text: str, spans: Sequence[Span]) -> list[Segment]:
    """Cut the text into runs of clusters that belong to the same symbols; what belongs to none is left out."""
    owners: list[list[int]] = [[] for _ in text]
    for symbol, (start, end) in enumerate(spans):
        for position in range(max(start, 0), min(end, len(text))):
            owners[position].append(symbol)
    owned = [(start, end, _union(owners[start:end])) for start, end in clusters(text)]
    offsets = utf16_offsets(text)
    found = []
    for symbols, run in groupby(owned, key=lambda one: one[2]):
        pieces = list(run)
        if symbols:
            found.append(Segment(offsets[pieces[0][0]], offsets[pieces[-1][1]], symbols))
    return found


def output_spans(text: str, tokens: Sequence[str]) -> list[Span] | None:
    """Where each token stands in the output text, or None if the text is not simply its tokens in order.

    A final `<end>` has the empty span at the end. Spaces between tokens may be passed over; nothing else may.
    """
    spans: list[Span] = []
    position = 0
    for index, token in enumerate(tokens):
        if token == END_SIGN and index == len(tokens) - 1:
            spans.append((len(text), len(text)))
            continue
        span = _next_span(text, position, token)
        if span is None:
            return None
        spans.append(span)
        position = span[1]
    return spans if not text[position:].strip() else None


def surrounding_word(text: str, span: Span) -> str:
    """Give the whole word of the text in which a span lies; nothing for an empty span."""
    start, end = span
    if not text[start:end].strip():
        return ""
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end].strip(string.whitespace + string.punctuation)


def _next_span(text: str, position: int, token: str) -> Span | None:
    for form in _forms(token):
        start = position
        while not text.startswith(form, start) and start < len(text) and text[start].isspace():
            start += 1
        if form and text.startswith(form, start):
            return start, start + len(form)
    return None


def _forms(token: str) -> list[str]:
    bare = token
    for decoration in _DECORATIONS:
        bare = bare.removeprefix(decoration).removesuffix(decoration)
    return [token, bare, bare.strip()]


def _union(owners: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(sorted({symbol for one in owners for symbol in one}))
