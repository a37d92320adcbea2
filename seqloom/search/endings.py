"""The most probable ways to end an output: a beam in which every live row may also end, whatever else is more probable."""

from collections.abc import Generator

import numpy as np

from seqloom.recipe.sections import Beam
from seqloom.search.contracts import Hypotheses, IntArray, State, Step, Stepper
from seqloom.search.request import Request
from seqloom.search.scoring import by_length
from seqloom.search.traces import BoolArray, Sums, Trace
from seqloom.search.walk import Continuations, Walk
from seqloom.symbols import END


def endings(stepper: Stepper, state: State, section: Beam, request: Request) -> Generator[Trace, None, Hypotheses]:
    """The `width` best outputs that end, for each sentence; those that were cut off only where too few end.

    A plain beam drops a row's `end` if `width` other symbols are more probable, so where an end is rare none of its outputs
    may ever end. Here each step keeps the `width` best rows that go on, and notes what every row is worth if it ends.
    """
    walk = Walk(stepper, state, request, minimum_length=section.minimum_length)
    race = _Race(section, request)
    while walk.goes_on:
        step = walk.step()
        choice = _going_on_and_ending(walk, step, section)
        yield walk.write(step, choice, race.done(choice, walk.sentences))
    return walk.hypotheses(section.width)


def _going_on_and_ending(walk: Walk, step: Step, section: Beam) -> Continuations:
    """The `width` best extensions that do not end, and then every row with `end` behind it."""
    ids, log_probs = walk.best(step, section.width + 1)  # one of them may be `end`
    log_probs = np.where(ids == END, np.float32(-np.inf), log_probs)
    sums = walk.sums[:, :, None] + log_probs
    sentences, rows, candidates = sums.shape
    best = np.argsort(-sums.reshape(sentences, -1), axis=1, kind="stable")[:, : section.width]
    parents, ranks = np.divmod(best, candidates)
    place = (np.arange(sentences)[:, None], parents, ranks)
    ending = walk.ending(step)
    every = np.broadcast_to(np.arange(rows), ending.shape)
    new_sums = np.concatenate([sums[place], walk.sums + ending], axis=1)
    return Continuations(
        rows=np.concatenate([parents, every], axis=1),
        tokens=np.concatenate([ids[place], np.full_like(every, END)], axis=1),
        log_probs=np.concatenate([log_probs[place], ending], axis=1),
        sums=new_sums,
        scores=by_length(new_sums, walk.length + 1, section.length_power),
    )


class _Race:
    """The scores of the `width` best endings of each sentence so far."""

    def __init__(self, section: Beam, request: Request) -> None:
        # No log-probability is above 0, so a live row can at best keep its sum up to the limit.
        self._per_sum: Sums = by_length(np.ones(request.sentences), request.limits, section.length_power)
        self._best: Sums = np.full((request.sentences, section.width), -np.inf)

    def done(self, choice: Continuations, sentences: IntArray) -> BoolArray:
        """Count what this choice ends; a sentence is done if no live row can still come in among its best."""
        ended = choice.tokens == END
        found = np.where(ended & np.isfinite(choice.sums), choice.scores, -np.inf)
        width = self._best.shape[1]
        self._best[sentences] = -np.sort(-np.concatenate([self._best[sentences], found], axis=1), axis=1)[:, :width]
        reachable = np.where(ended, -np.inf, choice.sums).max(axis=1) * self._per_sum[sentences]
        done: BoolArray = reachable <= self._best[sentences, -1]
        return done
