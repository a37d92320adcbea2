"""Phrases that an output is expected to have, such as the values of what it has to say: each that it lacks costs something."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.search.contracts import IntArray
from seqloom.search.request import Request
from seqloom.search.traces import BoolArray, Sums
from seqloom.symbols import BEGIN

_ANY = -1
Carry = Mapping[str, npt.NDArray[Any]]


class Phrases:
    """The term `-weight * (how many phrases of its sentence an output lacks)`.

    Each row carries its last symbols, as many as the longest phrase has, and which phrases it has: `tails` [B, K, L] and
    `said` [B, K, P].
    """

    def __init__(self, weight: float, request: Request) -> None:
        self._weight = weight
        self._wanted = _aligned(request.phrases)  # [sentences, P, L]
        self._counts: IntArray = np.asarray([len(one) for one in request.phrases], dtype=np.int64)

    def carry(self, before: Carry, sentences: IntArray, rows: IntArray, tokens: IntArray) -> dict[str, npt.NDArray[Any]]:
        """What rows carry that go on from others: rows [B, W], those they continue; tokens [B, W], the new symbols."""
        wanted = self._wanted[sentences]  # [B, P, L]
        place = (np.arange(len(sentences))[:, None], rows)
        if before:
            tails, said = before["tails"][place], before["said"][place]
        else:
            tails = np.full((*rows.shape, wanted.shape[2]), BEGIN)
            said = np.zeros((*rows.shape, wanted.shape[1]), dtype=bool)
        tails = np.concatenate([tails[:, :, 1:], tokens[:, :, None]], axis=2)
        fits = (wanted[:, None] == _ANY) | (wanted[:, None] == tails[:, :, None])
        return {"tails": tails, "said": said | fits.all(axis=3)}

    def penalties(self, said: BoolArray, sentences: IntArray) -> Sums:
        """The term itself for each row, [B, W]; it is never above 0. said [B, W, P]."""
        real = np.arange(said.shape[2]) < self._counts[sentences][:, None]  # the rest fills up
        penalties: Sums = -self._weight * (real[:, None] & ~said).sum(axis=2).astype(np.float64)
        return penalties


def _aligned(phrases: Sequence[Sequence[IntArray]]) -> IntArray:
    """The phrases of all sentences in one array, each at the end of its row, so that it is compared with the last symbols."""
    most = max(map(len, phrases), default=0)
    longest = max((len(phrase) for one in phrases for phrase in one), default=0)
    aligned = np.full((len(phrases), max(1, most), max(1, longest)), _ANY)
    for sentence, one in enumerate(phrases):
        for number, phrase in enumerate(one):
            aligned[sentence, number, aligned.shape[2] - len(phrase) :] = phrase
    return aligned
