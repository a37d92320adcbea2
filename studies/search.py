"""Search (S1-S4): what widths and length normalisation do, what a search misses, and the tree of one sentence.

    python studies/search.py --data DATA --runs RUNS [--threads 1]

The attention model of Multi30k, German to English, and the built-in dates. Curves are of the validation part; the setting
that is best there is measured on the test part, beside greedy search and the default. DATA holds the folder multi30k.
Writes studies/results/search.json, and the tables and figures of docs/studies/search.md.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import MULTI30K_ATTENTION, Options, examples_of, made, options, results, table, trained, write_page
from figures import Curve, circle, document, line, line_figure, save_figure, words
from switchboard import PLAIN, runs_of

from seqloom.backends import OpenedModel, open_model
from seqloom.data.batches import Padded
from seqloom.data.examples import Example
from seqloom.data.prepared import SOURCE, TARGET
from seqloom.metrics import evaluate, intervals
from seqloom.predict import Predictor
from seqloom.predictions import Prediction
from seqloom.recipe.sections import Beam, Greedy, Search
from seqloom.search.contracts import Hypothesis
from seqloom.search.dispatch import search
from seqloom.search.settings import Request, longest_outputs
from seqloom.search.walk import Choice, Walk
from seqloom.symbols import END

WIDTHS = range(1, 11)
POWERS = {0.0: "plain sum", 0.5: "power 0.5", 1.0: "mean (power 1)"}
NOTICED = 1e-3
"""Two log-probabilities that differ by less are the same: batches of other shapes round otherwise."""
LEAST_PROBABLE = -7.0
"""Exact search is tried where a beam of 10 found something at least this probable (log): then no step has over 1,100 rows."""
SENTENCE = "Ein Mann verkauft Obst auf dem Markt."
TREE_WIDTH = 3


def measure(wanted: Options) -> dict[str, Any]:
    """Search the validation part in all ways, look for what was missed, and measure the best way on the test part."""
    run = trained(MULTI30K_ATTENTION, wanted)
    predictor = Predictor.load(run)
    examples = examples_of(predictor, "validation")
    found = {
        (width, power): predictor.predict(examples, search=Beam(width=width, length_power=power), nbest=width)
        for power in POWERS
        for width in WIDTHS
    }
    references = [one.log_probs for one in predictor.score(examples)]
    curves = [{"width": w, "power": p, **_quality(predictor, examples, some)} for (w, p), some in found.items()]
    best = max(curves, key=lambda one: one["bleu"]["score"])
    ways: dict[str, Search] = {
        "greedy": Greedy(),
        "default": Beam(),
        "best on validation": Beam(width=best["width"], length_power=best["power"]),
    }
    return {
        "validation": curves,
        "greedy_is_beam_1": _same_texts(predictor.predict(examples, search=Greedy()), found[1, 0.0]),
        "missed": _missed(found, references),
        "references": _references(found, references),
        "exact": {
            "multi30k": _exact_study(run, examples, {width: found[width, 0.0] for width in WIDTHS}),
            "dates": _exact_dates(trained(runs_of("dates")["cells"][PLAIN], wanted)),
        },
        "test": {name: {"search": _named(way), **_on_test(predictor, way)} for name, way in ways.items()},
        "tree": _tree(run, SENTENCE),
    }


# --- quality --------------------------------------------------------------------------------------------------------


def _quality(predictor: Predictor, examples: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, Any]:
    items = predictor.items(examples, predictions)
    return {
        "bleu": {"score": evaluate(items, ["bleu"]).metrics["bleu"], "interval": intervals(items, ["bleu"])["bleu"]},
        "chrf": {"score": evaluate(items, ["chrf"]).metrics["chrf"]},
        "length_ratio": sum(len(item.hypothesis.split()) for item in items)
        / sum(len(item.references[0].split()) for item in items),
        "log_prob": float(np.mean([one.best.log_prob for one in predictions])),
        "unfinished": sum(not one.best.finished for one in predictions),
    }


def _on_test(predictor: Predictor, way: Search) -> dict[str, Any]:
    examples = examples_of(predictor, "test")
    return _quality(predictor, examples, predictor.predict(examples, search=way))


def _named(way: Search) -> str:
    return f"beam {way.width}, power {way.length_power:g}" if isinstance(way, Beam) else way.kind


def _same_texts(some: Sequence[Prediction], others: Sequence[Prediction]) -> int:
    return sum(one.text == other.text for one, other in zip(some, others, strict=True))


# --- what was missed ------------------------------------------------------------------------------------------------

Found = Mapping[tuple[int, float], Sequence[Prediction]]


def _missed(found: Found, references: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    """For plain sums and for means, and each width: the share of sentences for which something better is known.

    Known is what any of the searches found, alternatives included, and the reference.
    """
    missed = []
    for power in (0.0, 1.0):
        known = np.max([[_best_score(one, power) for one in some] for some in found.values()], axis=0)
        known = np.maximum(known, [_score(log_probs, power) for log_probs in references])
        for width in WIDTHS:
            scores = np.array([_score(one.best.log_probs, power) for one in found[width, power]])
            missed.append({"width": width, "power": power, "share": float(np.mean(known > scores + NOTICED))})
    return missed


def _best_score(prediction: Prediction, power: float) -> float:
    """The best score among the outputs of one search. One that was cut off is not a whole output, so it does not count."""
    candidates = (prediction.best, *prediction.alternatives)
    return max((_score(one.log_probs, power) for one in candidates if one.finished), default=-math.inf)


def _score(log_probs: Sequence[float], power: float) -> float:
    return float(sum(log_probs) / len(log_probs) ** power)


def _references(found: Found, references: Sequence[Sequence[float]]) -> dict[str, Any]:
    """How often the model itself finds the reference more probable than what greedy search and a beam of 10 wrote."""
    sums = np.array([sum(log_probs) for log_probs in references])
    written = {width: np.array([one.best.log_prob for one in found[width, 0.0]]) for width in (1, 10)}
    return {f"better_than_{width}": float(np.mean(sums > some + NOTICED)) for width, some in written.items()}


# --- exact search ---------------------------------------------------------------------------------------------------


def most_probable(walk: Walk, bound: float) -> Hypothesis:
    """The most probable output of all (S2) of a walk's one sentence, one with the log-probability `bound` being known.

    A sum only falls as an output grows, so whatever has fallen below the best known one can be left. The probabilities of
    all beginnings of one length sum to 1 at most, so no more than exp(-bound) of them are ever alive.
    """
    while walk.goes_on:
        step = walk.step()
        ids, log_probs = walk.every(step)
        sums = walk.sums[:, :, None] + log_probs
        bound = max(bound, float(sums[ids == END].max(initial=-math.inf)))
        _, rows, columns = np.nonzero(sums > bound - NOTICED)
        kept = (0, rows[None], columns[None])
        walk.write(step, Choice(rows[None], ids[kept], log_probs[kept], sums[kept], scores=sums[kept]))
    return walk.hypotheses(1)[0][0]


def _request(model: OpenedModel, text: str, features: Sequence[str], section: Search) -> tuple[Padded, Request]:
    source = Padded.of([model.vocabularies[SOURCE].encode_source(text, tuple(features)).ids])
    forbid = np.asarray(model.vocabularies[TARGET].feature_ids, dtype=np.int64)
    limits = longest_outputs(section, source.lengths)
    return source, Request(limits, np.zeros(1, np.int64), forbid=forbid, source_lengths={SOURCE: source.lengths})


def _walk(model: OpenedModel, example: Example) -> Walk:
    source, request = _request(model, example.sources[SOURCE], example.features, Greedy())
    return Walk(model.stepper, model.stepper.start({SOURCE: source}, 1), request, minimum_length=0)


def _exact_study(run: Path, examples: Sequence[Example], found: Mapping[int, Sequence[Prediction]]) -> dict[str, Any]:
    """How often each width missed the most probable output, and how long that is, where exact search is feasible."""
    model = open_model(run)
    widest = found[max(found)]
    feasible = [index for index, one in enumerate(widest) if one.best.finished and one.best.log_prob > LEAST_PROBABLE]
    best = [most_probable(_walk(model, examples[index]), widest[index].best.log_prob) for index in feasible]
    sums = np.array([one.log_prob for one in best])
    return {
        "of": len(examples),
        "feasible": len(feasible),
        "empty": sum(len(one.tokens) == 1 for one in best),
        "mean_length": float(np.mean([len(one.tokens) for one in best])),
        "missed": {
            str(width): float(np.mean(sums > np.array([some[index].best.log_prob for index in feasible]) + NOTICED))
            for width, some in found.items()
        },
        "mean_lengths": {
            str(width): float(np.mean([len(some[index].best.log_probs) for index in feasible])) for width, some in found.items()
        },
    }


def _exact_dates(run: Path) -> dict[str, Any]:
    predictor = Predictor.load(run)
    examples = examples_of(predictor, "validation")
    found = {width: predictor.predict(examples, search=Beam(width=width, length_power=0.0)) for width in (1, 2, 5, 10)}
    return _exact_study(run, examples, found)


# --- the tree of one sentence ---------------------------------------------------------------------------------------


def _tree(run: Path, text: str) -> dict[str, Any]:
    """Every continuation that a narrow beam chose for a sentence, and what greedy search wrote."""
    model = open_model(run)
    section = Beam(width=TREE_WIDTH, length_power=1.0)
    source, request = _request(model, text, (), section)
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
        "width": TREE_WIDTH,
        "steps": steps,
        "greedy": {"text": greedy.text, "symbols": greedy.best.tokens, "log_prob": greedy.best.log_prob},
        "beam": {"text": beam.text, "symbols": beam.best.tokens, "log_prob": beam.best.log_prob},
    }


def _node(parent: int, symbol: str, log_prob: float, finished: bool) -> dict[str, Any]:
    return {"parent": parent, "symbol": symbol, "log_prob": log_prob, "finished": finished}


# --- the page -------------------------------------------------------------------------------------------------------


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    return {
        "made": made("search", found),
        "curves": "\n".join(_curve_figure(found["validation"], *one) for one in CURVES),
        "validation": _validation_table(found["validation"]),
        "test": _test_table(found["test"]),
        "missed": _missed_figure(found["missed"]),
        "missed-numbers": _missed_sentences(found),
        "exact": _exact_table(found["exact"]),
        "tree": _tree_figure(found["tree"]),
    }


CURVES = (
    ("bleu", "BLEU on validation by beam width"),
    ("length_ratio", "Words written / words of the reference, by beam width"),
    ("log_prob", "Mean log-probability of the output, by beam width"),
)


def _curve_figure(rows: Sequence[Mapping[str, Any]], name: str, title: str) -> str:
    curves = [
        Curve(label, [(one["width"], _value(one[name])) for one in rows if one["power"] == power])
        for power, label in POWERS.items()
    ]
    return save_figure(f"search-{name.replace('_', '-')}", line_figure(title, curves, x_label="beam width"), title)


def _value(measured: float | Mapping[str, float]) -> float:
    return measured if isinstance(measured, float) else measured["score"]


def _validation_table(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["width", *(f"{what}, {label}" for what in ("BLEU", "length ratio", "log p") for label in POWERS.values())]
    by_width = {width: {one["power"]: one for one in rows if one["width"] == width} for width in WIDTHS}
    return table(
        head,
        [
            [
                width,
                *(f"{by_power[power]['bleu']['score']:.1f}" for power in POWERS),
                *(f"{by_power[power]['length_ratio']:.3f}" for power in POWERS),
                *(f"{by_power[power]['log_prob']:.2f}" for power in POWERS),
            ]
            for width, by_power in by_width.items()
        ],
    )


def _test_table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    head = ["", "search", "BLEU (95 %)", "chrF", "length ratio", "mean log p"]
    return table(
        head,
        [
            [
                name,
                one["search"],
                "{:.1f} ({:.1f}-{:.1f})".format(one["bleu"]["score"], *one["bleu"]["interval"]),
                f"{one['chrf']['score']:.1f}",
                f"{one['length_ratio']:.3f}",
                f"{one['log_prob']:.2f}",
            ]
            for name, one in rows.items()
        ],
    )


def _missed_figure(rows: Sequence[Mapping[str, Any]]) -> str:
    title = "Sentences for which something better is known, %"
    curves = [
        Curve(POWERS[power], [(one["width"], 100 * one["share"]) for one in rows if one["power"] == power])
        for power in (0.0, 1.0)
    ]
    return save_figure("search-missed", line_figure(title, curves, x_label="beam width", floor=0.0), title)


def _missed_sentences(found: Mapping[str, Any]) -> str:
    shares = found["references"]
    return table(
        ["the model gives the reference more probability than", "sentences"],
        [
            ["what greedy search wrote", f"{100 * shares['better_than_1']:.1f} %"],
            ["what a beam of 10 found (plain sum)", f"{100 * shares['better_than_10']:.1f} %"],
        ],
    )


def _exact_table(studies: Mapping[str, Mapping[str, Any]]) -> str:
    head = ["", "sentences", "search", "missed the most probable output", "mean length of its outputs"]
    rows: list[list[object]] = []
    for task, study in studies.items():
        for width, share in study["missed"].items():
            of = f"{study['feasible']:,} of {study['of']:,}"
            rows.append([task, of, f"beam {width}", f"{100 * share:.1f} %", f"{study['mean_lengths'][width]:.2f}"])
        rows.append([task, of, f"exact ({study['empty']} empty)", "0 %", f"{study['mean_length']:.2f}"])
    return table(head, rows)


# --- the picture of the tree ----------------------------------------------------------------------------------------

COLUMN, ROW = 98.0, 62.0


def _tree_figure(tree: Mapping[str, Any]) -> str:
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
    body += _tree_keys()
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


def _tree_keys() -> str:
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


if __name__ == "__main__":
    write_page("search", page(results("search", options(__doc__), measure)))
