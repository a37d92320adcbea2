"""How a language model writes on from a prompt."""

from collections.abc import Iterator
from dataclasses import dataclass

from seqloom.data.vocabulary import Vocabulary
from seqloom.prediction.backends import SourceStepper
from seqloom.recipe.sections import Search
from seqloom.results.language import FloatArray, IntArray
from seqloom.search.contracts import Hypothesis, State
from seqloom.search.dispatch import search
from seqloom.search.request import Request
from seqloom.search.running_text import Continued, Endless
from seqloom.symbols import END


@dataclass(frozen=True, eq=False)
class Beginning:
    """A text of which nothing has been read. first: what a model reads before its symbols."""

    stepper: SourceStepper
    state: State
    first: int
    ids: IntArray


@dataclass(frozen=True, eq=False)
class Prompt:
    """A prompt that has been read up to its last symbol. last: that one, still to be read; the mark before a text if none."""

    ids: IntArray
    log_probs: FloatArray
    last: int
    state: State


class Writing:
    """A search that writes, step by step."""

    def __init__(self, stepper: Continued | Endless, state: State, section: Search, request: Request) -> None:
        self._stepper = stepper
        self._search = search(stepper, state, section, request)
        self.hypotheses: list[list[Hypothesis]] = []

    def steps(self) -> Iterator[IntArray]:
        """The symbols [B, W] that each step wrote; when all are written, `hypotheses` has the outputs."""
        while True:
            try:
                trace = next(self._search)
            except StopIteration as stop:
                self.hypotheses = stop.value
                return
            yield self.ids(trace.tokens)

    def ids(self, tokens: IntArray) -> IntArray:
        """What search wrote, in the ids of the vocabulary."""
        return self._stepper.ids(tokens) if isinstance(self._stepper, Endless) else tokens


class Speller:
    """Turns symbols into text one by one: what a symbol adds depends on the one before it in its line, and no other."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._before: list[int] = []

    def add(self, symbol: int) -> str:
        """The text that this symbol adds."""
        if symbol == END:
            self._before = []
            return "\n"
        known = self._vocabulary.decode(self._before)
        text = self._vocabulary.decode([*self._before, symbol])
        self._before = [symbol]
        return text.removeprefix(known)
