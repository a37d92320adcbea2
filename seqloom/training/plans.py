"""Which batches an update is made of, as a function of its number: a resumed run sees what an unbroken one would."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from seqloom.data.arrays import IntArray
from seqloom.data.preparing.batches import Batch, BatchPlan, StreamPlan, plan_epoch, plan_stream
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.recipe.sections import TARGET, Recipe
from seqloom.training.augmentation import hidden, masked

Plan = TypeVar("Plan", BatchPlan, StreamPlan)


class Plans(ABC, Generic[Plan]):
    """The batches of each pass over the data, planned when it begins. All passes have equally many.

    An epoch is a pass, or several of small data, the last of them perhaps not to its end.
    """

    def __init__(self, split: PreparedSplit, recipe: Recipe) -> None:
        self.split = split
        self.recipe = recipe
        self._pass = 0
        self._plan: Plan = self._planned(0)

    @abstractmethod
    def _planned(self, number: int) -> Plan:
        """Plan a pass."""

    @property
    @abstractmethod
    def waste(self) -> float:
        """The share of padding in a pass."""

    @property
    @abstractmethod
    def _batches_per_pass(self) -> int: ...

    @abstractmethod
    def _batch(self, index: int) -> Batch:
        """One batch of the planned pass."""

    @property
    def _steps_per_pass(self) -> int:
        return math.ceil(self._batches_per_pass / self.recipe.training.accumulate)

    @property
    def steps_per_epoch(self) -> int:
        """Updates in one epoch."""
        return max(self._steps_per_pass, self.recipe.training.shortest_epoch or 1)

    @property
    def total_steps(self) -> int:
        """Updates in all, unless training ends before."""
        training = self.recipe.training
        whole = training.epochs * self.steps_per_epoch
        return whole if training.steps is None else min(training.steps, whole)

    def batches(self, step: int) -> list[Batch]:
        """The batches whose gradients make up one update."""
        number, index = divmod(step, self._steps_per_pass)
        if number != self._pass:
            self._pass, self._plan = number, self._planned(number)
        many = self.recipe.training.accumulate
        return [self._batch(one) for one in range(index * many, min((index + 1) * many, self._batches_per_pass))]


class ExamplePlans(Plans[BatchPlan]):
    """Examples of similar lengths together: lengths alone decide where batches are cut."""

    def _planned(self, number: int) -> BatchPlan:
        training = self.recipe.training
        return plan_epoch(
            batch_lengths(self.split),
            budget=training.batch_tokens,
            most=training.batch_size,
            seed=self.recipe.seed,
            epoch=number,
        )

    @property
    def waste(self) -> float:
        """The share of padding in a pass."""
        return self._plan.waste

    @property
    def _batches_per_pass(self) -> int:
        return len(self._plan.batches)

    def _batch(self, index: int) -> Batch:
        numbers, augment = self._plan.batches[index], self.recipe.training.augment
        if augment is None and not self.split.varies:
            return self.split.batch(numbers)
        random = np.random.default_rng([self.recipe.seed, self._pass, index])
        batch = self.split.batch(numbers, random)
        if augment is None:
            return batch
        frames = {name for name, source in self.recipe.data.sources.items() if source.content == "frames"}
        covered = {name: masked(one, augment, random) if name in frames else one for name, one in batch.sources.items()}
        batch = replace(batch, sources=covered)
        if not augment.hidden:
            return batch
        sizes = {name: self.split.sizes[name] for name in self.recipe.data.text_sources}
        return hidden(batch, augment.hidden, sizes, random, copied=self.recipe.copied)


class StreamPlans(Plans[StreamPlan]):
    """Running text: window after window of every row."""

    def _planned(self, number: int) -> StreamPlan:
        training = self.recipe.training
        return plan_stream(self.split.symbols, rows=training.rows, window=training.bptt, seed=self.recipe.seed, epoch=number)

    @property
    def waste(self) -> float:
        """There is no padding."""
        return 0.0

    @property
    def _batches_per_pass(self) -> int:
        return self._plan.steps

    def _batch(self, index: int) -> Batch:
        return self.split.window(self._plan, index)


def build_plans(split: PreparedSplit, recipe: Recipe) -> Plans[Any]:
    """The plans that fit the recipe's data."""
    return StreamPlans(split, recipe) if recipe.data.text == "stream" else ExamplePlans(split, recipe)


class Prefetcher:
    """Prepares the batches of the next update while this one computes. They depend on its number alone, so nothing changes."""

    def __init__(self, plans: Plans[Any]) -> None:
        self._plans = plans
        self._worker = ThreadPoolExecutor(1)
        self._waiting: tuple[int, Future[list[Batch]]] | None = None

    def batches(self, step: int) -> list[Batch]:
        """The batches of an update; those of the next one are begun."""
        if self._waiting is None or self._waiting[0] != step:
            self._waiting = (step, self._worker.submit(self._plans.batches, step))
        found = self._waiting[1].result()
        self._waiting = (step + 1, self._worker.submit(self._plans.batches, step + 1))
        return found


def batch_lengths(split: PreparedSplit) -> Sequence[IntArray]:
    """Lengths of every side that a batch must hold; a target counts its `end`. Images that are all as large decide nothing."""
    files = [
        lengths for name, side in split.media.items() if len(np.unique(lengths := split.lengths(name))) > 1 or side.in_time
    ]
    return [*files, *(split.lengths(side) + (1 if side == TARGET else 0) for side in split.sides)]
