"""Several models as one: at every step the mean of their probabilities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seqloom.errors import UsageError
from seqloom.search.candidates import best_candidates
from seqloom.search.contracts import FloatArray, IntArray, State, Step, Stepper


@dataclass(frozen=True)
class EnsembleState:
    """The states of all members, which walk in step."""

    members: tuple[State, ...]

    @property
    def sentences(self) -> int:
        """B, the number of sentences, the same for all members."""
        return self.members[0].sentences

    def select(self, sentences: IntArray, parents: IntArray) -> "EnsembleState":
        """Select the same sentences and rows in every member."""
        return EnsembleState(tuple(member.select(sentences, parents) for member in self.members))


class Ensemble:
    """Steppers with one target vocabulary and, where they attend, the same source positions; itself a stepper.

    Start it with an `EnsembleState` of the members' own start states, in the same order.
    """

    def __init__(self, members: Sequence[Stepper]) -> None:
        sizes = sorted({member.vocabulary_size for member in members})
        if len(sizes) != 1:
            raise UsageError(
                f"an ensemble needs members with the same target vocabulary; these write {sizes or 'nothing'}. "
                "Give at least one model, and only models that share their vocabularies"
            )
        self._members = tuple(members)
        self._vocabulary_size = sizes[0]

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._vocabulary_size

    def step(self, tokens: IntArray, state: State) -> "EnsembleStep":
        """Advance every member by the same symbols."""
        if not isinstance(state, EnsembleState) or len(state.members) != len(self._members):
            raise TypeError(f"an ensemble of {len(self._members)} members needs an EnsembleState of as many, not {state!r}")
        pairs = zip(self._members, state.members, strict=True)
        return EnsembleStep(tuple(member.step(tokens, own) for member, own in pairs))


class EnsembleStep(Step):
    """The mean of what the members say. Probabilities are averaged, not logarithms, so they still sum to one."""

    def __init__(self, members: tuple[Step, ...]) -> None:
        self._members = members

    @cached_property
    def state(self) -> EnsembleState:
        """The members' states after this step."""
        return EnsembleState(tuple(member.state for member in self._members))

    @cached_property
    def weights(self) -> Mapping[str, FloatArray]:
        """Mean attention weights per source, over the members that attend to it; over heads first if their numbers differ."""
        names = dict.fromkeys(name for member in self._members for name in member.weights)
        return {
            name: _mean_weights(name, [member.weights[name] for member in self._members if name in member.weights])
            for name in names
        }

    @cached_property
    def _log_probs(self) -> FloatArray:
        return _log_mean([member.all() for member in self._members])

    def top(self, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
        """Give the k most probable symbols, as `Step.top`. The members' own best would not do: a mean may prefer others."""
        return best_candidates(self._log_probs, k, forbid)

    def at(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of the given symbols, [B, K, n]."""
        return _log_mean([member.at(ids) for member in self._members])

    def all(self) -> FloatArray:
        """Log-probabilities of all symbols, [B, K, V]."""
        return self._log_probs


def _log_mean(log_probs: Sequence[FloatArray]) -> FloatArray:
    """Take the logarithm of the mean of probabilities, which are given by their logarithms."""
    highest = np.maximum.reduce(log_probs)
    # Where all members say -inf, subtracting it would give NaN.
    base = np.where(np.isfinite(highest), highest, np.float32(0.0))
    total = np.zeros_like(base)
    for one in log_probs:
        total += np.exp(one - base)
    with np.errstate(divide="ignore"):
        mean: FloatArray = np.log(total / np.float32(len(log_probs))) + base
    return mean


def _mean_weights(name: str, weights: Sequence[FloatArray]) -> FloatArray:
    positions = sorted({one.shape[3] for one in weights})
    if len(positions) > 1:
        raise UsageError(
            f"members of an ensemble read the source '{name}' as {positions} positions. "
            "Use models that share their source vocabulary"
        )
    if len({one.shape[2] for one in weights}) > 1:
        weights = [one.mean(axis=2, keepdims=True) for one in weights]
    mean: FloatArray = np.mean(weights, axis=0)
    return mean
