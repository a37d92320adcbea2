"""Where encoders looked while they read one source beside another: a heat map for each round."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from seqloom.results.inner_looks import InnerLook, Places
from seqloom.results.predictions import FloatArray
from seqloom.views.maps.layout import MapLayout, arrange
from seqloom.views.text.labels import Label, clean, isolated, label
from seqloom.views.text.segments import segments

_QUESTION = "?"
"""Stands above the column of the source that sentences are read together with."""


@dataclass(frozen=True)
class InnerMap:
    """One round as a heat map. across, down: what its columns and its rows are."""

    rows: list[Label]
    columns: list[Label]
    weights: FloatArray
    layout: MapLayout
    across: str
    down: str


def heading(look: InnerLook) -> str:
    """What all rounds of a look show."""
    source, other = isolated(clean(look.source)), isolated(clean(look.other))
    if look.among_themselves:
        return f"Reading {source} and {other}: which sentence looked at which"
    return f"Reading {source}: each word, compared with those of {other}"


def inner_maps(look: InnerLook) -> Iterator[InnerMap]:
    """The maps of all rounds, heads averaged."""
    rows, columns = row_labels(look), column_labels(look)
    layout = arrange(rows, columns, alone=True)
    down = "" if look.among_themselves else f"{isolated(clean(look.source))} \u2193"
    for caption, weights in zip(captions(look), look.rounds, strict=True):
        cleaned = np.nan_to_num(weights.astype(np.float32), posinf=0.0, neginf=0.0)
        yield InnerMap(rows, columns, cleaned, layout, caption, down)


def captions(look: InnerLook) -> list[str]:
    """What stands above the columns of each round."""
    if not look.among_themselves:
        return [f"{isolated(clean(look.other))} \u2192"] * len(look.weights)
    return [f"round {number} \u2192" for number in range(1, len(look.weights) + 1)]


def row_labels(look: InnerLook) -> list[Label]:
    """Labels of what looked. Sentences have their number before them, by which columns call them."""
    if not look.among_themselves:
        return _labels(look.rows)
    places = zip(_numbers(look), look.rows.symbols, strict=True)
    return [
        label(symbol if number == _QUESTION else f"{number} {symbol}", mark=number == _QUESTION) for number, symbol in places
    ]


def column_labels(look: InnerLook) -> list[Label]:
    """Labels of what was looked at. Of sentences, tooltips have more than the number."""
    if not look.among_themselves:
        return _labels(look.columns)
    numbered = zip(_numbers(look), row_labels(look), strict=True)
    return [replace(label(number, mark=number == _QUESTION), full=row.full) for number, row in numbered]


def _numbers(look: InnerLook) -> list[str]:
    first = look.rows.sources.index(look.source)
    return [_QUESTION if place < first else str(place - first + 1) for place in range(len(look.rows.symbols))]


def _labels(places: Places) -> list[Label]:
    found = enumerate(zip(places.symbols, places.spans, strict=True))
    return [label(symbol, mark=start == end, unknown=place in places.unknown) for place, (symbol, (start, end)) in found]


def place_segments(places: Places, texts: Mapping[str, str]) -> dict[str, list[tuple[int, int, tuple[int, ...]]]]:
    """By source, the ranges of its text that places stand for, each with the numbers of these places."""
    found = {}
    for name in dict.fromkeys(places.sources):
        numbers = [place for place, source in enumerate(places.sources) if source == name]
        pieces = segments(texts.get(name, ""), [places.spans[place] for place in numbers])
        found[clean(name)] = [(one.start, one.end, tuple(numbers[symbol] for symbol in one.symbols)) for one in pieces]
    return found


def in_lines(maps: Sequence[InnerMap], widest: float) -> list[list[InnerMap]]:
    """Maps beside each other, as many as fit into a line."""
    lines: list[list[InnerMap]] = [[]]
    for one in maps:
        if lines[-1] and sum(other.layout.width for other in lines[-1]) + one.layout.width > widest:
            lines.append([])
        lines[-1].append(one)
    return lines
