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
from common import (
    MULTI30K_ATTENTION,
    Options,
    examples_of,
    made,
    options,
    results,
    save_figure,
    scores,
    table,
    trained,
    with_interval,
    write_page,
)
from exact import NOTICED, exact_study
from switchboard import PLAIN, runs_of

from seqloom.data.examples import Example
from seqloom.evaluation.items import items_of
from seqloom.evaluation.tracing import grow_tree
from seqloom.metrics import evaluate
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Beam, Greedy, Search
from seqloom.results.predictions import Prediction
from seqloom.results.search_tree import SearchTree
from seqloom.views.charts.figures import Curve, line_figure
from seqloom.views.charts.tree import tree_sketch

WIDTHS = range(1, 11)
POWERS = {0.0: "plain sum", 0.5: "power 0.5", 1.0: "mean (power 1)"}
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
            "multi30k": exact_study(run, examples, {width: found[width, 0.0] for width in WIDTHS}),
            "dates": _exact_dates(trained(runs_of("dates")["cells"][PLAIN], wanted)),
        },
        "test": {name: {"search": _named(way), **_on_test(predictor, way)} for name, way in ways.items()},
        "tree": grow_tree(predictor, SENTENCE, search=Beam(width=TREE_WIDTH)).as_json(),
    }


# --- quality --------------------------------------------------------------------------------------------------------


def _quality(predictor: Predictor, examples: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, Any]:
    items = items_of(predictor, examples, predictions)
    return {
        **scores(items, ["bleu"]),
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


def _exact_dates(run: Path) -> dict[str, Any]:
    """The same for the dates, which a model is sure of."""
    predictor = Predictor.load(run)
    examples = examples_of(predictor, "validation")
    found = {width: predictor.predict(examples, search=Beam(width=width, length_power=0.0)) for width in (1, 2, 5, 10)}
    return exact_study(run, examples, found)


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
        "tree": _tree_figure(SearchTree.from_json(found["tree"])),
    }


def _tree_figure(tree: SearchTree) -> str:
    title = f"A beam of {tree.width}: {', '.join(tree.sources.values())}"
    return save_figure("search-tree", tree_sketch(tree, title).svg(title), title)


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
                with_interval(one["bleu"]),
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


if __name__ == "__main__":
    write_page("search", page(results("search", options(__doc__), measure)))
