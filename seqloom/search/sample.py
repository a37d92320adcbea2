"""Sampling: symbols drawn at random from the model's distribution, sharpened, flattened or cut if wanted."""

from collections.abc import Generator

import numpy as np

from seqloom.recipe.sections import Sample
from seqloom.search.contracts import FloatArray, Hypotheses, IntArray, State, Step, Stepper
from seqloom.search.draws import streams, uniform
from seqloom.search.request import Request
from seqloom.search.traces import Sums, Trace
from seqloom.search.walk import Continuations, Walk


def sample(stepper: Stepper, state: State, section: Sample, request: Request) -> Generator[Trace, None, Hypotheses]:
    """`count` hypotheses for each sentence, repeats not excluded, most probable first.

    A draw depends on the seed, the sentence's key, the number of the sample and the step only. Log-probabilities are the
    model's own, whatever temperature and cuts the draw was made with.
    """
    walk = Walk(stepper, state, request, minimum_length=section.minimum_length)
    stream = streams(section.seed, request.keys, section.count)
    first_numbers = np.broadcast_to(np.arange(section.count), stream.shape)
    while walk.goes_on:
        step = walk.step()
        ids, log_probs = _candidates(walk, step, section)
        # All samples of a sentence grow from its one first row, so their numbers are there before their rows are.
        numbers = walk.carry.get("numbers", first_numbers)
        rows = np.broadcast_to(np.arange(ids.shape[1]), numbers.shape)
        drawn = _drawn(_chances(log_probs, section), uniform(stream[walk.sentences[:, None], numbers], walk.length))
        place = (np.arange(len(ids))[:, None], rows, drawn)
        sums = walk.sums[place[:2]] + log_probs[place]
        yield walk.write(step, Continuations(rows, ids[place], log_probs[place], sums, scores=sums, carry={"numbers": numbers}))
    return walk.hypotheses(section.count, finished_first=False)


def _candidates(walk: Walk, step: Step, section: Sample) -> tuple[IntArray, FloatArray]:
    """Give the symbols to draw from, [B, K, n]; best first if they are to be cut."""
    if section.top_k is not None:
        return walk.best(step, section.top_k)
    ids, log_probs = walk.every(step)
    if section.top_p is None:
        return ids, log_probs
    order = np.argsort(-log_probs, axis=2, kind="stable")
    return np.take_along_axis(ids, order, axis=2), np.take_along_axis(log_probs, order, axis=2)


def _chances(log_probs: FloatArray, section: Sample) -> Sums:
    """Weigh the candidates for the draw: tempered, then cut to the smallest set that holds `top_p` of the whole."""
    highest = log_probs.max(axis=2, keepdims=True)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    chances: Sums = np.exp((log_probs - highest).astype(np.float64) / section.temperature)
    if section.top_p is None:
        return chances
    before = np.cumsum(chances, axis=2) - chances
    return np.where(before < section.top_p * chances.sum(axis=2, keepdims=True), chances, 0.0)


def _drawn(chances: Sums, numbers: Sums) -> IntArray:
    """Find the candidate that each number in [0, 1) falls on; chances [B, K or 1, n], numbers [B, K] -> index [B, K]."""
    cumulated = np.cumsum(chances, axis=2)
    total = cumulated[:, :, -1]
    # Rounding may not carry a number to the very end, where a candidate without any chance may stand.
    targets = np.minimum(numbers * total, np.nextafter(total, 0.0))
    drawn: IntArray = (cumulated <= targets[:, :, None]).sum(axis=2)
    return np.minimum(drawn, np.int64(chances.shape[2] - 1))
