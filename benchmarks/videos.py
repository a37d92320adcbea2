"""Classes and captions of videos: cut the data as published, train, measure the test part once, print a row.

    python benchmarks/videos.py gestures --data DATA/hand_gestures --runs RUNS
    python benchmarks/videos.py gestures-bag --data DATA/hand_gestures --runs RUNS
    python benchmarks/videos.py actions-movement --data DATA/weizmann_actions --runs RUNS --ensemble 5
    python benchmarks/videos.py actions-pretrained --data DATA/weizmann_actions --runs RUNS   (and actions, from pixels)
    python benchmarks/videos.py lips --data DATA/grid_s1 --runs RUNS
    python benchmarks/videos.py moves --runs RUNS

A folder of DATA holds clips.zip and clips.tsv. The recipes are those of the package, `video-classes`, `video-captions` and
`moves`; a name says what is changed in them. gestures-bag and gestures-pretrained-bag see the same frames in no order. actions
leaves out one person after the other: a model for each. With --ensemble, several seeds vote. By --split validation, or some
--people, one chooses between settings (--set). A run that was interrupted goes on. Rows are printed as JSON and as lines of
docs/results.md.
"""

import argparse
import csv
import json
import math
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from runs import Found, add_ensemble, arguments, report, voters

from seqloom.cli.demo_captions import describe
from seqloom.cli.demo_video import measure_films
from seqloom.cli.recipes import find_recipe
from seqloom.data.examples import Example
from seqloom.data.preparing.splitting import SplitName
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import Recipe

BAG = ["model.encoder.time={kind: none, positions: false}", "model.encoder.differences=false"]
"""Frames in no order: what a clip and the same clip backwards have in common."""

PRETRAINED = [
    "data.sources.video={kind: video, size: 128, frames_per_second: 4, maximum_frames: 20}",
    "model.encoder={kind: video, frames: {kind: efficientnet_lite0, size: 64, summary: dense, dropout: 0.3}, memory: grid}",
    "model.encoder.time={kind: pyramid, layers: 1, size: 64, dropout: 0.3}",
    "training.epochs=16",
]
"""Frames as a network sees them that has learnt from photographs: every place of a grid of 4 x 4."""

ACTIONS = [
    "data.sources.video={kind: video, size: 48, grey: true, follow: true, frames_per_second: 8.34, maximum_frames: 60}",
    "model.encoder.flip=true",
    "training.epochs=60",
    "training.batch_size=8",
    "training.label_smoothing=0.1",
    "training.validation={metric: loss, every_steps: 1000}",
]
ACTIONS_PRETRAINED = [
    "data.sources.video={kind: video, size: 96, follow: true, frames_per_second: 12.5, maximum_frames: 80}",
    "model.encoder={kind: video, frames: {kind: efficientnet_lite0, size: 64, dropout: 0.5}}",
    "model.encoder.time={kind: pyramid, layers: 1, size: 64, dropout: 0.3}",
    "training.epochs=30",
    "training.batch_size=8",
    "training.label_smoothing=0.1",
    "training.validation={metric: loss, every_steps: 1000}",
]
"""The last weights are kept: what is left to validate on are the clips that they have learnt from."""
ACTIONS_MOVEMENT = [
    "data.sources={movement: {kind: movement, size: 16, frames_per_second: 12.5, maximum_frames: 80}}",
    "model.encoder={kind: pyramid, layers: 1, size: 64, dropout: 0.3, input_dropout: 0.2}",
    "model.encoder.convolution={over: time, channels: [64], width: 5, stride: 1}",
    "training.epochs=40",
    "training.batch_size=8",
    "training.label_smoothing=0.1",
    "training.augment={band_masks: 0, time_masks: 0, flip: true}",
    "training.validation={metric: loss, every_steps: 1000}",
]
"""The shape of what moves, and where it goes; nothing of who it is and what stands behind."""
LIPS = ["data.sources.video={kind: video, size: [40, 64], grey: true, frames_per_second: null}"]

ROWS: dict[str, tuple[str, list[str]]] = {
    "gestures": ("video-classes", []),
    "gestures-pretrained": ("video-classes", PRETRAINED),
    "gestures-bag": ("video-classes", BAG),
    "gestures-pretrained-bag": ("video-classes", [*PRETRAINED, *BAG]),
    "actions": ("video-classes", ACTIONS),
    "actions-pretrained": ("video-classes", ACTIONS_PRETRAINED),
    "actions-movement": ("video-classes", ACTIONS_MOVEMENT),
    "lips": ("video-captions", LIPS),
    "moves": ("moves", []),
}
"""The recipe of each row, and what is changed in it."""

TARGETS = {"gestures": "gesture", "actions": "action", "lips": "words"}
SOURCES = {"actions-movement": "movement"}
"""What a clip is, where it is no video."""
SPLITS: dict[str, SplitName] = {"train": "train", "dev": "validation", "test": "test"}


def rows_of(data: Path) -> list[dict[str, str]]:
    """The table of a data set."""
    with (data / "clips.tsv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def write_tables(folder: Path, parts: dict[str, Sequence[dict[str, str]]], target: str) -> list[str]:
    """A table for each part, and the settings that name them."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, rows in parts.items():
        lines = (f"{row['file']}\t{row[target]}\n" for row in rows)
        (folder / f"{part}.tsv").write_text("".join(lines), encoding="utf-8")
    return [f"data.{part}={folder / part}.tsv" for part in parts]


def published_parts(rows: Iterable[dict[str, str]]) -> dict[str, Sequence[dict[str, str]]]:
    """The parts that a table names."""
    listed = list(rows)
    return {part: [row for row in listed if row["split"] == split] for split, part in SPLITS.items()}


def without(person: str, rows: Iterable[dict[str, str]]) -> dict[str, Sequence[dict[str, str]]]:
    """All clips of a person are the test part; weights are those of the least loss on the clips that they learnt from."""
    listed = list(rows)
    others = [row for row in listed if row["person"] != person]
    return {"train": others, "validation": others, "test": [row for row in listed if row["person"] == person]}


def right_of(runs: Sequence[Path], split: SplitName = "test") -> list[tuple[Example, str]]:
    """A part of the data with what a model, or several that vote, say of it."""
    predictor = Predictor.load(*runs)
    examples = list(predictor.corpus.examples(split))
    return [(example, one.text) for example, one in zip(examples, predictor.predict(examples), strict=True)]


def accuracy(judged: Sequence[tuple[Example, str]]) -> float:
    """How many are right, in percent."""
    return round(100 * sum(example.target == text for example, text in judged) / len(judged), 2)


def interval(right: int, count: int) -> tuple[float, float]:
    """Between which percentages an accuracy lies with 95 % confidence (Wilson 1927)."""
    deviations = 1.96
    share, weight = right / count, deviations**2 / count
    middle, spread = share + weight / 2, deviations * math.sqrt(share * (1 - share) / count + weight / (4 * count))
    return round(100 * (middle - spread) / (1 + weight), 1), round(100 * (middle + spread) / (1 + weight), 1)


def measure_classes(runs: Sequence[Path], split: SplitName) -> Found:
    """Accuracy, also on the two classes that are each other backwards, where there are such."""
    judged = right_of(runs, split)
    swipes = [one for one in judged if "swipe" in (one[0].target or "")]
    wrong = [f"{example.target} -> {text}" for example, text in judged if example.target != text]
    return {"accuracy": accuracy(judged), "swipes": accuracy(swipes) if swipes else None, "count": len(judged), "wrong": wrong}


def measure_words(runs: Sequence[Path], split: SplitName) -> Found:
    """Words that are right in their place, of all words; and whole sentences."""
    judged = right_of(runs, split)
    pairs = [((example.target or "").split(), text.split()) for example, text in judged]
    words = sum(len(wanted) for wanted, _ in pairs)
    hits = sum(one == other for wanted, written in pairs for one, other in zip(wanted, written, strict=False))
    return {"word_accuracy": round(100 * hits / words, 2), "accuracy": accuracy(judged), "count": len(judged)}


def measure_moves(runs: Sequence[Path], _: SplitName) -> Found:
    """Exact match on known and new combinations, and how often the model looked when it happened."""
    predictor = Predictor.load(*runs)
    return measure_films(describe(predictor, "validation"), describe(predictor, "test"))


MEASURES = {"gestures": measure_classes, "lips": measure_words, "moves": measure_moves}


def figures(found: Found) -> str:
    """Every figure that was measured; what every row says of its run follows."""
    return " | ".join(f"{value:.2f}" for name, value in found.items() if isinstance(value, float) and name != "minutes")


def leave_one_out(wanted: argparse.Namespace, settings: Sequence[str]) -> None:
    """Train and test a model for each person, or each of some, who is left out; print what each gave, and the mean."""
    name, rows = wanted.name, rows_of(wanted.data)
    judged: list[tuple[Example, str]] = []
    by_person: dict[str, float] = {}
    for person in wanted.people or sorted({row["person"] for row in rows}):
        tables = write_tables((wanted.runs / f"{name}-tables-{person}").resolve(), without(person, rows), "action")
        out = wanted.runs / f"{name}-{person}"
        found = right_of(voters(partial(recipe_of, name, [*tables, *settings]), out, wanted.ensemble))
        judged += found
        by_person[person] = accuracy(found)
        print(json.dumps({person: by_person[person]}), flush=True)
    wrong = [f"{example.target} -> {text}" for example, text in judged if example.target != text]
    overall = {"accuracy": accuracy(judged), "interval": interval(len(judged) - len(wrong), len(judged))}
    print(json.dumps({"name": name, **overall, "by_person": by_person, "wrong": wrong}))


def recipe_of(name: str, settings: Sequence[str], seed: int) -> Recipe:
    """The recipe of a row, with its data."""
    recipe, changes = ROWS[name]
    return read_recipe(find_recipe(recipe), [*changes, f"seed={seed}", *settings])


def main() -> None:
    """Train or pick up runs, then measure them."""
    parser = arguments(__doc__, needs_data=False)
    parser.add_argument("name", choices=ROWS)
    parser.add_argument("--people", nargs="+", default=[], help="actions: leave out these alone, to choose settings by them")
    parser.add_argument("--split", choices=["validation", "test"], default="test", help="gestures, lips: measure this part")
    add_ensemble(parser)
    wanted = parser.parse_args()
    name, settings = wanted.name, [f"training.threads={wanted.threads}", *wanted.set]
    if name != "moves":
        settings.insert(0, f"data.sources.{SOURCES.get(name, 'video')}.root={(wanted.data / 'clips.zip').resolve()}")
    if name.startswith("actions"):
        leave_one_out(wanted, settings)
        return
    kind = name.split("-")[0]
    if name != "moves":
        settings += write_tables(wanted.runs / f"{name}-tables", published_parts(rows_of(wanted.data)), TARGETS[kind])
    recipe, out = partial(recipe_of, name, settings), wanted.runs / name
    runs = voters(recipe, out, wanted.ensemble)
    report(name, recipe(1), out, measure=lambda _: MEASURES[kind](runs, wanted.split), figures=figures)


if __name__ == "__main__":
    main()
