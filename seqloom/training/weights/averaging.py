"""The mean of weights that a run kept of several validations, judged beside the best ones, as a run of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.errors import RunError
from seqloom.metrics import HIGHER_IS_BETTER, better
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.weights import load_weight_arrays, require_fitting, restored_model
from seqloom.prediction.backends import open_vocabularies
from seqloom.runs import Checkpoint, RunFolder
from seqloom.training.loop import TrainingState, record_validation
from seqloom.training.machine import computing
from seqloom.training.reporting.display import Display, SilentDisplay
from seqloom.training.reporting.journal import Journal
from seqloom.training.reporting.model_card import model_card
from seqloom.training.session import build_validator, prepare_data, require_same_data
from seqloom.training.validation import ValidationResult
from seqloom.training.weights.kept_snapshots import listed, ranked

Weights = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Averaged:
    """What came of it. steps: whose weights were averaged; average, best: how the mean and the best weights were judged."""

    path: Path
    of: Path
    steps: tuple[int, ...]
    metric: str
    average: Mapping[str, float]
    best: Mapping[str, float]
    best_step: int

    @property
    def is_better(self) -> bool:
        """Whether the mean is better than the best single weights."""
        return better(self.metric, self.average[self.metric], self.best[self.metric])

    @property
    def measures(self) -> list[str]:
        """What was measured, the deciding one first."""
        return [self.metric, *(name for name in self.average if name != self.metric and name in HIGHER_IS_BETTER)]


def average_run(
    run: str | Path, out: str | Path, *, last: int | None = None, best: int | None = None, display: Display | None = None
) -> Averaged:
    """Average weights that a run kept and write a run that predicts with them.

    last, best: those of the latest, or of the best, so many validations; all that were kept if neither is given.
    """
    opened, aim = RunFolder.open(Path(run)), Path(out)
    if RunFolder.exists_at(aim):
        raise RunError(f"{aim}: holds a run already. Choose another --out")
    steps = _chosen(opened, last, best)
    single, facts = opened.load_weights()
    prepared, frontends = prepare_data(opened.recipe, display or SilentDisplay(), open_vocabularies(opened))
    require_same_data(opened, prepared)
    model = restored_model(opened.recipe, prepared.sizes, single, where=str(opened.path / "weights.safetensors"))
    mean = mean_of([_kept(opened, step, model) for step in steps])
    validator = build_validator(opened.recipe, prepared, frontends)
    results = []
    with computing(int(opened.facts["threads"])):
        for weights, where in ((single, "weights.safetensors"), (mean, "kept")):
            load_weight_arrays(model, weights, where=str(opened.path / where))
            results.append(validator.validate(model))
    written = _write(opened, aim, steps, mean, results[1])
    written.write_text("model-card.md", model_card(written, model, prepared))
    metric = opened.recipe.training.validation.metric
    return Averaged(aim, opened.path, steps, metric, results[1].values, results[0].values, int(facts["step"]))


def mean_of(several: list[Weights]) -> Weights:
    """The mean of weights of the same model, each number by itself."""
    return {
        name: np.mean([weights[name] for weights in several], axis=0, dtype=np.float64).astype(array.dtype)
        for name, array in several[0].items()
    }


def _kept(run: RunFolder, step: int, model: EncoderDecoder) -> Weights:
    weights = run.kept.load(step)
    require_fitting(model, weights, where=f"{run.path}: the weights kept at step {step:,}")
    return weights


def _chosen(run: RunFolder, last: int | None, best: int | None) -> tuple[int, ...]:
    """The steps whose weights are averaged."""
    values = run.kept.values()
    if len(values) < 2:
        kept = "the weights of one validation only" if values else "no weights but the best and the latest"
        raise RunError(
            f"{run.path}: has kept {kept}, so there is nothing to average. "
            "Train with `--set training.keep.last=5`, or `training.keep.best`, and more validations than one"
        )
    wanted = last or best or len(values)
    if wanted > len(values):
        raise RunError(
            f"{run.path}: has kept the weights of {len(values)} validations, and {wanted} are asked for. Ask for fewer"
        )
    order = ranked(values, run.recipe.training.validation.metric) if best is not None else sorted(values, reverse=True)
    return tuple(sorted(order[:wanted]))


def _write(run: RunFolder, aim: Path, steps: tuple[int, ...], weights: Weights, result: ValidationResult) -> RunFolder:
    """A finished run with these weights, whole or not at all."""
    metric, step = run.recipe.training.validation.metric, steps[-1]
    value = result.values[metric]
    seconds = float((run.counters() or {}).get("seconds", 0.0))
    reason = f"the mean of the weights at the steps {listed(steps)}"
    progress = TrainingState(step=step, seconds=seconds, best=value, best_step=step, finished=reason)

    def fill(draft: RunFolder) -> None:
        draft.save_weights(weights, {"step": str(step), "metric": metric, "value": repr(value)})
        record_validation(result, progress, draft, Journal(draft, tensorboard=False, from_step=0))
        draft.save_checkpoint(Checkpoint(weights, {}, progress.counters))

    facts = run.facts.copy()
    facts.pop("start", None)
    facts["average"] = {"run": str(run.path.resolve()), "steps": list(steps)}
    return RunFolder.create(aim, run.recipe, run.vocabularies(), facts, fill=fill)
