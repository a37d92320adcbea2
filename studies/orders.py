"""Orders: how far attention is from the diagonal, by how far the words of two languages are from each other's places.

    python studies/orders.py --runs RUNS [--threads 1]

Three languages, made here, that say the same word for word: in the same order, with the verb at the end, and from the last word
to the first. Each is translated into with attention that may look anywhere, and with attention that walks along (local,
monotonic). Runs of benchmarks/pairs.py that are in RUNS (multi30k-en-de, tanaka-en-ja and so on) are measured, too.
Writes studies/results/orders.json, and the tables and figures of docs/studies/orders.md.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    Options,
    Run,
    cost,
    cost_table,
    examples_of,
    is_finished,
    made,
    options,
    results,
    save_figure,
    table,
    trained,
    write_page,
)

from seqloom.prediction.predictor import Predictor
from seqloom.results.predictions import Prediction
from seqloom.views import to_svg

Words = list[str]
NOUNS = ("dog", "cat", "horse", "bird", "child", "farmer", "doctor", "teacher", "king", "sailor")
ADJECTIVES = ("old", "young", "small", "tall", "grey", "kind")
VERBS = ("sees", "helps", "calls", "finds", "follows", "greets", "paints", "knows")
PLACES = ("garden", "town", "forest", "harbour", "house", "field")
COUNTS = {"train": 2500, "validation": 200, "test": 400}
ORDERS: dict[str, Callable[[Words, str, Words, Words], Words]] = {
    "same": lambda subject, verb, thing, place: [*subject, verb, *thing, *place],
    "verb last": lambda subject, verb, thing, place: [*subject, *place, *thing, verb],
    "mirrored": lambda subject, verb, thing, place: [*subject, verb, *thing, *place][::-1],
}
"""Where the parts of a sentence stand."""
LOOKS = {"anywhere": "{kind: additive, size: 48}", "along": "{kind: local, centre: monotonic, window: 2}"}
REAL = {
    "English to German": "multi30k-en-de",
    "English to French": "multi30k-en-fr",
    "English to Japanese": "tanaka-en-ja",
    "Japanese to English": "tanaka-ja-en",
    "English to Japanese, walking along": "tanaka-en-ja-monotonic",
}
SHOWN = 500


def sentences(count: int, seed: int) -> Iterator[tuple[Words, str, Words, Words]]:
    """Subject, verb, object, place."""
    draw = random.Random(seed)

    def thing() -> Words:
        return ["the", *([draw.choice(ADJECTIVES)] if draw.random() < 0.5 else []), draw.choice(NOUNS)]

    for _ in range(count):
        place = ["in", "the", draw.choice(PLACES)] if draw.random() < 0.7 else []
        yield thing(), draw.choice(VERBS), thing(), place


def foreign(word: str) -> str:
    """A word in the other language: its letters backwards, with an ending."""
    return f"{word[::-1]}o"


def write_tables(folder: Path) -> None:
    """The data of all runs: the same sentences in each order."""
    for name, order in ORDERS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for seed, (part, count) in enumerate(COUNTS.items()):
            rows = [(ORDERS["same"](*one), map(foreign, order(*one))) for one in sentences(count, seed)]
            lines = [f"{' '.join(source)}\t{' '.join(target)}\n" for source, target in rows]
            (folder / name / f"{part}.tsv").write_text("".join(lines), encoding="utf-8")


def runs_of() -> dict[str, Run]:
    """A run for each order and each way to look."""
    return {
        f"{order}, {look}": Run(
            f"orders-{order}-{look}".replace(" ", "-"),
            "orders",
            (*(f"data.{part}=orders/{order}/{part}.tsv" for part in COUNTS), f"model.bridge.attention={LOOKS[look]}"),
        )
        for order in ORDERS
        for look in LOOKS
    }


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up all runs; how right each is, and how far it looks from the diagonal."""
    write_tables(wanted.runs / "tables" / "orders")
    placed = Options(wanted.runs / "tables", wanted.runs, wanted.threads, wanted.show, wanted.finished)
    made_up = {}
    for name, run in runs_of().items():
        path = trained(run, placed)
        made_up[name] = {**cost(path), **judged(path, drawn=name.endswith("anywhere"))}
    # Their sentences are those of data sets, which are no part of the project: nothing of them is kept.
    there = {name: wanted.runs / folder for name, folder in REAL.items() if is_finished(Run(folder, ""), wanted)}
    return {"runs": made_up, "real": {name: judged(path, drawn=False) for name, path in there.items()}}


def judged(path: Path, *, drawn: bool) -> dict[str, Any]:
    """Of some test sentences: outputs without an error, the mean distance of what is looked at from the diagonal, and a map."""
    predictor = Predictor.load(path)
    examples = examples_of(predictor, "test")[:SHOWN]
    predictions = predictor.predict(examples)
    right = sum(one.text == example.target for one, example in zip(predictions, examples, strict=True))
    distances = [distance for one in predictions for distance in distances_of(one)]
    return {
        "count": len(examples),
        "right": 100 * right / len(examples),
        "distance": float(np.mean(distances)),
        **({"map": to_svg(predictions[0].best)} if drawn else {}),
    }


def distances_of(prediction: Prediction) -> Sequence[float]:
    """For each symbol but `end`: how far the middle of what was looked at is from the symbol's place, as a share of the length.

    0 is the diagonal; who looks at a place drawn by chance has a third.
    """
    written = len(prediction.tokens) - prediction.best.finished
    weights = next(iter(prediction.alignment.values())).weights.mean(axis=0)[:written]
    steps, length = weights.shape
    if steps < 2 or length < 2:
        return []
    centres = weights @ (np.arange(length) / (length - 1)) / weights.sum(axis=1)
    return [float(one) for one in np.abs(centres - np.arange(steps) / (steps - 1))]


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    runs = found["runs"]
    cells = {name: [f"{one['right']:.1f} %", f"{one['distance']:.3f}"] for name, one in runs.items()}
    real = [[name, f"{one['distance']:.3f}", one["count"]] for name, one in found["real"].items()]
    maps = [
        save_figure(f"orders-{order.replace(' ', '-')}", runs[f"{order}, anywhere"]["map"], f"Attention, order: {order}")
        for order in ORDERS
    ]
    return {
        "made": made("orders", found).replace(" --data DATA", ""),
        "models": cost_table(runs, ["sentences without an error", "distance from the diagonal"], cells),
        "figures": "\n".join(maps),
        "real": table(["translation", "distance from the diagonal", "sentences"], real) if real else "No such run was there.",
    }


if __name__ == "__main__":
    write_page("orders", page(results("orders", options(__doc__, needs_data=False), measure)))
