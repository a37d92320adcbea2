"""A model's step with somebody else's say in it: search ranks by scores that are no longer the model's own."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from seqloom.search.candidates import best_candidates
from seqloom.search.contracts import FloatArray, IntArray, Step


class RescoredStep(Step):
    """`top`, `at` and `all` give scores of both, `own_log_probs` what the model alone says."""

    def __init__(self, model: Step) -> None:
        self._model = model

    @property
    @abstractmethod
    def _scores(self) -> FloatArray:
        """What all symbols are ranked by, [B, K, V]."""

    @property
    def weights(self) -> Mapping[str, FloatArray]:
        """The model's attention weights."""
        return self._model.weights

    @cached_property
    def _own(self) -> FloatArray:
        return self._model.all()

    def top(self, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
        """Give the k symbols with the best scores, as `Step.top`."""
        return best_candidates(self._scores, k, forbid)

    def at(self, ids: IntArray) -> FloatArray:
        """Scores of the given symbols, [B, K, n]."""
        return np.take_along_axis(self._scores, ids, axis=-1)

    def all(self) -> FloatArray:
        """Scores of all symbols, [B, K, V]."""
        return self._scores

    def own_log_probs(self, rows: IntArray, tokens: IntArray, ranked: FloatArray) -> FloatArray:  # noqa: ARG002
        """The model's log-probabilities, without the other's say, and without that of others before it."""
        return self._model.own_log_probs(rows, tokens, self._own[np.arange(len(rows))[:, None], rows, tokens])
