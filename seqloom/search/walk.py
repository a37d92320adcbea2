"""The walk down the tree of outputs that all searches share: its live rows, what was written, and who leaves."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.search.contracts import FloatArray, Hypotheses, IntArray, State, Step, Stepper
from seqloom.search.history import Endings, History, Written
from seqloom.search.request import Request
from seqloom.search.rules import Place, Rules
from seqloom.search.traces import BoolArray, Sums, Trace
from seqloom.symbols import BEGIN, END


@dataclass(frozen=True, eq=False)
class Continuations:
    """What a search decides in a step: W continuations for each sentence.

    rows [B, W]: the live row each continues. tokens and log_probs [B, W]: the new symbol and its own log-probability (fused, if
    a language model is fused in). sums [B, W]: that of the whole output so far; -inf marks an empty place. scores [B, W]: what
    ranks it should it end here. carry: whatever else [B, W, ...] the search wants to keep with each row.
    """

    rows: IntArray
    tokens: IntArray
    log_probs: FloatArray
    sums: Sums
    scores: Sums
    carry: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def at(self, sentences: IntArray, columns: IntArray) -> "Continuations":
        """Keep some sentences [B'] and, of each, some continuations [B', W'], in the given order."""
        place = (sentences[:, None], columns)
        return Continuations(
            rows=self.rows[place],
            tokens=self.tokens[place],
            log_probs=self.log_probs[place],
            sums=self.sums[place],
            scores=self.scores[place],
            carry={name: values[place] for name, values in self.carry.items()},
        )


class Walk:
    """The live rows of a search. A search asks for a step and its candidates, decides, and writes its choice; then again.

    sentences [B]: which sentences of the request still go on. sums [B, K]: log-probability of each live row, -inf for rows
    that only fill up the grid. length: how many symbols each row has. carry: what the last choice carried, for each live row.
    """

    def __init__(self, stepper: Stepper, state: State, request: Request, *, minimum_length: int) -> None:
        start = (request.sentences, 1)
        self.sentences: IntArray = np.arange(request.sentences)
        self.sums: Sums = np.zeros(start)
        self.length = 0
        self.carry: Mapping[str, npt.NDArray[Any]] = {}
        self.rules = Rules(request, minimum_length=minimum_length, vocabulary_size=stepper.vocabulary_size)
        self._stepper = stepper
        self._request = request
        self._limits = request.limits  # of the sentences that are left [B]
        self._state = state
        self._tokens: IntArray = np.full(start, BEGIN)
        self._columns: IntArray = np.zeros(start, np.int64)
        self._scores: Sums = np.zeros(start)
        self._history = History()

    @property
    def goes_on(self) -> bool:
        """Whether any sentence is left."""
        return len(self.sentences) > 0

    def step(self) -> Step:
        """Feed the symbols written last."""
        return self._stepper.step(self._tokens, self._state)

    def best(self, step: Step, k: int) -> tuple[IntArray, FloatArray]:
        """Give the k best symbols for each live row, by the rules: ids and log-probabilities [B, K, at most k], best first."""
        ids, log_probs = self.rules.best(step, k, self._place())
        self._end_stuck(log_probs[:, :, 0])
        return ids, log_probs

    def every(self, step: Step) -> tuple[IntArray, FloatArray]:
        """Give all symbols for each live row, in the order of their ids; -inf where the rules forbid."""
        ids, log_probs = self.rules.every(step, self._place())
        self._end_stuck(log_probs.max(axis=2))
        return ids, log_probs

    def ending(self, step: Step) -> FloatArray:
        """Give the log-probability of `end` for each live row [B, K]; -inf where the rules forbid."""
        return self.rules.ending(step, self._place())

    def write(self, step: Step, choice: Continuations, done: BoolArray | None = None) -> Trace:
        """Write the choice down. Outputs that end leave, and so do sentences that are `done` [B] or at their limit."""
        filled = np.isfinite(choice.sums)
        if not filled.all():
            choice = _without_empty(choice, filled)
        parents = self._columns[np.arange(len(self.sentences))[:, None], choice.rows]
        own = step.own_log_probs(choice.rows, choice.tokens, choice.log_probs)
        self._history.write(Written(self.sentences, parents, choice.rows, choice.tokens, own, step.weights))
        self.length += 1
        finished = filled & (choice.tokens == END)
        trace = Trace(self.length, self.sentences, parents, choice.tokens, choice.sums, finished)

        live = filled & ~finished
        leaving = self._limits <= self.length
        self._end(finished, choice.scores, finished=True)
        if leaving.any():
            self._end(live & leaving[:, None], choice.scores, finished=False)
        if done is not None:
            leaving |= done
        self._go_on(step.state, choice, live & ~leaving[:, None])
        return trace

    def hypotheses(self, count: int, *, finished_first: bool = True) -> Hypotheses:
        """Give the best outputs of each sentence, `count` at most; those that were cut off come last if `finished_first`."""
        lengths = self._request.source_lengths
        return self._history.hypotheses(self._request.sentences, count, finished_first=finished_first, lengths=lengths)

    def _place(self) -> Place:
        return Place(self.sentences, self.sums.shape[1], self.length)

    def _end_stuck(self, best: FloatArray) -> None:
        """Rows after which nothing may be written are outputs that were cut off. best [B, K]: their best candidates."""
        stuck = ~np.isfinite(best)
        if stuck.any():
            self._end(stuck & np.isfinite(self.sums), self._scores, finished=False, columns=self._columns)

    def _end(self, which: BoolArray, scores: Sums, *, finished: bool, columns: IntArray | None = None) -> None:
        """Note the outputs that end with the symbol written last, in the same column of the history unless told otherwise."""
        if not which.any():
            return
        place = np.nonzero(which)
        self._history.end(
            Endings(
                sentences=self.sentences[place[0]],
                columns=place[1] if columns is None else columns[place],
                lengths=np.full(len(place[0]), self.length),
                scores=scores[place],
                finished=np.full(len(place[0]), finished),
            )
        )

    def _go_on(self, state: State, choice: Continuations, live: BoolArray) -> None:
        """Make the live continuations the rows of the next step, moved to the front, and as few columns as hold them all."""
        if live.size and live.all():  # in most steps, so nothing is gathered then
            keep, columns = np.arange(len(live)), _all_columns(*live.shape)
        else:
            keep = np.flatnonzero(live.any(axis=1))
            width = int(live.sum(axis=1).max(initial=0))
            columns = np.argsort(~live[keep], axis=1, kind="stable")[:, :width]
            choice = choice.at(keep, columns)
            choice = replace(choice, sums=np.where(live[keep[:, None], columns], choice.sums, -np.inf))
            self.sentences, self._limits = self.sentences[keep], self._limits[keep]
        if len(keep):
            self._state = state if self._is_identity(keep, choice.rows) else state.select(keep, choice.rows)
        self.sums = choice.sums
        self.carry = choice.carry
        self._tokens = choice.tokens
        self._columns = columns
        self._scores = choice.scores

    def _is_identity(self, keep: IntArray, rows: IntArray) -> bool:
        """Whether the state already is what `select` would make of it, so that the copy can be saved."""
        return rows.shape == self.sums.shape and len(keep) == len(self.sums) and bool((rows == _all_columns(*rows.shape)).all())


@lru_cache(maxsize=32)
def _all_columns(rows: int, width: int) -> IntArray:
    """The number of each column, in every row. Kept, because a step of one sentence is short: its small arrays count."""
    return np.broadcast_to(np.arange(width), (rows, width))


def _without_empty(choice: Continuations, filled: BoolArray) -> Continuations:
    """Put a symbol that any model can read at empty places: they stay in the grid and are fed like others."""
    return replace(
        choice,
        tokens=np.where(filled, choice.tokens, END),
        sums=np.where(filled, choice.sums, -np.inf),
    )
