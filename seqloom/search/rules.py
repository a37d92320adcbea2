"""What may be written next: symbols that are forbidden, outputs that may not end yet, prefixes that must be followed."""

from dataclasses import dataclass

import numpy as np

from seqloom.search.contracts import FloatArray, IntArray, Step
from seqloom.search.request import Request
from seqloom.symbols import BEGIN, END

_FREE = -1


@dataclass(frozen=True, eq=False)
class Place:
    """Where a search is: the sentences of the request that still go on [B], the rows of each (K), the symbols of each row."""

    sentences: IntArray
    rows: int
    length: int


class Rules:
    """The request's rules, applied to the candidates of a step before the best are taken."""

    def __init__(self, request: Request, *, minimum_length: int, vocabulary_size: int) -> None:
        self._minimum_length = minimum_length
        self._vocabulary_size = vocabulary_size
        forbidden = {BEGIN, *request.forbid.tolist()}
        self._forbid = np.asarray(sorted(forbidden), np.int64)
        self._forbid_with_end = np.asarray(sorted(forbidden | {END}), np.int64)
        self._forced = _rectangle(request)

    def best(self, step: Step, k: int, place: Place) -> tuple[IntArray, FloatArray]:
        """Give the k best symbols that may be written next, best first: ids and log-probabilities [B, K, at most k].

        -inf marks what may not be written.
        """
        forced = self._forced_at(place)
        if forced is not None and _FREE not in forced:
            return _only(step, forced, place.rows)
        ids, log_probs = step.top(min(k, self._vocabulary_size), self._forbidden_at(place.length))
        return (ids, log_probs) if forced is None else _mixed(step, forced, ids, log_probs)

    def every(self, step: Step, place: Place) -> tuple[IntArray, FloatArray]:
        """Give all symbols of the vocabulary in the order of their ids; otherwise as `best`."""
        forced = self._forced_at(place)
        if forced is not None and _FREE not in forced:
            return _only(step, forced, place.rows)
        log_probs = step.all().copy()
        forbidden = self._forbidden_at(place.length)
        log_probs[:, :, forbidden[forbidden < log_probs.shape[2]]] = -np.inf
        ids: IntArray = np.broadcast_to(np.arange(log_probs.shape[2]), log_probs.shape)
        return (ids, log_probs) if forced is None else _mixed(step, forced, ids, log_probs)

    def ending(self, step: Step, place: Place) -> FloatArray:
        """Give the log-probability of `end` in each row, [B, K]; -inf where the output may not end here."""
        ids = np.full((len(place.sentences), place.rows, 1), END, np.int64)
        log_probs: FloatArray = step.at(ids)[:, :, 0]
        forced = self._forced_at(place)
        if END in self._forbidden_at(place.length):
            return np.full_like(log_probs, -np.inf)
        return log_probs if forced is None else np.where(np.isin(forced, (_FREE, END))[:, None], log_probs, np.float32(-np.inf))

    def symbols(self) -> int:
        """How many symbols of the vocabulary may be written, `end` left aside."""
        return self._vocabulary_size - int(np.count_nonzero(self._forbid_with_end < self._vocabulary_size))

    def _forbidden_at(self, length: int) -> IntArray:
        return self._forbid_with_end if length < self._minimum_length else self._forbid

    def _forced_at(self, place: Place) -> IntArray | None:
        """Look up the symbol each sentence must write now [B], _FREE where it may choose; None if all may."""
        if place.length >= self._forced.shape[1]:
            return None
        forced: IntArray = self._forced[place.sentences, place.length]
        return None if forced.max() == _FREE else forced


def _rectangle(request: Request) -> IntArray:
    """Lay out what must be written as one array [B, longest], filled up with _FREE: the prefixes, and the ends if closed."""
    longest = max([*map(len, request.prefixes), *(request.limits if request.closed else ())], default=0)
    forced = np.full((request.sentences, longest), _FREE, np.int64)
    if request.closed:
        forced[np.arange(request.sentences), request.limits - 1] = END
    for sentence, prefix in enumerate(request.prefixes):
        forced[sentence, : len(prefix)] = prefix
    return forced


def _only(step: Step, forced: IntArray, rows: int) -> tuple[IntArray, FloatArray]:
    """One candidate for each row: the symbol its sentence must write."""
    ids = np.repeat(forced[:, None, None], rows, axis=1)
    return ids, step.at(ids)


def _mixed(step: Step, forced: IntArray, ids: IntArray, log_probs: FloatArray) -> tuple[IntArray, FloatArray]:
    """Keep the given candidates, but where a symbol is forced it is the only one."""
    must = forced != _FREE
    asked = np.where(must, forced, END)[:, None, None].repeat(ids.shape[1], axis=1)
    ids, log_probs = ids.copy(), log_probs.copy()
    log_probs[must] = -np.inf
    log_probs[must, :, 0] = step.at(asked)[must, :, 0]
    ids[must, :, 0] = asked[must, :, 0]
    return ids, log_probs
