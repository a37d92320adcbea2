"""Predictions as a request gets them: candidates, where the model looked, what is odd about them, the search tree."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from seqloom.data.examples import Example
from seqloom.data.kinds.contract import Renderer
from seqloom.data.media.animations import apng
from seqloom.data.reading.oracles import Unit
from seqloom.errors import DataError
from seqloom.evaluation.tracing import grow_tree
from seqloom.prediction.constraints import OracleInput, Prefix
from seqloom.prediction.drawn import DrawnPrediction
from seqloom.prediction.predictor import Predictor
from seqloom.prediction.tasks import Task, Watch
from seqloom.recipe.sections import Search
from seqloom.results.layouts import Film, Frames, Grid, Layout, Tokens
from seqloom.results.predictions import Alignment, Candidate
from seqloom.results.search_tree import SearchTree
from seqloom.search.traces import Trace
from seqloom.symbols import SPECIALS
from seqloom.views.charts.tree import tree_drawing
from seqloom.views.drawing.pixels import data_uri, rgb_png, shrunk
from seqloom.views.maps.heatmap import drawing as map_drawing
from seqloom.views.maps.listening import listening_drawing

_PICTURE = 512
"""Longer sides of a picture are shrunk to this: it is to be looked at."""
_FILM = 4
"""How many axes the frames of a film have."""
_READ = 0.05
"""A position with less weight than this over all steps was never read."""
_LONGEST_REPEAT = 40


@dataclass(frozen=True)
class Wish:
    """What is asked of a predictor. Equal ones can be computed together, unless they have an oracle or want a tree."""

    section: Search
    nbest: int = 1
    prefix: Prefix = ""
    oracle: OracleInput = None
    oracle_unit: Unit = "symbols"
    tree: bool = False

    @property
    def is_alone(self) -> bool:
        """Whether it is about one input."""
        return self.oracle is not None or self.tree


@dataclass(frozen=True)
class FoundPrediction:
    """What was found for one input."""

    prediction: DrawnPrediction
    tree: SearchTree | None = None


def find(predictor: Predictor, wish: Wish, examples: Sequence[Example], watch: Watch) -> list[FoundPrediction]:
    """Predict; for one input, with its tree if that is wanted."""
    predictions = predictor.predict(
        examples,
        search=wish.section,
        nbest=wish.nbest,
        prefix=wish.prefix,
        oracle=None if wish.oracle is None else [wish.oracle],
        oracle_unit=wish.oracle_unit,
        watch=watch,
    )
    return [FoundPrediction(one, _tree(predictor, wish, example)) for one, example in zip(predictions, examples, strict=True)]


def _tree(predictor: Predictor, wish: Wish, example: Example) -> SearchTree | None:
    if not wish.tree or is_blank(example):
        return None
    options = {"search": wish.section, "prefix": wish.prefix}
    return grow_tree(predictor, example, oracle=wish.oracle, oracle_unit=wish.oracle_unit, **options)  # type: ignore[arg-type]


def is_blank(example: Example) -> bool:
    """Whether there is nothing to read, so that no model is asked."""
    return not any(text.strip() for text in example.sources.values())


# --- bit by bit -----------------------------------------------------------------------------------------------------


def find_stepwise(predictor: Predictor, wish: Wish, example: Example) -> Iterator[dict[str, Any] | FoundPrediction]:
    """The most probable beginning after every step, and at the end what `find` finds."""
    if is_blank(example):
        yield from find(predictor, wish, [example], lambda: None)
        return
    task = predictor.task(
        example, wish.section, nbest=wish.nbest, prefix=wish.prefix, oracle=wish.oracle, oracle_unit=wish.oracle_unit
    )
    steps, paths = task.steps(), Paths()
    while True:
        try:
            paths.follow(next(steps))
        except StopIteration as stop:
            hypotheses = stop.value[0][: wish.nbest]
            break
        yield paths.best(task)
    yield FoundPrediction(predictor.prediction(task, hypotheses), _tree(predictor, wish, example))


class Paths:
    """The beginnings that a search for one input follows, column by column of its traces."""

    def __init__(self) -> None:
        self._paths: list[tuple[int, ...]] = [()]
        self._sums: list[float] = [0.0]

    def follow(self, trace: Trace) -> None:
        """Take a step along."""
        parents, tokens = trace.parents[0].tolist(), trace.tokens[0].tolist()
        self._paths = [(*self._paths[parent], token) for parent, token in zip(parents, tokens, strict=True)]
        self._sums = trace.log_probs[0].tolist()

    @property
    def leader(self) -> tuple[int, ...]:
        """The most probable one."""
        return self._paths[int(np.argmax(self._sums))]

    def best(self, task: Task) -> dict[str, Any]:
        """The most probable one, to be shown."""
        tokens = self.leader
        return {
            "step": len(tokens),
            "text": task.text(tokens),
            "tokens": list(task.symbols(tokens)),
            "log_prob": max(self._sums),
        }


# --- as JSON --------------------------------------------------------------------------------------------------------


def prediction_json(found: FoundPrediction, *, attention: bool, drawing: bool = False) -> dict[str, Any]:
    """One of the `predictions` of an answer. drawing: with what a page draws."""
    prediction = found.prediction
    candidates = [
        candidate_json(one, prediction.renderers if not number else {}, attention=attention)
        for number, one in enumerate(prediction.candidates)
    ]
    return {
        "input": dict(prediction.sources),
        **({"features": list(prediction.features)} if prediction.features else {}),
        "unknown": list(prediction.unknown),
        "candidates": candidates,
        "flags": {"never_read": _never_read(prediction.best), "repeated": repeated(prediction.best.ids)},
        **({} if found.tree is None else {"tree": found.tree.as_json()}),
        **(_drawings(found) if drawing else {}),
    }


def _drawings(found: FoundPrediction) -> dict[str, Any]:
    """What `explain` draws, as data."""
    exhibit = found.prediction.exhibit()
    drawn = {
        "drawing": map_drawing(exhibit),
        "listening_drawing": listening_drawing(exhibit),
        "tree_drawing": None if found.tree is None else tree_drawing(found.tree),
    }
    return {name: one for name, one in drawn.items() if one is not None}


def candidate_json(candidate: Candidate, renderers: Mapping[str, Renderer], *, attention: bool) -> dict[str, Any]:
    """An output with its probabilities and, if wanted, where the model looked."""
    count = max(1, len(candidate.tokens))
    body = {
        "text": candidate.text,
        "tokens": list(candidate.tokens),
        "ids": list(candidate.ids),
        "log_probs": list(candidate.log_probs),
        "log_prob": candidate.log_prob,
        "score": candidate.score,
        "confidence": math.exp(min(0.0, candidate.log_prob / count)),
        **({} if candidate.probability is None else {"probability": candidate.probability}),
        "finished": candidate.finished,
    }
    if not attention:
        return body
    looked = {name: {**_looked(one), **_picture(renderers.get(name))} for name, one in candidate.alignment.items()}
    return {**body, "attention": looked}


def _looked(alignment: Alignment) -> dict[str, Any]:
    weights = np.round(alignment.weights.astype(np.float64), 5)
    return {
        "symbols": list(alignment.symbols),
        "spans": [list(span) for span in alignment.spans],
        "unknown": list(alignment.unknown),
        "layout": layout_json(alignment.layout),
        "weights": np.round(alignment.mean.astype(np.float64), 5).tolist(),
        **({"heads": weights.tolist()} if len(weights) > 1 else {}),
    }


def layout_json(layout: Layout) -> dict[str, Any]:
    """How positions lie."""
    match layout:
        case Tokens():
            return {"kind": "tokens"}
        case Grid(rows, columns):
            return {"kind": "grid", "rows": rows, "columns": columns}
        case Frames(stride, seconds):
            return {"kind": "frames", "stride": stride, **({} if seconds is None else {"seconds": seconds})}
        case Film(rows, columns):
            return {"kind": "film", "rows": rows, "columns": columns}
        case _:
            assert_never(layout)


def _picture(render: Renderer | None) -> dict[str, str]:
    """A source as the model saw it, if it can be drawn."""
    if render is not None:
        with suppress(DataError):
            pixels = render()
            return {"picture": data_uri(apng(pixels) if pixels.ndim == _FILM else rgb_png(shrunk(pixels, _PICTURE)))}
    return {}


def _never_read(candidate: Candidate) -> list[int]:
    """Positions of the first text source that the model hardly looked at."""
    for alignment in candidate.alignment.values():
        if isinstance(alignment.layout, Tokens):
            totals = alignment.mean.sum(axis=0)
            spans, symbols = alignment.spans, alignment.symbols
            real = (place for place, (start, end) in enumerate(spans) if start < end and symbols[place].strip())
            return [place for place in real if totals[place] < _READ]
    return []


def repeated(ids: Sequence[int]) -> list[list[int]]:
    """Ranges of symbols that repeat what stands right before them: three or more symbols once, fewer at least twice."""
    written = [one for one in ids if one >= len(SPECIALS)]
    found: list[list[int]] = []
    start = 0
    while start < len(written):
        length, end = _longest_repeat(written, start)
        if end > start:
            found.append([start + length, end])
            start = end
        else:
            start += 1
    return found


def _longest_repeat(written: Sequence[int], start: int) -> tuple[int, int]:
    """How long the block is that begins here and is repeated, and where its repeats end; the start if it is not."""
    best = (0, start)
    for length in range(1, min(_LONGEST_REPEAT, (len(written) - start) // 2) + 1):
        end = start + length
        while written[end : end + length] == written[start : start + length]:
            end += length
        times = (end - start) // length
        if (times >= 2 and length >= 3) or times >= 3:
            best = max(best, (length, end), key=lambda one: one[1])
    return best
