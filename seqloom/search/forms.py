"""One input that is read in several forms, such as a recording at several speeds: what is written has to suit all of them.

Each form has its own positions, and so its own attention and its own CTC. What search ranks by is the mean of the scores that a
symbol has in each.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from seqloom.search.contracts import FloatArray, IntArray, State, Step, Stepper
from seqloom.search.ensembles import EnsembleState
from seqloom.search.rescoring import RescoredStep


class Forms:
    """A model that reads its input in so many forms, the plain one first; itself a stepper.

    Start it with an `EnsembleState` of the states that the forms lead to, in their order.
    """

    def __init__(self, model: Stepper, count: int) -> None:
        self._model, self._count = model, count

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._model.vocabulary_size

    def step(self, tokens: IntArray, state: State) -> "FormsStep":
        """Advance in every form by the same symbols."""
        if not isinstance(state, EnsembleState) or len(state.members) != self._count:
            raise TypeError(f"{self._count} forms of an input need an EnsembleState of as many, not {state!r}")
        return FormsStep([self._model.step(tokens, form) for form in state.members])


class FormsStep(RescoredStep):
    """What is said about the next symbol in all forms. Attention, and what the model says by itself, are those of the first."""

    def __init__(self, forms: Sequence[Step]) -> None:
        super().__init__(forms[0])
        self._forms = forms

    @cached_property
    def state(self) -> EnsembleState:
        """The states of all forms after this step."""
        return EnsembleState(tuple(form.state for form in self._forms))

    @cached_property
    def _scores(self) -> FloatArray:
        # Of logarithms: a form in which a symbol makes no sense speaks against it, however sure another one is.
        scores: FloatArray = np.mean([self._own, *(form.all() for form in self._forms[1:])], axis=0)
        return scores
