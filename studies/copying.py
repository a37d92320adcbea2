"""Copying: names and numbers that training never had, with a model that can point at them and one that can only write.

    python studies/copying.py --runs RUNS [--threads 1]

Sentences from slots, made here: `name = Marodi ; phone = 482-7716` becomes `The number of Marodi is 482-7716 .`. Half of the
test sentences have names of training, half have new ones; numbers are nearly always new. Writes studies/results/copying.json,
and the tables and figures of docs/studies/copying.md.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from common import Options, Run, cost, cost_table, examples_of, made, options, results, save_figure, table, trained, write_page

from seqloom.evaluation.items import items_of
from seqloom.metrics import Item, evaluate
from seqloom.prediction.predictor import Predictor
from seqloom.views import to_svg

BRIDGE = "model.bridge={kind: attention, query: current, into: [combined], attention: {kind: additive, size: 48}}"
RUNS = {"copying": Run("copying", "copying"), "writing alone": Run("copying-without", "copying", (BRIDGE,))}
COUNTS = {"train": 3000, "validation": 300, "test": 600}
KNOWN_NAMES, NEW_NAMES = 250, 250
SENTENCES = (
    ("name = {name} ; phone = {phone}", "The number of {name} is {phone} ."),
    ("name = {name} ; phone = {phone}", "You can call {name} at {phone} ."),
    ("name = {name} ; room = {room}", "{name} is in room {room} ."),
    ("name = {name} ; other = {other} ; room = {room}", "{name} meets {other} in room {room} ."),
    ("name = {name} ; other = {other}", "{name} and {other} are on their way ."),
)
"""What is to be said, and how it may be said."""


def names(seed: int, count: int) -> list[str]:
    """Made-up names, in the same order everywhere."""
    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = [draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(draw.choice((2, 3)))]
        found["".join(syllables).capitalize()] = None
    return list(found)


def pairs(count: int, seed: int, pool: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Slots and a sentence that says them."""
    draw = random.Random(seed)
    for _ in range(count):
        name, other = draw.sample(pool, 2)
        values = {"name": name, "other": other, "phone": f"{draw.randint(100, 999)}-{draw.randint(1000, 9999)}"}
        values["room"] = str(draw.randint(100, 9999))
        acts, sentence = draw.choice(SENTENCES)
        yield acts.format(**values), sentence.format(**values)


def write_tables(folder: Path) -> None:
    """The data of all runs."""
    every = names(1, KNOWN_NAMES + NEW_NAMES)
    known, new = every[:KNOWN_NAMES], every[KNOWN_NAMES:]
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (part, count) in enumerate(COUNTS.items()):
        if part == "test":
            rows = [*pairs(count // 2, seed, known), *pairs(count // 2, seed + 10, new)]
        else:
            rows = list(pairs(count, seed, known))
        (folder / f"{part}.tsv").write_text("".join(f"{acts}\t{sentence}\n" for acts, sentence in rows), encoding="utf-8")


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up both runs, and judge each on known and on new names."""
    write_tables(wanted.runs / "tables" / "copying")
    placed = Options(wanted.runs / "tables", wanted.runs, wanted.threads, wanted.show, wanted.finished)
    paths = {name: trained(run, placed) for name, run in RUNS.items()}
    return {"runs": {name: {**cost(path), **judged(path)} for name, path in paths.items()}}


def judged(path: Path) -> dict[str, Any]:
    """How often all is right, and how many values are missed, by whether names are known; and one output with its map."""
    predictor = Predictor.load(path)
    examples = examples_of(predictor, "test")
    predictions = predictor.predict(examples)
    items = items_of(predictor, examples, predictions)
    half = len(items) // 2
    shown = predictions[half]
    return {
        "known": _scores(items[:half]),
        "new": _scores(items[half:]),
        "example": {"source": shown.sources["source"], "text": shown.text, "wanted": examples[half].target},
        **({"map": to_svg(shown.best)} if predictor.recipe.copies else {}),
    }


def _scores(items: Sequence[Item]) -> dict[str, float]:
    said = evaluate(items, ["slot_error_rate", "bleu"]).metrics
    right = sum(item.hypothesis in said_of(item.source) for item in items)
    return {"count": len(items), **said, "right": 100 * right / len(items)}


def said_of(acts: str) -> set[str]:
    """All sentences that may be said of some slots."""
    values = dict(part.strip().split(" = ") for part in acts.split(";"))
    fitting = [sentence for form, sentence in SENTENCES if {one.split()[0] for one in form.split(" ; ")} == set(values)]
    return {sentence.format(**values) for sentence in fitting}


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    runs = found["runs"]
    head = ["values missed, known names", "values missed, new names", "right, known names", "right, new names"]
    cells = {
        name: [f"{one[group][metric]:.1f} %" for metric in ("slot_error_rate", "right") for group in ("known", "new")]
        for name, one in runs.items()
    }
    examples = [[f"`{name}`", f"`{one['example']['source']}`", one["example"]["text"]] for name, one in runs.items()]
    title = "Where the model that copies looks while it writes"
    return {
        "made": made("copying", found).replace(" --data DATA", ""),
        "models": cost_table(runs, head, cells),
        "examples": table(["run", "slots", "written"], examples),
        "figures": save_figure("copying-map", runs["copying"]["map"], title),
    }


if __name__ == "__main__":
    write_page("copying", page(results("copying", options(__doc__, needs_data=False), measure)))
