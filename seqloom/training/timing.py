"""How many updates fit into some minutes: a few of them are timed, and the answer becomes part of the run's recipe.

It is asked once, before a run begins. From then on the recipe says how many updates there are, so that a resumed run is the
same run, however fast or busy the machine is by then.
"""

import math
import time
from dataclasses import dataclass

from seqloom.data.preparing.prepared import Prepared
from seqloom.errors import UsageError
from seqloom.models.encoder_decoder import build_model
from seqloom.models.weights import choose_device
from seqloom.recipe import Recipe
from seqloom.recipe.sections import InverseSqrt, Schedule
from seqloom.training.loop import update
from seqloom.training.machine import Precision
from seqloom.training.optimisation import build_optimiser
from seqloom.training.plans import build_plans
from seqloom.training.validation import Validator

_UPDATES = 12
"""So many updates are timed, spread over an epoch; the first few, which are slower, do not count."""
_UNTIMED = 2
_TIMING_SHARE = 0.05
"""Timing takes at most about this share of the time that there is."""
_VALIDATION_SHARE = 0.15
_FEWEST_VALIDATIONS, _MOST_VALIDATIONS = 3, 20
_RESERVE = 0.97
"""Checkpoints, and a machine that is busy for a moment, take time too."""


@dataclass(frozen=True)
class Pace:
    """Seconds that an update and a validation take, and how many updates an epoch has."""

    update: float
    validation: float
    steps_per_epoch: int


def measure_pace(recipe: Recipe, prepared: Prepared, validator: Validator, precision: Precision, *, at_most: float) -> Pace:
    """Time a few updates and a validation of a model that is thrown away. at_most: about so many seconds."""
    sizes = {name: vocabulary.size for name, vocabulary in prepared.vocabularies.items()}
    model = build_model(recipe, sizes).to(choose_device(recipe.device))
    optimiser = build_optimiser(recipe.training.optimiser, model, recipe.training.learning_rate, recipe.training.rates)
    plans = build_plans(prepared.splits["train"], recipe)
    began, seconds = time.monotonic(), []
    model.train()
    for number in range(_UPDATES):
        start = time.monotonic()
        step = number * plans.steps_per_epoch // _UPDATES
        update(model, plans.batches(step), optimiser, recipe, step=step, precision=precision)
        seconds.append(time.monotonic() - start)
        if number > _UNTIMED and time.monotonic() - began > at_most:
            break
    start = time.monotonic()
    validator.validate(model)
    counted = seconds[_UNTIMED:]
    return Pace(sum(counted) / len(counted), time.monotonic() - start, plans.steps_per_epoch)


def timing_seconds(minutes: float) -> float:
    """How long timing may take."""
    if not (math.isfinite(minutes) and minutes > 0):
        raise UsageError(f"minutes: expected a number above 0, such as 15, found {minutes:g}")
    return 60 * minutes * _TIMING_SHARE


def fitted(recipe: Recipe, pace: Pace, seconds: float) -> Recipe:
    """The recipe with as many updates as fit into the seconds, and a schedule that ends with them.

    Validations are spread over the time, the first of them early, and none of them ends the training: it has its time.
    """
    validations = _validations(pace, seconds)
    steps = max(1, int(_RESERVE * (seconds - validations * pace.validation) / pace.update))
    training = recipe.training
    return recipe.model_copy(
        update={
            "training": training.model_copy(
                update={
                    "steps": steps,
                    "epochs": math.ceil(steps / pace.steps_per_epoch),
                    "schedule": _shortened(training.schedule, steps),
                    "validation": training.validation.model_copy(
                        update={"every_steps": math.ceil(steps / validations), "patience": None}
                    ),
                }
            )
        }
    )


def _validations(pace: Pace, seconds: float) -> int:
    fit = int(_VALIDATION_SHARE * seconds / max(pace.validation, 1e-6))
    return max(_FEWEST_VALIDATIONS, min(_MOST_VALIDATIONS, fit))


def _shortened(schedule: Schedule, steps: int) -> Schedule:
    """A warm-up that leaves most of the time for what comes after it."""
    least = 1 if isinstance(schedule, InverseSqrt) else 0
    return schedule.model_copy(update={"warmup": max(least, min(schedule.warmup, steps // 10))})


def as_decided(wanted: Recipe, run: Recipe) -> Recipe:
    """A recipe to be trained for some minutes, with what was decided when its run began."""
    decided = run.training
    changes = {
        "steps": decided.steps,
        "epochs": decided.epochs,
        "schedule": decided.schedule,
        "validation": wanted.training.validation.model_copy(
            update={"every_steps": decided.validation.every_steps, "patience": decided.validation.patience}
        ),
    }
    return wanted.model_copy(update={"training": wanted.training.model_copy(update=changes)})
