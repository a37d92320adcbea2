"""`bench train`: useful target symbols a second, ours beside the textbook, update by update on the same batches."""

import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from seqloom.bench.copying import copy_weights
from seqloom.bench.counting import BatchShape, count_operations
from seqloom.bench.measuring import Deadline, MatrixRates, timed
from seqloom.bench.textbook import IGNORED, Textbook, train_step
from seqloom.bench.workloads import Pairs, Workload, grouped_batches, open_pairs, padding, random_batches, spread_out
from seqloom.data.arrays import IntArray
from seqloom.models.encoder_decoder import build_model
from seqloom.prediction.inputs import Advance
from seqloom.recipe import sections
from seqloom.recipe.sections import SOURCE, TARGET
from seqloom.training.loop import update
from seqloom.training.machine import Precision, computing
from seqloom.training.optimisation import build_optimiser
from seqloom.training.plans import batch_lengths

Batches = Literal["grouped", "random"]
SideName = Literal["ours", "textbook"]
SIDES: tuple[SideName, ...] = ("ours", "textbook")

_WARM_UP = 2
_IDLE_SHARE = 0.30
"""On an idle machine the grouped textbook reaches more of the fp32 rate than this."""


class TrainSettings(sections.Section):
    """How training is measured: `repeats` rounds of `steps` updates of each side, and no new round after `seconds`."""

    workload: Workload
    precision: Literal["fp32", "bf16"]
    textbook_batches: Batches = "grouped"
    steps: sections.Positive = 12
    repeats: sections.Positive = 7
    seconds: float = 600.0
    threads: sections.Positive = 1


class Trainee:
    """One side of the comparison: a model that learns from batches of example numbers."""

    def __init__(self, pairs: Pairs, all_batches: list[IntArray], steps: int, learn: Callable[[IntArray], float]) -> None:
        self.padding = padding(pairs, all_batches)
        self.batches = spread_out(pairs, all_batches, steps)
        self.largest = max(all_batches, key=lambda numbers: _positions(pairs, numbers))
        self.learn = learn


def _positions(pairs: Pairs, numbers: IntArray) -> int:
    """Positions of both sides of a batch, padding included."""
    return len(numbers) * sum(int(lengths[numbers].max()) for lengths in batch_lengths(pairs.split))


def open_trainee(side: SideName, settings: TrainSettings, pairs: Pairs) -> Trainee:
    """The model, its optimiser and its batches. Both sides start from the same weights."""
    recipe = settings.workload.recipe()
    grouped = side == "ours" or settings.textbook_batches == "grouped"
    batches = grouped_batches(pairs, recipe) if grouped else random_batches(pairs, settings.workload.batch_size)
    learn = _our_learner(recipe, pairs, settings.precision) if side == "ours" else _textbook_learner(recipe, pairs)
    return Trainee(pairs, batches, settings.steps, learn)


def _our_learner(recipe: sections.Recipe, pairs: Pairs, precision: Precision) -> Callable[[IntArray], float]:
    """An update as `seqloom train` makes it, from example numbers to new weights; returns the mean loss."""
    model = build_model(recipe, pairs.vocabulary_sizes).train()
    optimiser = build_optimiser(recipe.training.optimiser, model, recipe.training.learning_rate)
    steps = 0

    def learn(numbers: IntArray) -> float:
        nonlocal steps
        batch = pairs.split.batch(numbers)
        nll, _ = update(model, [batch], optimiser, recipe, step=steps, precision=precision)
        steps += 1
        return nll / batch.num_symbols

    return learn


def _textbook_learner(recipe: sections.Recipe, pairs: Pairs) -> Callable[[IntArray], float]:
    model = Textbook(recipe.model, pairs.vocabulary_sizes).train()
    copy_weights(build_model(recipe, pairs.vocabulary_sizes), model)
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.training.learning_rate)
    criterion = torch.nn.CrossEntropyLoss(ignore_index=IGNORED)
    clip = recipe.training.clip or float("inf")

    def learn(numbers: IntArray) -> float:
        return train_step(model, pairs.split.batch(numbers), optimiser, criterion, clip=clip)

    return learn


# --- the run --------------------------------------------------------------------------------------------------------


@dataclass
class _Tally:
    """Per round, the seconds that a side took for all its batches."""

    symbols: int
    operations: int
    seconds: list[float] = field(default_factory=list)

    @property
    def symbols_per_second(self) -> float:
        return self.symbols / statistics.median(self.seconds)

    @property
    def gflops(self) -> float:
        return self.operations / statistics.median(self.seconds) / 1e9


def bench_training(settings: TrainSettings, progress: Advance = lambda count: None) -> dict[str, Any]:
    """Measure and report; the object that `bench train --json` prints."""
    peaks = {side: peak_in_own_process(side, settings) for side in SIDES}
    with computing(settings.threads):
        pairs = open_pairs(settings.workload)
        trainees = {side: open_trainee(side, settings, pairs) for side in SIDES}
        tallies = {side: _tally(trainees[side], settings.workload, pairs) for side in SIDES}
        matrices = MatrixRates()
        _warm_up(trainees)
        deadline = Deadline(settings.seconds)
        for round_number in range(settings.repeats):
            if round_number and deadline.passed:
                break
            matrices.sample()
            _measure_round(trainees, tallies, progress)
        matrices.sample()
    return _report(settings, trainees, tallies, peaks, matrices.gflops)


def _warm_up(trainees: dict[SideName, Trainee]) -> None:
    """A first update fills the optimiser's memory; a second one finds everything in place."""
    for trainee in trainees.values():
        for numbers in trainee.batches[-_WARM_UP:]:
            trainee.learn(numbers)


def _measure_round(trainees: dict[SideName, Trainee], tallies: dict[SideName, _Tally], progress: Advance) -> None:
    """All batches once. The sides take turns after every update, so that what disturbs the machine disturbs both."""
    seconds = dict.fromkeys(SIDES, 0.0)
    for turn in range(len(trainees["ours"].batches)):
        for side, trainee in trainees.items():
            numbers = trainee.batches[turn]
            seconds[side] += timed(lambda trainee=trainee, numbers=numbers: trainee.learn(numbers))  # type: ignore[misc]
        progress(1)
    for side, tally in tallies.items():
        tally.seconds.append(seconds[side])


def _tally(trainee: Trainee, workload: Workload, pairs: Pairs) -> _Tally:
    """Useful symbols and operations of a side's batches: padding earns nothing."""
    sources, targets = pairs.split.lengths(SOURCE), pairs.split.lengths(TARGET) + 1
    numbers = np.concatenate(trainee.batches)
    shape = BatchShape.real(sources[numbers], targets[numbers])
    operations = count_operations(workload.model, pairs.vocabulary_sizes, shape)
    return _Tally(shape.target_positions, operations.total)


def peak_in_own_process(side: SideName, settings: TrainSettings) -> float:
    """Peak memory of one side alone: in one process the two would share an allocator and a peak."""
    command = [sys.executable, "-m", "seqloom.bench.peak", side, settings.model_dump_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"measuring the memory of {side} failed:\n{done.stderr}")
    return float(done.stdout)


def _report(
    settings: TrainSettings,
    trainees: dict[SideName, Trainee],
    tallies: dict[SideName, _Tally],
    peaks: dict[SideName, float],
    rates: dict[Precision, float],
) -> dict[str, Any]:
    precisions: dict[SideName, Precision] = {"ours": settings.precision, "textbook": "fp32"}
    shares = {side: tallies[side].gflops / rates[precisions[side]] for side in SIDES}
    figures = {
        side: {
            "tokens_per_second": round(tallies[side].symbols_per_second, 1),
            "precision": precisions[side],
            "peak_mb": round(peaks[side], 1),
            "padding": round(trainees[side].padding, 4),
            "gflops": round(tallies[side].gflops, 2),
            "share": round(shares[side], 4),
        }
        for side in SIDES
    }
    grouped = settings.textbook_batches == "grouped"
    return {
        "workload": settings.workload.name,
        "ours": figures["ours"],
        "textbook": {**figures["textbook"], "batches": settings.textbook_batches},
        "ratio": round(tallies["ours"].symbols_per_second / tallies["textbook"].symbols_per_second, 3),
        "matrix_gflops": {name: round(rate, 1) for name, rate in rates.items()},
        "share": round(shares["ours"], 4),
        "mflop_per_token": round(tallies["ours"].operations / tallies["ours"].symbols / 1e6, 2),
        "threads": settings.threads,
        "steps": len(trainees["ours"].batches),
        "repeats": len(tallies["ours"].seconds),
        "warnings": [_not_idle(shares["textbook"])] if grouped and shares["textbook"] < _IDLE_SHARE else [],
    }


def _not_idle(share: float) -> str:
    return (
        f"the textbook reached {100 * share:.0f} % of this machine's fp32 matrix rate, less than {100 * _IDLE_SHARE:.0f} %: "
        "the machine is probably not idle. Stop other programs and measure again"
    )
