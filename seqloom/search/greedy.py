"""Greedy search (S1): the most probable symbol at every step. One wrong symbol can spoil all that follow."""

from collections.abc import Generator

import numpy as np

from seqloom.recipe.sections import Greedy
from seqloom.search.contracts import Hypotheses, State, Stepper
from seqloom.search.request import Request
from seqloom.search.traces import Trace
from seqloom.search.walk import Continuations, Walk


def greedy(stepper: Stepper, state: State, section: Greedy, request: Request) -> Generator[Trace, None, Hypotheses]:
    """One hypothesis for each sentence; its score is its log-probability."""
    walk = Walk(stepper, state, request, minimum_length=section.minimum_length)
    while walk.goes_on:
        step = walk.step()
        ids, log_probs = walk.best(step, 1)
        sums = walk.sums + log_probs[:, :, 0]
        rows = np.zeros(sums.shape, np.int64)
        yield walk.write(step, Continuations(rows, ids[:, :, 0], log_probs[:, :, 0], sums, scores=sums))
    return walk.hypotheses(1)
