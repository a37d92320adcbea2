"""What a search is given, and how many inputs it is given at a time."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from seqloom.data.arrays import Padded
from seqloom.data.examples import Example
from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import UsageError
from seqloom.prediction.inputs import Input, ReadExample
from seqloom.recipe.sections import Beam, Exhaustive, Sample, Search
from seqloom.search.classification import WatchedStepper
from seqloom.search.contracts import Hypotheses, IntArray, State, Stepper
from seqloom.search.dispatch import search, to_the_end
from seqloom.search.request import Request, longest_outputs
from seqloom.search.traces import Trace

Watch = Callable[[], None]
"""Is called at every step of a search; what it raises ends it."""

_MOST_ROWS = 640
"""Rows of all sentences decoded together: a wide beam takes fewer sentences at a time, so that memory stays bounded."""
_MOST_WEIGHTS = 1 << 26
"""Attention weights of all sentences decoded together, rows x positions x steps: a quarter of a gigabyte for each head."""


@dataclass(frozen=True)
class Task:
    """What a search needs: a model that was started with inputs, how to search, and for what.

    sources: the inputs as the model reads them; read: the first of them.
    """

    stepper: Stepper
    state: State
    section: Search
    request: Request
    sources: Mapping[str, Padded]
    read: ReadExample
    vocabulary: Vocabulary

    def steps(self) -> Generator[Trace, None, Hypotheses]:
        """Search step by step; the outputs of each input come back, best first. A class is there once."""
        if not self.vocabulary.whole:
            return (yield from search(self.stepper, self.state, self.section, self.request))
        watched = WatchedStepper(self.stepper, self.request.forbid.tolist())
        return watched.each_once((yield from search(watched, self.state, self.section, self.request)))

    def hypotheses(self, watch: Watch) -> Hypotheses:
        """Search to the end."""
        return to_the_end(self.steps(), watch)

    def symbols(self, tokens: Iterable[int]) -> tuple[str, ...]:
        """Output symbols as a person reads them."""
        return self.vocabulary.symbols(tokens, self.read.copies)

    def text(self, tokens: Iterable[int]) -> str:
        """The text that output symbols spell."""
        return self.vocabulary.decode(tokens, self.read.copies)


def _width(section: Search) -> int:
    """How many outputs a search follows at once."""
    match section:
        case Beam(width=width):
            return width
        case Sample(count=count) | Exhaustive(count=count):
            return count
        case _:
            return 1


def batches_of(order: IntArray, lengths: Sequence[int], section: Search, batch_size: int) -> Iterator[IntArray]:
    """Numbers of inputs that are searched together, given by rising length: fewer of long ones, so that memory stays bounded.

    What a search remembers grows with the rows of all beams, the source's positions and the output's symbols.
    """
    width, start = _width(section), 0
    most = max(1, min(batch_size, _MOST_ROWS // width))
    limits = longest_outputs(section, np.asarray(lengths, dtype=np.int64)).tolist()
    for end in range(1, len(order) + 1):
        full = end - start == most or end == len(order)
        if full or (end - start + 1) * width * lengths[end] * limits[end] > _MOST_WEIGHTS:
            yield order[start:end]
            start = end


def next_chunk(inputs: Iterator[Input], at_once: int) -> list[Input]:
    """The next inputs of a stream: so many, or fewer if they are long, since all of their outputs are held at a time."""
    chunk: list[Input] = []
    room = _MOST_WEIGHTS
    for one in inputs:
        chunk.append(one)
        room -= _extent(one) ** 2
        if len(chunk) == at_once or room <= 0:
            break
    return chunk


def _extent(given: Input) -> int:
    """How long an input is, roughly: in characters."""
    match given:
        case Example(sources=sources):
            return max(map(len, sources.values()), default=0)
        case str():
            return len(given)
        case Mapping():
            return max((len(one) for one in given.values() if isinstance(one, str)), default=0)
        case _:
            return 0


def require_nbest(nbest: int, section: Search) -> None:
    """Refuse to give more outputs than a search finds."""
    most = _width(section)
    match section:
        case Beam():
            remedy = f"the beam is {most} wide. Use a width of {nbest} or more (--beam {nbest}; in Python, beam={nbest})"
        case Sample() | Exhaustive():
            remedy = f"the search keeps {most}. Raise its count"
        case _:
            remedy = f"greedy search finds one output. Use beam search (--beam {nbest}; in Python, beam={nbest})"
    if not 1 <= nbest <= most:
        raise UsageError(f"{nbest} best outputs were asked for, but {remedy}")
