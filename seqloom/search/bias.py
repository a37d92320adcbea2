"""Biases: some symbols are taken for more, or for less, probable than the model says.

What search ranks by is `log p(y_t) + b(y_t)`, less the logarithm of what makes it a distribution again: no symbol can raise a
sum, which beam search relies on. The model's own log-probabilities stay available beside it.
"""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from seqloom.search.contracts import FloatArray, IntArray, State, Step, Stepper
from seqloom.search.rescoring import RescoredStep


def biased(model: Stepper, biases: Mapping[int, float]) -> Stepper:
    """The model with biases, by the ids of symbols; the model itself if there are none."""
    return Biased(model, biases) if biases else model


class Biased:
    """A model whose symbols have biases; itself a stepper, with the model's own states. biases: by the ids of symbols."""

    def __init__(self, model: Stepper, biases: Mapping[int, float]) -> None:
        self._model = model
        self._ids: IntArray = np.fromiter(biases, dtype=np.int64, count=len(biases))
        self._biases: FloatArray = np.fromiter(biases.values(), dtype=np.float32, count=len(biases))

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._model.vocabulary_size

    def step(self, tokens: IntArray, state: State) -> "BiasedStep":
        """Advance every row by one symbol."""
        return BiasedStep(self._model.step(tokens, state), self._ids, self._biases)


class BiasedStep(RescoredStep):
    """What the model says about the next symbol, with the biases."""

    def __init__(self, model: Step, ids: IntArray, biases: FloatArray) -> None:
        super().__init__(model)
        self._ids = ids
        self._biases = biases

    @property
    def state(self) -> State:
        """The model's state after this step."""
        return self._model.state

    @cached_property
    def _scores(self) -> FloatArray:
        scores = self._own.copy()
        scores[:, :, self._ids] += self._biases
        highest = scores.max(axis=2, keepdims=True)
        whole: FloatArray = highest + np.log(np.exp(scores - highest).sum(axis=2, keepdims=True))
        normalised: FloatArray = np.minimum(scores - whole, np.float32(0.0))
        return normalised
