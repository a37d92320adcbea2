"""Shallow fusion: at every step a language model has a say on every symbol.

What search ranks by is `log p(y_t | y_<t, x) + weight * log p_LM(y_t | y_<t)`, which is not normalised. The model's own
log-probabilities stay available beside it.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seqloom.errors import UsageError
from seqloom.search.contracts import FloatArray, IntArray, State, Step, Stepper
from seqloom.search.rescoring import RescoredStep


@dataclass(frozen=True)
class FusedState:
    """The states of the model and of the language model, which walk in step."""

    model: State
    language_model: State

    @property
    def sentences(self) -> int:
        """B, the number of sentences, the same for both."""
        return self.model.sentences

    def select(self, sentences: IntArray, parents: IntArray) -> "FusedState":
        """Select the same sentences and rows in both."""
        return FusedState(self.model.select(sentences, parents), self.language_model.select(sentences, parents))


class Fused:
    """A model, or an ensemble, with a language model of the same target vocabulary; itself a stepper.

    Start it with a `FusedState`. weight: how much the language model's logarithms count, 0 or more. A negative one is refused:
    beam search stops early because no symbol can raise a sum.
    """

    def __init__(self, model: Stepper, language_model: Stepper, weight: float) -> None:
        if not (math.isfinite(weight) and weight >= 0):
            raise UsageError(f"the weight of a language model is a number from 0 up, such as 0.3, not {weight}")
        if model.vocabulary_size != language_model.vocabulary_size:
            raise UsageError(
                f"fusion needs one target vocabulary; the model writes {model.vocabulary_size} symbols, the language model "
                f"{language_model.vocabulary_size}. Train the language model with the model's vocabulary"
            )
        self._model = model
        self._language_model = language_model
        self._weight = weight

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._model.vocabulary_size

    def step(self, tokens: IntArray, state: State) -> "FusedStep":
        """Advance both by the same symbols."""
        if not isinstance(state, FusedState):
            raise TypeError(f"a fused model needs a FusedState, not {state!r}")
        model = self._model.step(tokens, state.model)
        return FusedStep(model, self._language_model.step(tokens, state.language_model), self._weight)


class FusedStep(RescoredStep):
    """What the model and the language model say about the next symbol. Attention is the model's: the other has no source."""

    def __init__(self, model: Step, language_model: Step, weight: float) -> None:
        super().__init__(model)
        self._language_model = language_model
        self._weight = weight

    @cached_property
    def state(self) -> FusedState:
        """Both states after this step."""
        return FusedState(self._model.state, self._language_model.state)

    @cached_property
    def _scores(self) -> FloatArray:
        # Both in full: the best of a sum need not be among the best of either.
        return self._fused(self._own, self._language_model.all())

    def _fused(self, own: FloatArray, other: FloatArray) -> FloatArray:
        """Add the language model's logarithms; without weight it has no say, not even by a probability of 0."""
        return own + np.float32(self._weight) * other if self._weight else own

    def at(self, ids: IntArray) -> FloatArray:
        """Fused scores of the given symbols, [B, K, n]."""
        return self._fused(self._model.at(ids), self._language_model.at(ids))
