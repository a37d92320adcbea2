"""The one entry to all searches."""

from collections.abc import Callable, Generator
from typing import assert_never

from seqloom.errors import UsageError
from seqloom.recipe.sections import Beam, Exhaustive, Greedy, Sample, Search
from seqloom.search.beam import beam
from seqloom.search.contracts import Hypotheses, State, Stepper
from seqloom.search.exhaustive import exhaustive
from seqloom.search.greedy import greedy
from seqloom.search.request import Request
from seqloom.search.sample import sample
from seqloom.search.traces import Trace


def search(stepper: Stepper, state: State, section: Search, request: Request) -> Generator[Trace, None, Hypotheses]:
    """Search as the section says. Yields a trace after every step and returns the hypotheses of each sentence, best first.

    state: that of the request's sentences before anything is written, one row each. Every sentence gets at least one
    hypothesis; one that reached its limit, or after which nothing was allowed, is not `finished`.
    """
    if state.sentences != request.sentences:
        raise UsageError(
            f"the search request is for {request.sentences} sentences, but the model was started with {state.sentences}. "
            "Make the request for the same batch"
        )
    match section:
        case Greedy():
            return greedy(stepper, state, section, request)
        case Beam():
            return beam(stepper, state, section, request)
        case Sample():
            return sample(stepper, state, section, request)
        case Exhaustive():
            return exhaustive(stepper, state, section, request)
        case _:
            assert_never(section)


def run(stepper: Stepper, state: State, section: Search, request: Request) -> Hypotheses:
    """Search to the end without watching."""
    return to_the_end(search(stepper, state, section, request))


def to_the_end(steps: Generator[Trace, None, Hypotheses], watch: Callable[[], None] = lambda: None) -> Hypotheses:
    """What a search finds. watch: is called at every step; what it raises ends it."""
    while True:
        try:
            next(steps)
            watch()
        except StopIteration as stop:
            found: Hypotheses = stop.value
            return found
