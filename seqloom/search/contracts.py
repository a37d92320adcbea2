"""What search needs from a model, and what it gives back. NumPy only: no model is known here.

Letters: B sentences, K rows of a sentence (beam), k candidates a row, V vocabulary, H heads, S source positions,
T output symbols.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


class State(Protocol):
    """All that a model keeps between two steps, for B sentences of K rows each."""

    @property
    def sentences(self) -> int:
        """B, the number of sentences."""
        ...

    def select(self, sentences: IntArray, parents: IntArray) -> Self:
        """Keep the given sentences [B'] and, of each, the given rows [B', K']; repeats allowed.

        Search calls this after a step, unless it would change nothing: rows follow the surviving hypotheses, and sentences
        that are done leave. The sentences stay in order.
        """
        ...


class Step(Protocol):
    """What a model says about the next symbol of every row."""

    @property
    def weights(self) -> Mapping[str, FloatArray]:
        """Attention weights of this step per source, [B, K, H, S]; empty for a model without attention.

        Padding has no weight. S stays the same throughout a search, and the arrays may not be written to again.
        """
        ...

    @property
    def state(self) -> State:
        """The state after this step."""
        ...

    def top(self, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
        """Give the k most probable symbols of each row, best first, none of them forbidden: ids, log-probabilities [B, K, k].

        Log-probabilities are those of the whole distribution: forbidding does not renormalise. If fewer than k symbols
        remain, the rest have log-probability -inf (and any ids). Search never asks for more than V.
        """
        ...

    def at(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of the given symbols; ids [B, K, n] -> [B, K, n]."""
        ...

    def all(self) -> FloatArray:
        """Log-probabilities of all symbols, [B, K, V]. Behind them, from id V on, what a model copies from sources."""
        ...

    def own_log_probs(self, rows: IntArray, tokens: IntArray, ranked: FloatArray) -> FloatArray:  # noqa: ARG002
        """What the model itself says of symbols [B, W] in the given rows [B, W]; ranked [B, W]: what search ranks them by.

        The two differ where a language model or CTC has a say, and nowhere else.
        """
        return ranked


class Stepper(Protocol):
    """A model as search sees it. `step` feeds the symbols chosen last (`begin` at first) and says what may follow."""

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        ...

    def step(self, tokens: IntArray, state: State) -> Step:
        """Advance every row by one symbol; tokens [B, K]."""
        ...


@dataclass(frozen=True)
class Hypothesis:
    """One output sequence.

    tokens: symbol ids without `begin`; the last is `end` if finished. log_probs: one per token, the model's own even where a
    language model or CTC has a say; log_prob their sum. score: what ranks it. weights: per source [H, T, S], T = len(tokens).
    """

    tokens: IntArray
    log_prob: float
    score: float
    log_probs: FloatArray
    finished: bool
    weights: Mapping[str, FloatArray] = field(default_factory=dict)


Hypotheses = list[list[Hypothesis]]
"""Per sentence, its hypotheses, best first."""
