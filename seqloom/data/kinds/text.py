"""Sources that are text: a vocabulary makes symbols of them."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import Example
from seqloom.data.kinds.contract import InputSize, ModelSide, ReadSource, Rows, SourceKind, SourceReader
from seqloom.errors import DataError
from seqloom.recipe.sections import TextSource
from seqloom.results.layouts import Sentences
from seqloom.results.predictions import Alignment, FloatArray
from seqloom.symbols import END, UNKNOWN

if TYPE_CHECKING:
    from seqloom.data.vocabulary import Encoded, Vocabulary

_CHARACTERS = 20
"""So many characters a symbol has at most, on average: a text with more is too long whatever its symbols are."""


class TextKind(SourceKind[TextSource]):
    """Text as it is written."""

    def rows(self) -> Rows:
        """There are none."""
        raise TypeError("text has symbols, which a vocabulary makes of it")

    def input_size(self, vocabulary_size: int) -> InputSize:
        """The size of its vocabulary."""
        return vocabulary_size

    def reader(self, side: ModelSide) -> SourceReader:
        """Reads it as symbols."""
        return _TextReader(side, self.section.first)


class _TextReader(SourceReader):
    """first: of a longer text so many symbols are read; None: all, and one that is too long is refused."""

    def __init__(self, side: ModelSide, first: int | None) -> None:
        if side.vocabulary is None:
            raise TypeError("text needs a vocabulary")
        super().__init__(side)
        self._vocabulary, self._first = side.vocabulary, first
        self._limit = Limit(side.longest if first is None else sys.maxsize)

    def read(self, example: Example, text: str, *, blank: bool) -> ReadSource:  # noqa: ARG002 (no text is a text, too)
        whole = self._limit.encoded(self._vocabulary, text, example.features if self._side.features else ())
        encoded = whole.cut(self._first)
        told = self._vocabulary.told_apart(encoded, text) if self._side.tell_apart else encoded
        return ReadSource(example, text, told, unread=len(whole.ids) - len(encoded.ids))

    def count(self, values: npt.NDArray[Any], length: int) -> int:
        """A position for each symbol, or for each sentence."""
        layout = self._side.layout
        return len(layout.sentences(values[:length] == END)) if isinstance(layout, Sentences) else super().count(values, length)

    def positions(self, source: ReadSource) -> int:
        """As many as are counted."""
        ids = source.symbols.ids
        return self.count(ids, len(ids))

    def alignment(self, source: ReadSource, weights: FloatArray) -> Alignment:
        """What the vocabulary does not have is shown as it stands in the text: every `<unknown>` looks alike."""
        encoded = source.symbols
        outside = (encoded.ids == UNKNOWN) | (encoded.ids >= self._vocabulary.size)
        unknown = tuple(int(one) for one in np.flatnonzero(outside) if encoded.spans[one][0] < encoded.spans[one][1])
        symbols = list(encoded.symbols)
        for one in unknown:
            symbols[one] = source.text[slice(*encoded.spans[one])]
        if isinstance(self._side.layout, Sentences):
            spans = _sentence_spans(self._side.layout, encoded)
            return Alignment(weights, tuple(source.text[start:end] for start, end in spans), spans, self._side.layout)
        return Alignment(weights, tuple(symbols), encoded.spans, self._side.layout, unknown)


def _sentence_spans(layout: Sentences, encoded: "Encoded") -> tuple[tuple[int, int], ...]:
    """Where each sentence begins and ends in its text."""
    lying = [encoded.spans[one] for one in layout.sentences((encoded.ids == END).tolist())]
    return tuple((min(start for start, _ in spans), max(end for _, end in spans)) for spans in lying)


@dataclass(frozen=True)
class Limit:
    """The longest text that is read, in symbols. What is far too long is refused before it is encoded."""

    symbols: int

    def encoded(self, vocabulary: "Vocabulary", text: str, features: Sequence[str] = ()) -> "Encoded":
        """A text as symbols, if they are not too many. Raises `DataError` without a place."""
        self._require_characters(text)
        found = vocabulary.encode_source(text, features)
        self._require_symbols(len(found.ids))
        return found

    def require(self, vocabulary: "Vocabulary", text: str, where: object) -> None:
        """Refuse a text that is too long; where: its place."""
        if len(text) <= self.symbols // _CHARACTERS:  # it cannot be, however it is normalised
            return
        try:
            self._require_characters(text)
            self._require_symbols(int(vocabulary.encode_parts([text]).lengths[0]))
        except DataError as problem:
            raise DataError(f"{where}: {problem}") from problem

    def _require_characters(self, text: str) -> None:
        if len(text) > _CHARACTERS * self.symbols:
            raise self._refusal(len(text), "characters", -(-len(text) // _CHARACTERS))

    def _require_symbols(self, count: int) -> None:
        if count > self.symbols:
            raise self._refusal(count, "symbols", count)

    def _refusal(self, count: int, unit: str, needed: int) -> DataError:
        return DataError(
            f"expected a text of at most {self.symbols:,} symbols, found {count:,} {unit}. Cut it into parts, or raise the "
            f"limit: --maximum-input {needed} (in a recipe: data.maximum_input)"
        )
