"""The search tree of one sentence: every continuation that a narrow beam chose, with its probabilities, as a picture."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from exact import request_for
from figures import circle, document, line, save_figure, words

from seqloom.prediction.backends import open_model
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import SOURCE, TARGET, Beam, Greedy
from seqloom.search.dispatch import search

COLUMN, ROW = 98.0, 62.0


def grown(run: Path, text: str, width: int) -> dict[str, Any]:
    """Every continuation that a narrow beam chose for a sentence, and what greedy search wrote."""
    model = open_model(run)
    section = Beam(width=width, length_power=1.0)
    source, request = request_for(model, text, (), section)
    vocabulary = model.vocabularies[TARGET]
    steps = []
    traces = search(model.stepper, model.stepper.start({SOURCE: source}, 1), section, request)
    for trace in traces:
        real = np.isfinite(trace.log_probs[0])
        symbols = [vocabulary.symbols(np.array([token]))[0] for token in trace.tokens[0]]
        columns = zip(trace.parents[0].tolist(), symbols, trace.log_probs[0].tolist(), trace.finished[0].tolist(), strict=True)
        steps.append([_node(*one) if exists else None for one, exists in zip(columns, real.tolist(), strict=True)])
    predictor = Predictor.load(run)
    [greedy], [beam] = (predictor.predict([text], search=way) for way in (Greedy(), section))
    return {
        "sentence": text,
        "width": width,
        "steps": steps,
        "greedy": {"text": greedy.text, "symbols": greedy.best.tokens, "log_prob": greedy.best.log_prob},
        "beam": {"text": beam.text, "symbols": beam.best.tokens, "log_prob": beam.best.log_prob},
    }


def _node(parent: int, symbol: str, log_prob: float, finished: bool) -> dict[str, Any]:
    return {"parent": parent, "symbol": symbol, "log_prob": log_prob, "finished": finished}


def drawn(tree: Mapping[str, Any]) -> str:
    """The tree from left to right, a column for each step, the most probable continuation at the top."""
    steps = tree["steps"]
    places = {
        (column, row): (70 + column * COLUMN, 84 + row * ROW)
        for column, step in enumerate(steps)
        for row, node in enumerate(step)
        if node is not None
    }
    paths = _paths(steps)
    chosen, greedy = tuple(tree["beam"]["symbols"]), tuple(tree["greedy"]["symbols"])
    goes_on = {(column - 1, steps[column][row]["parent"]) for column, row in places if column}
    body = words(14, 22, f"A beam of {tree['width']}: {tree['sentence']}", "ink bold", size=13)
    body += _keys()
    root = (16.0, 84.0)
    nodes = circle(*root, 4, "quiet", tooltip="begin")
    for place, (x, y) in places.items():
        column, row = place
        node, path = steps[column][row], paths[place]
        above = (column - 1, node["parent"])
        start = (places[above][0] + 26, places[above][1]) if column else (root[0] + 5, root[1])
        before = steps[column - 1][node["parent"]]["log_prob"] if column else 0.0
        body += line(start, (x - 26, y), "line-c", width=1, more=' opacity="0.5"')
        if path == greedy[: column + 1]:
            body += line((start[0], start[1] + 3), (x - 26, y + 3), "line-b", width=2, more=' stroke-dasharray="5 3"')
        if path == chosen[: column + 1]:
            body += line(start, (x - 26, y), "line-a", width=2.5)
        alive = place in goes_on or node["finished"]
        nodes += _drawn_node(x, y, node, before, "ink" if alive else "quiet", bold=path == chosen[: column + 1])
    width, height = 70 + (len(steps) - 1) * COLUMN + 70, 84 + (max(len(step) for step in steps) - 1) * ROW + 46
    title = f"The tree of a beam of {tree['width']} for one sentence"
    return save_figure("search-tree", document(width, height, body + nodes, description=title), title)


def _drawn_node(x: float, y: float, node: Mapping[str, Any], before: float, kind: str, *, bold: bool) -> str:
    """The symbol, how probable it was after its beginning, and the sum of logarithms up to it."""
    weight = " bold" if bold else ""
    return (
        words(x, y + 4, node["symbol"], kind + weight, anchor="middle", size=12.5)
        + words(x, y + 17, f"{math.exp(node['log_prob'] - before):.3f}", "quiet num", anchor="middle", size=10)
        + words(x, y + 29, f"{node['log_prob']:.2f}", "quiet num", anchor="middle", size=10)
    )


def _keys() -> str:
    return (
        line((14, 42), (36, 42), "line-a", width=2.5)
        + words(42, 46, "the output of the beam", "ink")
        + line((190, 42), (212, 42), "line-b", width=2, more=' stroke-dasharray="5 3"')
        + words(218, 46, "greedy search", "ink")
        + words(320, 46, "below a symbol: its probability, and the sum of logarithms up to it", "quiet")
    )


def _paths(steps: Sequence[Sequence[Mapping[str, Any] | None]]) -> dict[tuple[int, int], tuple[str, ...]]:
    """All symbols from the root to each node."""
    paths: dict[tuple[int, int], tuple[str, ...]] = {}
    for column, step in enumerate(steps):
        for row, node in enumerate(step):
            if node is not None:
                before = paths[column - 1, node["parent"]] if column else ()
                paths[column, row] = (*before, node["symbol"])
    return paths
