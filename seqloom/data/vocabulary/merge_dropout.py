"""Texts that are cut into other subwords each time they are learnt from (BPE-dropout, Provilkov et al. 2020).

Byte-pair encoding joins the letters of a word, pair by pair, in the order in which the pairs were learnt. Where each possible
merge is left out with a probability, the word comes in more and smaller pieces, and seldom twice in the same ones. So a model
learns what pieces of words mean, and is less easily led astray by words that it has seen once.
"""

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from seqloom.data.arrays import IntArray, Padded
from seqloom.data.vocabulary.kinds import KINDS, SPACE
from seqloom.data.vocabulary.vocabulary import Vocabulary
from seqloom.recipe import sections
from seqloom.symbols import UNKNOWN

Word = tuple[int, ...]


class MergeDropout:
    """Cuts words of a BPE vocabulary in other ways. rate: how often a merge is left out.

    A word has `WAYS` ways, each of which is found when it is first asked for. A way is a function of the word, its number and
    the rate, so that a run that goes on reads what an unbroken one would.
    """

    WAYS: ClassVar[int] = 64
    LONGEST: ClassVar[int] = 64
    """Longer words, such as addresses, are left as they are: the time to cut a word grows with the square of its length."""

    def __init__(self, vocabulary: Vocabulary, rate: float) -> None:
        self.rate = rate
        self._stored = vocabulary.stored
        self._ids = {piece: number for number, piece in enumerate(self._stored)}
        merges = json.loads(vocabulary.to_json())["tokenizer"]["model"]["merges"]
        self._ranks = {(self._ids[one], self._ids[other]): rank for rank, (one, other) in enumerate(merges)}
        self._splitter = KINDS["bpe"].splitter(sections.Bpe())
        begins = [number <= UNKNOWN or piece.startswith(SPACE) for number, piece in enumerate(self._stored)]
        self._begins = np.asarray([*begins, True])  # and so do features, and what is copied
        self._known: dict[tuple[Word, int], Word] = {}

    def drawn(self, texts: Padded, chance: np.random.Generator) -> Padded:
        """The same texts in other pieces."""
        ways = chance.integers(self.WAYS, size=texts.values.shape)
        rows = zip(texts.values, texts.lengths, ways, strict=True)
        return Padded.of([self._recut(row[:length], way[:length]) for row, length, way in rows])

    def _recut(self, ids: IntArray, ways: IntArray) -> IntArray:
        starts = np.flatnonzero(self._begins[np.minimum(ids, len(self._stored))])
        words = [tuple(word) for word in map(np.ndarray.tolist, np.split(ids, starts)) if word]
        cut = (self._way(word, number) for word, number in zip(words, ways.tolist(), strict=False))
        return np.asarray([piece for word in cut for piece in word], dtype=np.int64)

    def _way(self, word: Word, number: int) -> Word:
        """One of the ways to cut a word."""
        found = self._known.get((word, number))
        if found is None:
            found = self._known[word, number] = self._found(word, number)
        return found

    def _found(self, word: Word, number: int) -> Word:
        text = "".join(self._stored[one] for one in word if one < len(self._stored))
        parts = [part for part, _ in self._splitter.pre_tokenize_str(text.replace(SPACE, " ").strip())]
        if not text.startswith(SPACE) or len(text) > self.LONGEST or "".join(parts) != text:
            return word
        chance = random.Random(f"{number} {text}")
        return tuple(piece for part in parts for piece in self._merged([self._ids[letter] for letter in part], chance))

    def _merged(self, pieces: list[int], chance: random.Random) -> Sequence[int]:
        """Join pieces, the pair that was learnt first before others, until none is left that is not left out this time."""
        while True:
            pairs = ((self._ranks.get(pair), place) for place, pair in enumerate(pairwise(pieces)))
            offered = [(rank, place) for rank, place in pairs if rank is not None and chance.random() >= self.rate]
            if not offered:
                return pieces
            _, place = min(offered)
            joined = self._stored[pieces[place]] + self._stored[pieces[place + 1]]
            pieces[place : place + 2] = [self._ids[joined]]
