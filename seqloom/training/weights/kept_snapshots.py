"""Which validations' weights stay in the run folder (`training.keep`).

Weights are saved before the checkpoint of their step, and others are removed after it: whenever a process is killed, the folder
has at least what the recipe wants of the validations up to the checkpoint, and going on removes the rest.
"""

import math
from collections.abc import Iterable, Mapping

from seqloom.metrics import HIGHER_IS_BETTER
from seqloom.recipe.sections import Keep
from seqloom.runs import RunFolder
from seqloom.runs.hashed_arrays import Arrays


def keep(run: RunFolder, step: int, weights: Arrays, value: float) -> None:
    """Keep the weights of a validation if they are among the wanted ones. value: what they were judged by."""
    section, metric = run.recipe.training.keep, run.recipe.training.validation.metric
    if section is not None and step in wanted({**run.kept.values(), step: value}, section, metric):
        run.kept.save(step, weights, {"step": str(step), "metric": metric, "value": repr(value)})


def tidy(run: RunFolder) -> None:
    """Remove weights that are not wanted any more."""
    section, metric = run.recipe.training.keep, run.recipe.training.validation.metric
    if section is not None:
        values = run.kept.values()
        run.kept.drop(values.keys() - wanted(values, section, metric))


def wanted(values: Mapping[int, float], section: Keep, metric: str) -> set[int]:
    """The steps to be kept of those that were judged, by what they were judged by."""
    latest = sorted(values)[len(values) - min(section.last, len(values)) :]
    return {*latest, *ranked(values, metric)[: section.best]}


def ranked(values: Mapping[int, float], metric: str) -> list[int]:
    """Steps from the best to the worst; of equal ones the earlier first, as the best weights are the first that good."""
    sign = -1.0 if HIGHER_IS_BETTER[metric] else 1.0

    def place(step: int) -> tuple[bool, float, int]:
        value = values[step]
        return math.isnan(value), 0.0 if math.isnan(value) else sign * value, step

    return sorted(values, key=place)


def listed(steps: Iterable[int]) -> str:
    """Steps in a sentence."""
    return ", ".join(f"{step:,}" for step in steps)
