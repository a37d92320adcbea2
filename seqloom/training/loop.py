"""The training loop, readable from top to bottom.

Every random choice is a function of (seed, step), and the order of batches of (seed, epoch): a resumed run is the same run.
"""

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
import torch

from seqloom.data.preparing.batches import Batch, StreamBatch
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.errors import SeqloomError
from seqloom.metrics import better, cannot_improve
from seqloom.models.decoders import DecoderState
from seqloom.models.dropout import set_dropout_share
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.mixed_precision import multiplying
from seqloom.models.weights import load_weight_arrays, restored_state, state_arrays, weight_arrays
from seqloom.recipe.sections import Plateau, Recipe
from seqloom.runs import Checkpoint, Counters, RunFolder
from seqloom.training.machine import Precision
from seqloom.training.optimisation import (
    Average,
    build_optimiser,
    dropout_share,
    learning_rate_factor,
    optimiser_arrays,
    restore_optimiser,
    set_learning_rate,
)
from seqloom.training.plans import Plans, Prefetcher, build_plans
from seqloom.training.reporting.display import Display, StepReport
from seqloom.training.reporting.journal import Journal
from seqloom.training.validation import ValidationResult, Validator
from seqloom.training.weights.kept_snapshots import keep, tidy

LOG_EVERY = 20
"""Steps between two lines of metrics.jsonl."""


class DivergedError(SeqloomError):
    """The loss or its gradient is no longer a number."""


@dataclass
class TrainingState:
    """How far training has come: all that a resumed run must know beside weights and optimiser."""

    step: int = 0
    seconds: float = 0.0
    best: float = math.nan
    best_step: int = 0
    stale: int = 0
    """Validations since the best one."""
    plateau_stale: int = 0
    reductions: int = 0
    logged_nll: float = 0.0
    logged_symbols: int = 0
    finished: str = ""
    """Why training ended; empty while it goes on."""

    @property
    def counters(self) -> Counters:
        """As a checkpoint keeps it."""
        return cast("Counters", asdict(self))


def fit(
    model: EncoderDecoder,
    split: PreparedSplit,
    recipe: Recipe,
    run: RunFolder,
    validator: Validator,
    display: Display,
    *,
    precision: Precision,
    stop_wanted: Callable[[], bool],
) -> TrainingState:
    """Train from the run's latest checkpoint, or from the start, until the recipe is fulfilled or a stop is wanted."""
    training = recipe.training
    plans = build_plans(split, recipe)
    total = plans.total_steps
    optimiser = build_optimiser(training.optimiser, model, training.learning_rate, training.rates)
    average = Average(model, training.ema.decay) if training.ema is not None else None
    state, carried = _resume(model, optimiser, average, run)
    journal = Journal(run, tensorboard=training.tensorboard, from_step=state.step)
    saved = began = time.monotonic()
    before = state.seconds
    saved_step = state.step
    display.started(step=state.step, total=total, steps_per_epoch=plans.steps_per_epoch, waste=plans.waste)

    model.train()
    prefetcher = Prefetcher(plans)
    while not state.finished:
        factor = learning_rate_factor(training.schedule, state.step, total, state.reductions)
        set_learning_rate(optimiser, training.learning_rate * factor)
        set_dropout_share(model, dropout_share(training.dropout_epochs, state.step / plans.steps_per_epoch))
        batches = prefetcher.batches(state.step)
        nll, carried = update(model, batches, optimiser, recipe, step=state.step, precision=precision, carried=carried)
        state.step += 1
        if average is not None:
            average.update(state.step)
        state.logged_nll += nll
        state.logged_symbols += sum(batch.num_symbols for batch in batches)
        state.seconds = before + time.monotonic() - began
        display.stepped(_report(state, batches, nll, factor * training.learning_rate))
        if state.step % LOG_EVERY == 0:
            _log(journal, state, factor * training.learning_rate, plans)

        last, stopping = state.step >= total, stop_wanted()  # asked once, so that no stop goes unsaved
        validating = last or _validates_at(state.step, recipe, plans.steps_per_epoch)
        if validating or stopping or _checkpoint_due(recipe, time.monotonic() - saved, state.step - saved_step):
            _require_finite_weights(model, batches, state.step)
            if validating:
                with average.in_place() if average is not None else nullcontext():
                    result = validator.validate(model)
                    _take_in(result, state, recipe, model, run)
                state.seconds = before + time.monotonic() - began
                state.finished = _reason_to_end(state, recipe, last=last)
                record_validation(result, state, run, journal)
                display.validated(state.step, result, best=state.best_step == state.step)
            elif stopping and not state.best_step:  # something to look at; the first validation replaces it
                with average.in_place() if average is not None else nullcontext():
                    run.save_weights(weight_arrays(model), {"step": str(state.step), "metric": "none", "value": "nan"})
            _save(model, optimiser, average, carried, state, run)
            tidy(run)
            saved, saved_step = time.monotonic(), state.step
        if stopping:
            break
    return state


def update(
    model: EncoderDecoder,
    batches: list[Batch],
    optimiser: torch.optim.Optimizer,
    recipe: Recipe,
    *,
    step: int,
    precision: Precision,
    carried: DecoderState | None = None,
) -> tuple[float, DecoderState | None]:
    """One update from the gradients of all given batches; returns their summed `-log p`, and the state that text goes on from.

    The loss is divided by the count of all batches together, so that accumulation follows the trajectory of one large batch.
    """
    count = max(sum(_count(batch, recipe.training.loss_per) for batch in batches), 1e-9)
    optimiser.zero_grad(set_to_none=True)
    total = 0.0
    for part, batch in enumerate(batches):
        torch.manual_seed(_mixed(recipe.seed, step, part))
        with multiplying(precision):
            loss = model(batch, carried if _goes_on(batch) else None, step=step)
        nll = float(loss.nll)
        _require_finite(nll, [batch], step + 1)
        (loss.objective / count).backward()
        total += nll
        carried = loss.state if isinstance(batch, StreamBatch) else None
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.training.clip or math.inf)
    _require_finite(float(norm), batches, step + 1)
    optimiser.step()
    return total, carried


def _goes_on(batch: Batch) -> bool:
    """Whether a batch begins where another one ended, so with its state."""
    return isinstance(batch, StreamBatch) and not batch.fresh


def _count(batch: Batch, loss_per: str) -> float:
    """What a batch's loss is averaged over (L3): its symbols, or its sequences; each counts by its example's weight."""
    per_example = batch.labels.lengths if loss_per == "tokens" else np.ones(len(batch.weights))
    return float((batch.weights * per_example).sum())


def _mixed(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _require_finite_weights(model: EncoderDecoder, batches: list[Batch], step: int) -> None:
    """Weights that are not numbers are neither judged nor saved."""
    if not all(bool(torch.isfinite(parameter).all()) for parameter in model.parameters()):
        _require_finite(math.nan, batches, step)


def _require_finite(value: float, batches: list[Batch], step: int) -> None:
    if math.isfinite(value):
        return
    origins = [origin for batch in batches for origin in batch.origins]
    places = ", ".join(map(str, origins[:5]))
    more = f" and {len(origins) - 5} more" if len(origins) > 5 else ""
    raise DivergedError(
        f"the loss is not a number any more at step {step}, on the examples {places}{more}. The last checkpoint and the "
        "best weights are kept. Look at these examples, lower training.learning_rate, or set training.clip"
    )


def _validates_at(step: int, recipe: Recipe, steps_per_epoch: int) -> bool:
    return step % (recipe.training.validation.every_steps or steps_per_epoch) == 0


def _checkpoint_due(recipe: Recipe, seconds: float, steps: int) -> bool:
    every = recipe.training.checkpoint
    return seconds >= every.seconds or (every.steps is not None and steps >= every.steps)


def _reason_to_end(state: TrainingState, recipe: Recipe, *, last: bool) -> str:
    patience = recipe.training.validation.patience
    if last:
        return "all steps done"
    if patience is not None and state.stale >= patience:
        return f"no better for {patience} validations"
    metric = recipe.training.validation.metric
    # Those who wait for something better need not: weights of later validations would not take the place of these.
    if patience is not None and recipe.training.keep is None and cannot_improve(metric, state.best):
        return f"nothing better than {metric} {state.best:g}"
    return ""


def _take_in(result: ValidationResult, state: TrainingState, recipe: Recipe, model: EncoderDecoder, run: RunFolder) -> None:
    """Note whether this validation is the best so far, and keep the weights if it is."""
    metric = recipe.training.validation.metric
    value = result.values[metric]
    if recipe.training.keep is not None:
        keep(run, state.step, weight_arrays(model), value)
    if better(metric, value, state.best):
        state.best, state.best_step = value, state.step
        state.stale = state.plateau_stale = 0
        run.save_weights(weight_arrays(model), {"step": str(state.step), "metric": metric, "value": repr(value)})
        return
    state.stale += 1
    state.plateau_stale += 1
    schedule = recipe.training.schedule
    if isinstance(schedule, Plateau) and state.plateau_stale >= schedule.patience:
        state.reductions += 1
        state.plateau_stale = 0


def record_validation(result: ValidationResult, state: TrainingState, run: RunFolder, journal: Journal) -> None:
    """Write down how the model was judged."""
    run.write_validation(state.step, result.as_json())
    record = {"kind": "validation", "step": state.step, "seconds": round(state.seconds, 2), **result.values}
    journal.append({**record, "shuffled_loss": result.shuffled_loss, "uses_source": result.uses_source})


def _log(journal: Journal, state: TrainingState, learning_rate: float, plans: Plans[Any]) -> None:
    journal.append(
        {
            "kind": "train",
            "step": state.step,
            "epoch": round(state.step / plans.steps_per_epoch, 3),
            "loss": state.logged_nll / max(1, state.logged_symbols),
            "learning_rate": learning_rate,
            "seconds": round(state.seconds, 2),
        }
    )
    state.logged_nll, state.logged_symbols = 0.0, 0


def _report(state: TrainingState, batches: list[Batch], nll: float, learning_rate: float) -> StepReport:
    symbols = sum(batch.num_symbols for batch in batches)
    return StepReport(state.step, state.seconds, symbols, nll / max(1, symbols), learning_rate)


def _resume(
    model: EncoderDecoder, optimiser: torch.optim.Optimizer, average: Average | None, run: RunFolder
) -> tuple[TrainingState, DecoderState | None]:
    checkpoint = run.load_checkpoint()
    step = 0
    state, carried = TrainingState(), None
    if checkpoint is not None:
        state = TrainingState(**checkpoint.counters)
        step = state.step
        load_weight_arrays(model, checkpoint.weights, where=f"checkpoint of step {step}")
        restore_optimiser(optimiser, model, checkpoint.optimiser)
        if average is not None:
            average.restore(checkpoint.average)
        if checkpoint.carried:
            carried = restored_state(model, checkpoint.carried)
    run.cut_back(step)
    tidy(run)
    return state, carried


def _save(
    model: EncoderDecoder,
    optimiser: torch.optim.Optimizer,
    average: Average | None,
    carried: DecoderState | None,
    state: TrainingState,
    run: RunFolder,
) -> None:
    weights, counters = weight_arrays(model), state.counters
    if state.finished:
        run.save_checkpoint(Checkpoint(weights, {}, counters))
        return
    run.save_checkpoint(
        Checkpoint(
            weights,
            optimiser_arrays(optimiser, model),
            counters,
            average=average.arrays() if average is not None else {},
            carried=state_arrays(carried) if carried is not None else {},
        )
    )
