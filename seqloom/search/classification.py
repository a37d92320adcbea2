"""Outputs that are classes, one symbol each: what a search for several of them has to know."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from seqloom.recipe.sections import Beam, Greedy, Search
from seqloom.search.contracts import FloatArray, Hypotheses, Hypothesis, IntArray, State, Step, Stepper
from seqloom.symbols import SPECIALS


def ranking_classes(section: Search, nbest: int) -> Search:
    """A search that finds as many classes as are asked for, by their probability: all are equally long."""
    match section:
        case Beam(width=width):
            return section.model_copy(update={"width": max(width, nbest), "length_power": 0.0})
        case Greedy() if nbest > 1:
            return Beam(width=nbest, length_power=0.0, **section.shared)
        case _:
            return section


@dataclass(frozen=True)
class ClassHypothesis(Hypothesis):
    """An output that is a class. probability: among all classes, whatever the model gives to what is none."""

    probability: float = 0.0


class WatchedStepper:
    """A model whose first step is watched: which part of the probability falls to the classes, per sentence."""

    def __init__(self, stepper: Stepper, forbid: Sequence[int]) -> None:
        self._stepper = stepper
        self._classes = np.setdiff1d(np.arange(len(SPECIALS), stepper.vocabulary_size), np.asarray(forbid, dtype=np.int64))
        self._log_shares: FloatArray | None = None

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._stepper.vocabulary_size

    def step(self, tokens: IntArray, state: State) -> Step:
        """Advance every row by one symbol."""
        step = self._stepper.step(tokens, state)
        if self._log_shares is None:
            ids = np.broadcast_to(self._classes, (len(tokens), len(self._classes)))
            own = step.own_log_probs(np.zeros_like(ids), ids, step.all()[:, 0, self._classes])
            self._log_shares = np.logaddexp.reduce(own, axis=1)
        return step

    def each_once(self, found: Hypotheses) -> Hypotheses:
        """Outputs without repeats, in their order: a class that was drawn several times is still one."""
        shares = self._log_shares if self._log_shares is not None else ()
        return [[*_distinct(hypotheses, float(share))] for hypotheses, share in zip(found, shares, strict=True)]


def _distinct(hypotheses: Sequence[Hypothesis], log_share: float) -> Iterator[ClassHypothesis]:
    seen: set[int] = set()
    for one in hypotheses:
        if int(one.tokens[0]) not in seen:
            seen.add(int(one.tokens[0]))
            probability = float(np.exp(min(0.0, one.log_probs[0] - log_share)))
            yield ClassHypothesis(
                one.tokens, one.log_prob, one.score, one.log_probs, one.finished, one.weights, probability=probability
            )
