"""A conversation with a model: what was said before precedes what is said next."""

from collections.abc import Sequence

import numpy as np

from seqloom.errors import UsageError
from seqloom.prediction.drawn import DrawnPrediction
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Search
from seqloom.results.predictions import Prediction

Look = tuple[str, tuple[tuple[str, float], ...]]
"""A symbol that was written, and the symbols that were looked at most while it was, each with its weight."""


class Chat:
    """Says what a model replies, turn by turn.

    remembered: so many earlier turns, of both sides, precede what is said; None: as many as in training. search: in place of
    the recipe's own.
    """

    def __init__(self, predictor: Predictor, *, remembered: int | None = None, search: Search | None = None) -> None:
        data = predictor.recipe.data
        if list(data.text_sources) != list(data.sources) or len(data.sources) != 1:
            raise UsageError(
                f"a conversation is text, and this model reads {' and '.join(data.sources) or 'nothing'}. "
                "Use a model of one text, such as one of the recipe dialogue"
            )
        self.predictor = predictor
        self.remembered = len(data.columns.preceding) if remembered is None else remembered
        self.turns: list[str] = []
        self.last: DrawnPrediction | None = None
        self._name, self._search = next(iter(data.sources)), search

    def say(self, text: str) -> DrawnPrediction:
        """What the model replies. Refuses to be told nothing."""
        if not text.strip():
            raise UsageError("expected something to reply to, found nothing. Say something")
        before = self.turns[-self.remembered :] if self.remembered else []
        (found,) = self.predictor.predict([{self._name: text, "preceding": before}], search=self._search)
        self.turns += [text, found.text]
        self.last = found
        return found

    def forget(self) -> None:
        """Begin anew."""
        self.turns, self.last = [], None


def looks(prediction: Prediction, most: int = 3) -> list[Look]:
    """What a model looked at for each symbol of its best output, the heads' mean; nothing for one that does not look."""
    alignment = next(iter(prediction.alignment.values()), None)
    if alignment is None:
        return []
    weights = alignment.weights.mean(axis=0)  # [T, S]
    pairs = zip(prediction.tokens, weights, strict=False)
    return [(symbol, _most(row, alignment.symbols, most)) for symbol, row in pairs]


def _most(row: "np.typing.NDArray[np.float32]", symbols: Sequence[str], most: int) -> tuple[tuple[str, float], ...]:
    best = np.argsort(-row, kind="stable")[:most]
    return tuple((symbols[place], float(row[place])) for place in best if row[place] > 0)
