"""CTC beside attention (Watanabe et al. 2017): what search ranks by is a share of each.

CTC says for every position of a source which symbol it may stand for, or none (`blank`). A sequence of positions spells an
output once repeats and blanks are gone. `psi(g)` is the probability of all spellings that begin with g, and the score of a
symbol c after g is `log psi(g c) - log psi(g)`: no symbol can raise a sum, which beam search relies on. It depends on nothing
but what the positions say, so that it knows where the source is when attention has lost its place.

Letters as in `contracts`. `begin` is the blank, since it is never written.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt

from seqloom.errors import UsageError
from seqloom.search.contracts import FloatArray, IntArray, State, Step, Stepper
from seqloom.search.rescoring import RescoredStep
from seqloom.symbols import BEGIN, END

BLANK = BEGIN
Logs = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PositionScores:
    """What every position may stand for: log-probabilities [B, S, V]; lengths [B]: how many positions are real."""

    log_probs: FloatArray
    lengths: IntArray


@dataclass(frozen=True)
class PrefixState:
    """How probable what each row wrote is, as far as CTC can tell.

    spoken, silent [B, K, S]: log-probability that positions up to here spell the prefix, and that the last one says its last
    symbol, or nothing. prefix [B, K]: `log psi`. last [B, K]: the last symbol, `begin` before the first. log_probs [B, S, V]:
    what the positions of each sentence say; behind its end they are silent for certain, which changes nothing.
    """

    spoken: Logs
    silent: Logs
    prefix: Logs
    last: IntArray
    log_probs: Logs

    @classmethod
    def start(cls, scores: PositionScores) -> "PrefixState":
        """Before the first symbol: all positions so far were silent."""
        log_probs = scores.log_probs.astype(np.float64)
        beyond = np.arange(log_probs.shape[1]) >= scores.lengths[:, None]
        log_probs[beyond] = -np.inf
        log_probs[beyond, BLANK] = 0.0
        silent = np.cumsum(log_probs[:, :, BLANK], axis=1)[:, None]
        sentences = (len(log_probs), 1)
        return cls(np.full_like(silent, -np.inf), silent, np.zeros(sentences), np.full(sentences, BEGIN), log_probs)

    @property
    def sentences(self) -> int:
        """B, the number of sentences."""
        return len(self.log_probs)

    def select(self, sentences: IntArray, parents: IntArray) -> "PrefixState":
        """Keep the given sentences and rows."""
        place = (sentences[:, None], parents)
        rows = {name: getattr(self, name)[place] for name in ("spoken", "silent", "prefix", "last")}
        return PrefixState(**rows, log_probs=self.log_probs[sentences])

    def written(self, tokens: IntArray) -> "PrefixState":
        """After every row wrote a symbol [B, K]; `begin` is what is fed before the first."""
        begins = tokens == BEGIN
        if begins.all():
            return self
        said = np.take_along_axis(self.log_probs[:, None], tokens[:, :, None, None], axis=3)[..., 0]  # [B, K, S]
        quiet = self.log_probs[:, None, :, BLANK]
        entering = self._entering(tokens)
        spoken, silent = np.empty_like(said), np.empty_like(said)
        spoken[..., 0], silent[..., 0] = entering[..., 0] + said[..., 0], -np.inf
        for t in range(1, said.shape[-1]):
            spoken[..., t] = np.logaddexp(spoken[..., t - 1], entering[..., t]) + said[..., t]
            silent[..., t] = np.logaddexp(silent[..., t - 1], spoken[..., t - 1]) + quiet[..., t]
        prefix = np.logaddexp.reduce(entering + said, axis=-1)
        return replace(self, spoken=spoken, silent=silent, prefix=prefix, last=tokens)

    def _entering(self, tokens: IntArray) -> Logs:
        """How probable it is that a symbol begins at each position [B, K, S]: the prefix was spelled just before.

        A symbol that is the last one again needs a silence between the two.
        """
        again = (tokens == self.last)[..., None]
        before = np.where(again, self.silent, np.logaddexp(self.spoken, self.silent))
        first = np.where(self.last == BEGIN, 0.0, -np.inf)[..., None]
        return np.concatenate([first, before[..., :-1]], axis=-1)

    def following(self) -> FloatArray:
        """`log psi(g c) - log psi(g)` of all symbols [B, K, V]; of `end`, that nothing follows."""
        anything = self._entering(np.full_like(self.last, -1))
        found = _log_product(anything, self.log_probs)
        again = np.logaddexp.reduce(
            self._entering(self.last) + np.take_along_axis(self.log_probs[:, None], self.last[..., None, None], axis=3)[..., 0],
            axis=-1,
        )
        np.put_along_axis(found, self.last[..., None], again[..., None], axis=2)
        found[..., BLANK] = -np.inf
        found[..., END] = np.logaddexp(self.spoken[..., -1], self.silent[..., -1])
        reachable = np.isfinite(self.prefix)[..., None]
        scores = np.where(reachable, found, -np.inf) - np.where(reachable, self.prefix[..., None], 0.0)
        following: FloatArray = np.minimum(scores, 0.0).astype(np.float32)
        return following


def _log_product(rows: Logs, columns: Logs) -> Logs:
    """`log sum_t e^(rows_t + columns_t)`: rows [B, K, S], columns [B, S, V] -> [B, K, V]."""
    highest = rows.max(axis=-1, keepdims=True)
    base = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        return cast(Logs, np.log(np.exp(rows - base) @ np.exp(columns)) + base)


@dataclass(frozen=True)
class JointState:
    """The states of the model and of CTC, which walk in step."""

    model: State
    prefixes: PrefixState

    @property
    def sentences(self) -> int:
        """B, the number of sentences, the same for both."""
        return self.model.sentences

    def select(self, sentences: IntArray, parents: IntArray) -> "JointState":
        """Select the same sentences and rows in both."""
        return JointState(self.model.select(sentences, parents), self.prefixes.select(sentences, parents))


class Joint:
    """A model with the CTC of its source; itself a stepper. Start it with a `JointState`. weight: the share of CTC."""

    def __init__(self, model: Stepper, weight: float) -> None:
        if not 0.0 <= weight <= 1.0:
            raise UsageError(f"the weight of CTC is a share from 0 to 1, such as 0.3, not {weight}")
        self._model, self._weight = model, weight

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._model.vocabulary_size

    def step(self, tokens: IntArray, state: State) -> "JointStep":
        """Advance both by the same symbols."""
        if not isinstance(state, JointState):
            raise TypeError(f"a model with CTC needs a JointState, not {state!r}")
        return JointStep(self._model.step(tokens, state.model), state.prefixes.written(tokens), self._weight)


class JointStep(RescoredStep):
    """What the model and CTC say about the next symbol."""

    def __init__(self, model: Step, prefixes: PrefixState, weight: float) -> None:
        super().__init__(model)
        self._prefixes, self._weight = prefixes, weight

    @cached_property
    def state(self) -> JointState:
        """Both states after this step."""
        return JointState(self._model.state, self._prefixes)

    @cached_property
    def _scores(self) -> FloatArray:
        if not self._weight:
            return self._own
        heard = self._prefixes.following()[..., : self._own.shape[-1]]
        share = np.float32(self._weight)
        return heard if self._weight == 1.0 else (1 - share) * self._own + share * heard
