"""Steppers for text that does not start at `begin` and need not stop at `end`: beginnings that are given, running text."""

from collections.abc import Mapping

import numpy as np

from seqloom.search.contracts import FloatArray, IntArray, State, Step, Stepper
from seqloom.symbols import BEGIN, END


class Continued:
    """A stepper that goes on in the middle of a text. first: what it reads in place of `begin`, the symbol before."""

    def __init__(self, inner: Stepper, first: int) -> None:
        self._inner = inner
        self._first = first

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._inner.vocabulary_size

    def step(self, tokens: IntArray, state: State) -> Step:
        """Advance every row. `begin` is never written, so it stands in the first step only."""
        return self._inner.step(np.where(tokens == BEGIN, self._first, tokens), state)


class Endless:
    """A stepper for running text, which goes on after `end`.

    Search takes `end` for the end of an output, so here it never comes: a line break is one more symbol, `line_break`.
    """

    def __init__(self, inner: Stepper) -> None:
        self._inner = inner
        self.line_break = inner.vocabulary_size

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols, one more than the inner stepper's."""
        return self._inner.vocabulary_size + 1

    def step(self, tokens: IntArray, state: State) -> "EndlessStep":
        """Advance every row by one symbol."""
        return EndlessStep(self._inner.step(np.where(tokens == self.line_break, END, tokens), state), self.line_break)

    def ids(self, tokens: IntArray) -> IntArray:
        """What search wrote, in the ids of the vocabulary."""
        return np.where(tokens == self.line_break, END, tokens)


class EndlessStep(Step):
    """A step in which a line break takes the place of `end`."""

    def __init__(self, inner: Step, line_break: int) -> None:
        self._inner = inner
        self._line_break = line_break

    @property
    def weights(self) -> Mapping[str, FloatArray]:
        """Attention weights, as the inner step has them."""
        return self._inner.weights

    @property
    def state(self) -> State:
        """The state after this step."""
        return self._inner.state

    def top(self, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
        """Give the k most probable symbols, as `Step.top`."""
        others = forbid[(forbid != END) & (forbid != self._line_break)]
        barred = np.append(others, END) if self._line_break in forbid else others
        ids, log_probs = self._inner.top(k, barred)
        return np.where(ids == END, self._line_break, ids), log_probs

    def at(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of the given symbols; `end` has none."""
        log_probs = self._inner.at(np.where(ids == self._line_break, END, ids))
        return np.where(ids == END, np.float32(-np.inf), log_probs)

    def all(self) -> FloatArray:
        """Log-probabilities of all symbols."""
        every = self._inner.all()
        extended: FloatArray = np.concatenate([every, every[:, :, END : END + 1]], axis=2)
        extended[:, :, END] = -np.inf
        return extended

    def own_log_probs(self, rows: IntArray, tokens: IntArray, ranked: FloatArray) -> FloatArray:
        """What the inner step says."""
        return self._inner.own_log_probs(rows, np.where(tokens == self._line_break, END, tokens), ranked)
