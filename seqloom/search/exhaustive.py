"""Exhaustive search (S2): every sequence up to the limit. Feasible for tiny vocabularies and short outputs only."""

import math
from collections.abc import Generator
from dataclasses import replace

import numpy as np

from seqloom.errors import UsageError
from seqloom.recipe.sections import Exhaustive
from seqloom.search.contracts import Hypotheses, State, Step, Stepper
from seqloom.search.request import Request
from seqloom.search.scoring import by_length
from seqloom.search.traces import Trace
from seqloom.search.walk import Continuations, Walk

MOST_SEQUENCES = 1_000_000


def exhaustive(stepper: Stepper, state: State, section: Exhaustive, request: Request) -> Generator[Trace, None, Hypotheses]:
    """Find the `count` best of all sequences, for one sentence after the other, so that the memory needed is that of one."""
    found: Hypotheses = []
    for sentence in range(request.sentences):
        one = state.select(np.array([sentence]), np.zeros((1, 1), np.int64))
        found += yield from _one_sentence(stepper, one, section, request.only(sentence), sentence)
    return found


def _one_sentence(
    stepper: Stepper, state: State, section: Exhaustive, request: Request, sentence: int
) -> Generator[Trace, None, Hypotheses]:
    walk = Walk(stepper, state, request, minimum_length=section.minimum_length)
    _check_number(walk.rules.symbols(), request)
    while walk.goes_on:
        step = walk.step()
        trace = walk.write(step, _all_extensions(walk, step, stepper.vocabulary_size, section.length_power))
        yield replace(trace, sentences=np.array([sentence]))
    return walk.hypotheses(section.count)


def _all_extensions(walk: Walk, step: Step, vocabulary_size: int, power: float) -> Continuations:
    """All extensions of the one sentence that are possible at all."""
    ids, log_probs = walk.best(step, vocabulary_size)
    sums = walk.sums[:, :, None] + log_probs
    _, rows, ranks = np.nonzero(np.isfinite(sums))
    kept = (0, rows[None], ranks[None])
    return Continuations(
        rows[None], ids[kept], log_probs[kept], sums[kept], scores=by_length(sums[kept], walk.length + 1, power)
    )


def _check_number(symbols: int, request: Request) -> None:
    """Refuse what cannot end: s symbols give s^0 + s^1 + ... sequences that end, and s^n that reach the limit of n."""
    free = int(request.limits[0]) - (len(request.prefixes[0]) if len(request.prefixes) else 0)
    digits = free * math.log10(max(symbols, 1))
    # The number itself may have thousands of digits: too long to compute for nothing, and to read.
    many = f"about 10^{round(digits)}"
    if digits < 15:
        number = sum(symbols**length for length in range(free + 1))
        if number <= MOST_SEQUENCES:
            return
        many = f"{number:,}"
    raise UsageError(
        f"an exhaustive search may look at {MOST_SEQUENCES:,} sequences; {symbols} symbols besides `end` in outputs of up to "
        f"{free} give {many}. Use `kind: beam`, or make outputs shorter with `length_factor` and `length_extra`"
    )
