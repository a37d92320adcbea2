"""Beam search (S3, S4): keep the `width` best beginnings at every step, and choose by normalised score at the end."""

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from seqloom.recipe.sections import Beam
from seqloom.search.contracts import Hypotheses, IntArray, State, Step, Stepper
from seqloom.search.phrases import Phrases
from seqloom.search.request import Request
from seqloom.search.scoring import Coverage, by_length
from seqloom.search.traces import BoolArray, Sums, Trace
from seqloom.search.walk import Continuations, Walk
from seqloom.symbols import END


def beam(stepper: Stepper, state: State, section: Beam, request: Request) -> Generator[Trace, None, Hypotheses]:
    """Up to `width` hypotheses for each sentence.

    At each step the `width` best extensions of a sentence's live rows are taken; those that end leave the beam, which may fill
    up again in the next step. Fewer hypotheses than `width` are a slice of the answer: the search itself does not know of it.
    """
    walk = Walk(stepper, state, request, minimum_length=section.minimum_length)
    coverage = Coverage(section.coverage, request) if section.coverage else None
    phrases = Phrases(section.values, request) if section.values and len(request.phrases) else None
    race = _Race(section, request)
    while walk.goes_on:
        step = walk.step()
        choice = _best_extensions(walk, step, section)
        if coverage is not None:
            choice = _with_coverage(choice, walk, step, coverage)
        if phrases is not None:
            choice = _with_phrases(choice, walk, phrases)
        yield walk.write(step, choice, race.done(choice, walk.sentences))
    return walk.hypotheses(section.width)


def _best_extensions(walk: Walk, step: Step, section: Beam) -> Continuations:
    """Choose the `width` best extensions of each sentence's live rows."""
    ids, log_probs = walk.best(step, section.width)
    sums = walk.sums[:, :, None] + log_probs
    sentences, _, candidates = sums.shape
    # Pruning compares raw sums: hypotheses of one step have the same length, so normalising would change nothing.
    # A stable sort breaks ties by row, then rank, whatever rows other sentences add to the grid.
    best = np.argsort(-sums.reshape(sentences, -1), axis=1, kind="stable")[:, : section.width]
    rows, ranks = np.divmod(best, candidates)
    place = (np.arange(sentences)[:, None], rows, ranks)
    scores = by_length(sums[place], walk.length + 1, section.length_power)
    return Continuations(rows, ids[place], log_probs[place], sums[place], scores)


def _with_coverage(choice: Continuations, walk: Walk, step: Step, coverage: Coverage) -> Continuations:
    """Add the coverage term to the scores, and carry along what it needs."""
    totals = coverage.totals(step, walk.carry.get("totals"))
    penalties = coverage.penalties(totals, step, walk.sentences)
    place = (np.arange(len(choice.rows))[:, None], choice.rows)
    return replace(choice, scores=choice.scores + penalties[place], carry={"totals": totals[place]})


def _with_phrases(choice: Continuations, walk: Walk, phrases: Phrases) -> Continuations:
    """Add the term of the phrases that are lacking to the scores, and carry along what it needs."""
    carry = phrases.carry(walk.carry, walk.sentences, choice.rows, choice.tokens)
    scores = choice.scores + phrases.penalties(carry["said"], walk.sentences)
    return replace(choice, scores=scores, carry={**choice.carry, **carry})


class _Race:
    """For each sentence of the request, how many hypotheses are finished and the best score among them."""

    def __init__(self, section: Beam, request: Request) -> None:
        self._width = section.width
        # No log-probability is above 0 and no penalty either, so a live row can at best keep its sum up to the limit.
        self._per_sum: Sums = by_length(np.ones(request.sentences), request.limits, section.length_power)
        self._finished = np.zeros(request.sentences, np.int64)
        self._best = np.full(request.sentences, -np.inf)

    def done(self, choice: Continuations, sentences: IntArray) -> BoolArray:
        """Count what this choice finishes; a sentence is done if it has `width` and no live row can beat the best of them."""
        ended = choice.tokens == END
        self._finished[sentences] += (ended & np.isfinite(choice.sums)).sum(axis=1)
        best = np.where(ended, choice.scores, -np.inf).max(axis=1)
        self._best[sentences] = np.maximum(self._best[sentences], best)
        reachable = np.where(ended, -np.inf, choice.sums).max(axis=1) * self._per_sum[sentences]
        done: BoolArray = (self._finished[sentences] >= self._width) & (reachable <= self._best[sentences])
        return done
