"""Minutes until validation reaches a stated quality: a packaged recipe against a plain textbook model, taking turns.

    python benchmarks/time_to_quality.py translation --data DATA/multi30k --reach 30 --out curves.json --figure curves.svg
    python benchmarks/time_to_quality.py pronunciation --data DATA/sigmorphon2020_g2p --reach 20

translation: Multi30k, English to German, BLEU of greedy outputs on validation, to be above --reach; pronunciation: Dutch,
share of words that are right (greedy), in percent. Ours is the recipe as packaged. The textbook (seqloom/bench/textbook.py) is
torch's own modules as they come: BiLSTM 2 x 256, LSTM 512, additive attention of 512, dropout 0.2, words that occur twice,
batches of 64 sentences of similar length, Adam at 1e-3, clipped at 1 (for pronunciation the sizes of `bench train --workload
characters`). Both read the same files in one process; after every --slice updates the other one has its turn. What counts is
a side's own time in updates; validations are not counted for either. Ctrl-C ends it with what there is.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

import torch

from seqloom.bench.textbook import IGNORED, Textbook, greedy_search, train_step
from seqloom.bench.workloads import CHARACTERS, TRANSLATION, Workload
from seqloom.cli.recipes import find_recipe
from seqloom.data.arrays import Padded
from seqloom.data.examples import Example
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import Prepared, prepare
from seqloom.metrics import Item, evaluate
from seqloom.models.dropout import set_dropout_share
from seqloom.models.encoder_decoder import build_model
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.prediction.backends import OpenedModel
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import Greedy, Recipe
from seqloom.training.loop import update
from seqloom.training.machine import choose_threads, computing
from seqloom.training.optimisation import (
    Average,
    build_optimiser,
    dropout_share,
    learning_rate_factor,
    set_learning_rate,
)
from seqloom.training.plans import build_plans
from seqloom.views.charts.figures import Curve, Point, line_figure
from seqloom.views.charts.plots import nice_ticks

LIMIT_FACTOR, LIMIT_EXTRA = 2, 10
"""The textbook may write twice as many symbols as it reads, and some more."""


@dataclass(frozen=True)
class Task:
    """What is learnt from which files, and the metric that counts, which is better when higher."""

    recipe: str
    workload: Workload
    metric: str
    files: Callable[[Path], dict[str, str]]


def _multi30k(data: Path) -> dict[str, str]:
    parts = (("train", "train"), ("validation", "val"))
    return {
        f"{part}.{side}": str(data / f"{file}.{one}.gz")
        for part, file in parts
        for side, one in (("source", "en"), ("target", "de"))
    }


def _dutch(data: Path) -> dict[str, str]:
    return {"train": str(data / "dut_train.tsv.gz"), "validation": str(data / "dut_dev.tsv.gz")}


TASKS = {
    "translation": Task("translation", TRANSLATION, "bleu", _multi30k),
    "pronunciation": Task("pronunciation", CHARACTERS, "exact_match", _dutch),
}


@dataclass
class Side:
    """One of the two. learn: makes so many updates; outputs: what it writes for the validation part."""

    name: str
    learn: Callable[[int], None]
    outputs: Callable[[], list[str]]
    seconds: float = 0.0
    updates: int = 0
    curve: list[tuple[float, float]] = field(default_factory=list)
    reached: float = math.nan
    """Minutes."""


def ours(recipe: Recipe, prepared: Prepared, examples: list[Example]) -> Side:
    """The packaged recipe, as `seqloom train` would train it."""
    training = recipe.training
    model = build_model(recipe, {name: one.size for name, one in prepared.vocabularies.items()}).train()
    optimiser = build_optimiser(training.optimiser, model, training.learning_rate)
    average = Average(model, training.ema.decay) if training.ema is not None else None
    plans = build_plans(prepared.splits["train"], recipe)
    total = plans.total_steps
    done = 0

    def learn(updates: int) -> None:
        nonlocal done
        model.train()
        for step in range(done, min(total, done + updates)):
            set_learning_rate(optimiser, training.learning_rate * learning_rate_factor(training.schedule, step, total, 0))
            set_dropout_share(model, dropout_share(training.dropout_epochs, step / plans.steps_per_epoch))
            update(model, plans.batches(step), optimiser, recipe, step=step, precision="fp32")
            if average is not None:
                average.update(step + 1)
        done += updates

    def outputs() -> list[str]:
        model.eval()
        with average.in_place() if average is not None else nullcontext():
            predictor = Predictor([OpenedModel(TorchStepper(model), prepared.vocabularies, recipe)])
            return [one.text for one in predictor.predict(examples, search=Greedy(**recipe.search.shared))]

    return Side("ours", learn, outputs)


def textbook(recipe: Recipe, prepared: Prepared, examples: list[Example]) -> Side:
    """The textbook: torch's own modules as they come."""
    torch.manual_seed(recipe.seed)
    model = Textbook(recipe.model, {name: one.size for name, one in prepared.vocabularies.items()})
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.training.learning_rate)
    criterion = torch.nn.CrossEntropyLoss(ignore_index=IGNORED)
    plans = build_plans(prepared.splits["train"], recipe)
    done = 0

    def learn(updates: int) -> None:
        nonlocal done
        model.train()
        for step in range(done, done + updates):
            for batch in plans.batches(step):
                train_step(model, batch, optimiser, criterion, clip=recipe.training.clip or math.inf)
        done += updates

    def outputs() -> list[str]:
        model.eval()
        source, target = prepared.vocabularies["source"], prepared.vocabularies["target"]
        written: list[str] = []
        for start in range(0, len(examples), 64):
            texts = [one.sources["source"] for one in examples[start : start + 64]]
            read = source.encode_sources(texts, [()] * len(texts))
            limits = [LIMIT_FACTOR * len(one) + LIMIT_EXTRA for one in read]
            written += [target.decode(row[:-1]) for row in greedy_search(model, Padded.of(read), limits)]
        return written

    return Side("textbook", learn, outputs)


def take_turns(sides: Sequence[Side], judge: Callable[[list[str]], float], wanted: argparse.Namespace, task: Task) -> None:
    """Let the sides learn, a slice each, until both have reached the quality or used up their minutes."""
    while any(math.isnan(side.reached) and side.seconds < 60 * wanted.minutes for side in sides):
        for side in sides:
            if not math.isnan(side.reached) or side.seconds >= 60 * wanted.minutes:
                continue
            began = time.perf_counter()
            side.learn(wanted.slice)
            side.seconds += time.perf_counter() - began
            side.updates += wanted.slice
            quality = judge(side.outputs())
            side.curve.append((side.seconds / 60, quality))
            if quality >= wanted.reach:
                side.reached = side.seconds / 60
            print(
                f"{side.name}: {side.updates} updates, {side.seconds / 60:.1f} minutes, {task.metric} {quality:.2f}", flush=True
            )


def drawn(curves: Mapping[str, Sequence[Point]], wanted: argparse.Namespace, task: Task) -> str:
    """Quality against minutes, as an SVG file."""
    longest = max(minutes for curve in curves.values() for minutes, _ in curve)
    marks = [(minutes, f"{minutes:g}") for minutes in nice_ticks(0.0, longest) if minutes <= longest]
    title = f"{wanted.task}: {task.metric} on validation, {wanted.threads} {'core' if wanted.threads == 1 else 'cores'}"
    return line_figure(title, [Curve(*one) for one in curves.items()], x_label="minutes", marks=marks, floor=0.0)


def _item(output: str, target: str) -> Item:
    return Item(output, (target,), tuple(output.split()), (tuple(target.split()),), source_length=1)


def main() -> None:
    """Train both and print when each was there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data set")
    parser.add_argument("--reach", type=float, required=True, help="the quality that counts")
    parser.add_argument("--minutes", type=float, default=60.0, help="give a side up after so many")
    parser.add_argument("--recipe", help="another one of ours for the task, such as translation-transformer")
    parser.add_argument("--slice", type=int, default=50, help="updates between two validations")
    parser.add_argument("--threads", type=int, default=choose_threads(None))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change our recipe")
    parser.add_argument("--out", type=Path, help="keep the curves as JSON")
    parser.add_argument("--figure", type=Path, help="draw the curves as SVG")
    wanted = parser.parse_args()
    task = TASKS[wanted.task]
    files = [f"data.{name}={path}" for name, path in task.files(wanted.data).items()]
    packaged = read_recipe(find_recipe(wanted.recipe or task.recipe), [*files, "data.test=null", *wanted.set])
    plain = task.workload.recipe()
    plain = plain.model_copy(update={"data": packaged.data.model_copy(update={"vocabularies": task.workload.vocabularies})})
    examples = list(Corpus(packaged.data, packaged.seed).examples("validation"))

    def judge(outputs: list[str]) -> float:
        items = [_item(output, one.target or "") for one, output in zip(examples, outputs, strict=True)]
        return evaluate(items, [task.metric]).metrics[task.metric]

    with computing(wanted.threads):
        sides = [
            ours(packaged, prepare(Corpus(packaged.data, packaged.seed)), examples),
            textbook(plain, prepare(Corpus(plain.data, plain.seed)), examples),
        ]
        with suppress(KeyboardInterrupt):
            take_turns(sides, judge, wanted, task)
    found = {side.name: {"minutes": side.reached, "updates": side.updates, "curve": side.curve} for side in sides}
    print(json.dumps({"task": wanted.task, "reach": wanted.reach, "threads": wanted.threads, **found}))
    if wanted.out is not None:
        wanted.out.write_text(json.dumps(found) + "\n", encoding="utf-8")
    if wanted.figure is not None:
        wanted.figure.write_text(drawn({side.name: side.curve for side in sides}, wanted, task), encoding="utf-8")


if __name__ == "__main__":
    main()
