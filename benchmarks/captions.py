"""Captions of photographs and questions about them: cut the data as published, train, measure the test part once, print a row.

    python benchmarks/captions.py flickr8k --data DATA/flickr8k --runs RUNS
    python benchmarks/captions.py flickr8k-soft --data DATA/flickr8k --runs RUNS
    python benchmarks/captions.py daquar --data DATA/daquar --runs RUNS --threads 2 --set training.epochs=10

DATA/flickr8k holds images.zip, captions.tsv and splits.tsv, DATA/daquar images.zip and qa.tsv. The recipes are those of the
package, `captions` and `visual-questions`; a name says what is changed in them. What the frozen network sees in a picture is
computed once and kept. A run that was interrupted goes on. The row is printed as JSON and as a line of docs/results.md.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from runs import Found, arguments, report

from seqloom.cli.recipes import find_recipe
from seqloom.data.examples import grouped
from seqloom.data.preparing.corpus import Corpus
from seqloom.evaluation.items import items_of
from seqloom.metrics import evaluate
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.runs import RunFolder

HARD = "model.bridge.attention={kind: hard, score: {kind: additive, size: 256}}"
PLAIN = [
    "model.encoder.dropout=0.3",
    "model.decoder.embedding_dropout=0",
    "model.decoder.weight_dropout=0",
    "training.epochs=8",
    "training.label_smoothing=0",
    "training.ema=null",
]
"""What the rows that compare models have in common: held back less, and for a shorter time."""

SYMBOLS = "data.vocabularies.target={kind: symbols, lowercase: true, minimum_count: 4}"
"""These captions have spaces around punctuation. As `words`, the space before a full stop would be a symbol of its own."""

CHANGES: dict[str, list[str]] = {
    "flickr8k-initial": [*PLAIN, "model.bridge={kind: initial}"],
    "flickr8k-every-step": [*PLAIN, "model.bridge={kind: every_step}"],
    "flickr8k-soft": PLAIN,
    "flickr8k-hard": [*PLAIN, HARD, "training.epochs=6"],
    "flickr8k-doubly": [*PLAIN, "model.bridge.doubly_stochastic=1.0"],
    "flickr8k": [SYMBOLS],
    "daquar": [],
}
"""What each row changes in its recipe."""

SPLITS = ("train", "validation", "test")


def cut_flickr(data: Path, out: Path) -> None:
    """The official parts, all captions of a picture one below the other."""
    part_of = {row["image"]: row["split"].replace("dev", "validation") for row in _rows(data / "splits.tsv")}
    captions = list(_rows(data / "captions.tsv"))
    for split in SPLITS:
        _write(out / f"{split}.tsv", ((row["image"], row["caption"]) for row in captions if part_of[row["image"]] == split))


def cut_daquar(data: Path, out: Path) -> None:
    """The official parts; of the training pictures, the last tenth to choose by."""
    rows = list(_rows(data / "qa.tsv"))
    images = sorted({row["image"] for row in rows if row["split"] == "train"})
    kept_back = set(images[len(images) * 9 // 10 :])
    parts: dict[str, list[Sequence[str]]] = {split: [] for split in SPLITS}
    for row in rows:
        part = "test" if row["split"] == "test" else "validation" if row["image"] in kept_back else "train"
        parts[part].append((row["image"], row["question"], row["answer"]))
    for split in SPLITS:
        _write(out / f"{split}.tsv", parts[split])


def _rows(path: Path) -> Iterable[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)


def _write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def settings_of(name: str, data: Path, runs: Path) -> list[str]:
    """Where the data of a row is, and what it changes in its recipe."""
    dataset = name.split("-")[0]
    folder = runs / f"{dataset}-tables"
    if not (folder / "test.tsv").exists():
        folder.mkdir(parents=True, exist_ok=True)
        {"flickr8k": cut_flickr, "daquar": cut_daquar}[dataset](data, folder)
    files = [f"data.{split}={folder / split}.tsv" for split in SPLITS]
    return [*files, f"data.sources.image.root={(data / 'images.zip').resolve()}", *CHANGES[name]]


def measure(run: Path) -> Found:
    """What is reported of a finished run."""
    opened, predictor = RunFolder.open(run), Predictor.load(run)
    counters = opened.counters() or {}
    examples = predictor.tolerant(grouped(Corpus(opened.recipe.data, opened.recipe.seed).examples("test")))
    evaluation = evaluate(items_of(predictor, examples, predictor.predict(examples)))
    chosen = opened.recipe.training.validation.metric
    return {
        "test": {one: evaluation.metrics[one] for one in evaluation.telling},
        "absent": dict(evaluation.absent),
        "count": evaluation.count,
        "validation": {chosen: counters["best"]},
    }


def figures(found: Found) -> str:
    """What validation gave, and what the test part gave, in the order of the metrics."""
    validation = ", ".join(f"{value:.1f}" for value in found["validation"].values())
    return " | ".join([validation, *(f"{value:.1f}" for value in found["test"].values())])


def main() -> None:
    """Train or pick up a run, then measure it."""
    parser = arguments(__doc__)
    parser.add_argument("name", choices=CHANGES)
    wanted = parser.parse_args()
    settings = [*settings_of(wanted.name, wanted.data, wanted.runs), f"training.threads={wanted.threads}", *wanted.set]
    recipe = read_recipe(find_recipe("visual-questions" if wanted.name == "daquar" else "captions"), settings)
    report(wanted.name, recipe, wanted.runs / wanted.name, measure=measure, figures=figures)


if __name__ == "__main__":
    main()
