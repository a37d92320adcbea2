"""What a person asks a prediction for, as models read it: texts become symbols, vectors numbers, files a frontend's arrays."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike, fspath
from typing import Any

import numpy as np

from seqloom.data.arrays import Padded
from seqloom.data.examples import INPUT, Example, Origin, abbreviated
from seqloom.data.media.files import Frontend, Media, MediaFinder
from seqloom.data.media.images import ImagePixels, Pixels
from seqloom.data.media.store import StoredFrontend, as_padded
from seqloom.data.reading.oracles import Positions, Unit
from seqloom.data.reading.vectors import as_text, parse_vector
from seqloom.data.vocabulary import Encoded, Vocabulary
from seqloom.errors import DataError, UsageError
from seqloom.recipe.sections import TARGET, AnySource, Data, FileSource, ImageSource, TextSource, VectorSource
from seqloom.results.predictions import Alignment, FloatArray
from seqloom.symbols import UNKNOWN

Input = str | PathLike[str] | Mapping[str, Any] | Example
"""What one may ask a prediction for: the one source, a mapping of sources and perhaps `features`, or an example."""

Look = Callable[[], Pixels]
"""A picture as a model sees it, opened when it is called. Raises `DataError` if it cannot be read."""

_LENGTH_OF_A_FILE = 20
"""Limits on outputs grow with the source, and a file has no symbols: it counts as so many, enough for a long caption."""


_CHARACTERS = 20
"""So many characters a symbol has at most, on average: a text with more is too long whatever its symbols are."""


@dataclass(frozen=True)
class Limit:
    """The longest text that is read, in symbols. What is far too long is refused before it is encoded."""

    symbols: int

    def encoded(self, vocabulary: Vocabulary, text: str, features: Sequence[str] = ()) -> Encoded:
        """A text as symbols, if they are not too many. Raises `DataError` without a place."""
        self._require_characters(text)
        found = vocabulary.encode_source(text, features)
        self._require_symbols(len(found.ids))
        return found

    def require(self, vocabulary: Vocabulary, text: str, where: object) -> None:
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


@dataclass(frozen=True)
class ReadExample:
    """An example as models read it. encoded: its texts and vectors by name; files: the others, not opened yet.

    blank: nothing is there, so there is nothing to ask a model. length: of the longest source, by which outputs are limited
    and examples sorted. copies: symbols that no vocabulary has and the model can copy. unknown: pieces of text that it reads as
    the one symbol `unknown`.
    """

    example: Example
    encoded: Mapping[str, Encoded]
    files: Mapping[str, Media]
    blank: bool
    length: int
    copies: Mapping[int, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def symbols(self) -> int:
        """How much there is to read: of the longest text; where there is none, nothing tells examples apart."""
        return max((len(one.ids) for one in self.encoded.values()), default=self.length)


class Reader:
    """Reads examples for models of one recipe. tell_apart: unknown symbols get ids of their own, so that they can be copied.

    limit: the longest text that is read, unless it is the recipe's.
    """

    def __init__(
        self,
        data: Data,
        vocabularies: Mapping[str, Vocabulary],
        frontends: Mapping[str, StoredFrontend],
        grids: Mapping[str, tuple[int, int]],
        *,
        tell_apart: bool,
        limit: Limit | None = None,
    ) -> None:
        self.limit = limit or Limit(data.longest_input)
        self.sources: Mapping[str, AnySource] = data.sources
        self._texts = data.text_sources
        self._vocabularies = vocabularies
        self._frontends = frontends
        self._finders = {name: MediaFinder(source) for name, source in data.file_sources.items()}
        self._grids = grids
        self._tell_apart = tell_apart

    @property
    def told_source(self) -> str:
        """The source that an oracle speaks of: the first text, or the first of all if none is text."""
        return next(iter((*self._texts, *self.sources)))

    @property
    def known_features(self) -> frozenset[str]:
        """The features that training has seen."""
        return frozenset(self._vocabularies[self._texts[0]].features if self._texts else ())

    def examples_of(self, given: Input | Iterable[Input]) -> list[Example]:
        """Inputs as examples; a single one may stand for itself."""
        if isinstance(given, str | PathLike | Mapping | Example):
            return [self.example_of(given, 0)]
        if not isinstance(given, Iterable):
            raise UsageError(f"expected a text, a mapping of sources or a list of such inputs, found {_described(given)}")
        return [self.example_of(one, number) for number, one in enumerate(given)]

    def example_of(self, given: Input, number: int) -> Example:
        """An input as an example. number: of the input, from 0."""
        origin = Origin(INPUT, number + 1)
        match given:
            case Example():
                return given
            case Mapping():
                return self._of_mapping(given, origin)
            case str() | PathLike():
                if len(self.sources) > 1:
                    raise UsageError(
                        f"input {origin.line}: this model reads {' and '.join(self.sources)}, found one text. "
                        "Give a mapping with these keys"
                    )
                return Example({next(iter(self.sources)): fspath(given)}, None, origin)
            case _:
                raise UsageError(f"input {origin.line}: expected a text or a mapping of sources, found {_described(given)}")

    def _of_mapping(self, given: Mapping[str, Any], origin: Origin) -> Example:
        if set(given) - {"features"} != set(self.sources):
            expected = ", ".join(f"`{name}`" for name in self.sources)
            raise UsageError(f"input {origin.line}: expected the keys {expected} and perhaps `features`, found {sorted(given)}")
        if nothing := [name for name in self.sources if given[name] is None]:
            raise UsageError(f"input {origin.line}: expected a text for {nothing[0]}, found None")
        sources = {name: as_text(given[name]) or str(given[name]) for name in self.sources}
        return Example(sources, None, origin, features=_features(given.get("features", ())))

    def read(self, example: Example) -> ReadExample:
        """An example as models read it. Files are found and not opened."""
        if missing := [name for name in self.sources if name not in example.sources]:
            raise UsageError(f"{example.origin}: expected the sources {', '.join(self.sources)}, found no {missing[0]}")
        if example.features and not self._texts:
            raise DataError(f"{example.origin}: features are symbols in front of a text, and no source is text. Leave them out")
        blank = not any(text.strip() for text in example.sources.values())
        encoded: dict[str, Encoded] = {}
        files: dict[str, Media] = {}
        copies: Mapping[int, str] = {}
        unknown: tuple[str, ...] = ()
        for name, source in self.sources.items():
            text = example.sources[name]
            try:
                match source:
                    case TextSource():
                        encoded[name] = self._text(name, text, example.features)
                        copies = encoded[name].copies or copies
                        unknown += encoded[name].unknown_in(text)
                    case VectorSource(size=size):
                        encoded[name] = _vector(text, size, blank=blank)
                    case FileSource() if not blank:
                        files[name] = self._finders[name].find(text, example.origin)
            except DataError as problem:
                raise DataError(f"{example.origin}: {problem}") from problem
        length = max(_LENGTH_OF_A_FILE if files else 0, *(len(one.ids) for one in encoded.values()), 0)
        return ReadExample(example, encoded, files, blank, length, copies, unknown)

    def fits(self, example: Example) -> bool:
        """Whether the texts of an example are short enough to be read."""
        texts = {name: example.sources[name] for name in self._texts}
        try:
            for name, text in [*texts.items(), *((TARGET, text) for text in example.targets)]:
                self.limit.require(self._vocabularies[name], text, example.origin)
        except DataError:
            return False
        return True

    def _text(self, name: str, text: str, features: Sequence[str]) -> Encoded:
        vocabulary = self._vocabularies[name]
        encoded = self.limit.encoded(vocabulary, text, features if name == self._texts[0] else ())
        return vocabulary.told_apart(encoded, text) if self._tell_apart else encoded

    def batch(self, chosen: Sequence[ReadExample]) -> dict[str, Padded]:
        """The sources of several examples, padded. Here files are opened."""
        return {
            name: self._arrays(name, chosen) if name in self._finders else Padded.of([one.encoded[name].ids for one in chosen])
            for name in self.sources
        }

    def _arrays(self, name: str, chosen: Sequence[ReadExample]) -> Padded:
        for one in chosen:
            if name not in one.files:
                raise DataError(f"{one.example.origin}: expected the name of a file for {name}, found nothing")
        frontend = self._frontends[name]
        try:
            # What has a target is to be judged, mostly more than once; of other files there may be any number.
            frontend.keep([one.files[name] for one in chosen if one.example.target is not None])
            return as_padded(np.stack(list(frontend.arrays([one.files[name] for one in chosen]))))
        except DataError:
            for one in chosen:  # several may be opened at once: say which it is
                _open_alone(frontend, one.files[name], one.example.origin)
            raise

    def looks(self, read: ReadExample) -> dict[str, Look]:
        """The sources of an example that are pictures, by name."""
        return {
            name: partial(ImagePixels(*source.height_and_width, source.fit).array, read.files[name])
            for name, source in self.sources.items()
            if isinstance(source, ImageSource) and name in read.files
        }

    def positions(self, read: ReadExample, unit: Unit) -> Positions:
        """The positions of the source that an oracle speaks of."""
        name = self.told_source
        if name in self._finders:
            rows, columns = self._grids.get(name, (1, 1))
            return Positions.symbols(rows * columns)
        if unit == "words":
            return Positions.words(read.example.sources[name], read.encoded[name].spans)
        return Positions.symbols(len(read.encoded[name].ids))

    def alignment(self, name: str, read: ReadExample, weights: FloatArray) -> Alignment:
        """Where a model looked in one source: at symbols, or at the fields of a grid."""
        if name in self._texts:
            return self._over_text(name, read, weights)
        if name in read.encoded:
            return Alignment(weights, read.encoded[name].symbols, read.encoded[name].spans)
        count = weights.shape[-1]
        grid = self._grids.get(name)
        symbols = tuple(f"{row},{column}" for row in range(1, grid[0] + 1) for column in range(1, grid[1] + 1)) if grid else ()
        return Alignment(weights, symbols or (name,) * count, ((0, 0),) * count, grid)

    def _over_text(self, name: str, read: ReadExample, weights: FloatArray) -> Alignment:
        """A look at a text. What the vocabulary does not have is shown as it stands there: every `<unknown>` looks alike."""
        encoded, text = read.encoded[name], read.example.sources[name]
        outside = (encoded.ids == UNKNOWN) | (encoded.ids >= self._vocabularies[name].size)
        unknown = tuple(int(one) for one in np.flatnonzero(outside) if encoded.spans[one][0] < encoded.spans[one][1])
        symbols = list(encoded.symbols)
        for one in unknown:
            symbols[one] = text[slice(*encoded.spans[one])]
        return Alignment(weights, tuple(symbols), encoded.spans, unknown=unknown)


def _open_alone(frontend: Frontend, media: Media, origin: Origin) -> None:
    try:
        list(frontend.arrays([media]))
    except DataError as problem:
        raise DataError(f"{origin}: {problem}") from problem


def _vector(text: str, size: int, *, blank: bool) -> Encoded:
    """A vector as a model reads it: one position with all its numbers. A blank one is never read."""
    try:
        vector = np.zeros(size, dtype=np.float32) if blank else parse_vector(text, size)
    except ValueError as problem:
        raise DataError(f"{problem}. Give as many numbers as the recipe's `data.sources` says") from problem
    return Encoded(vector[None], ("vector",), ((0, len(text)),))


def _described(value: object) -> str:
    return f"{abbreviated(value)} ({type(value).__name__})"


def _features(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence):
        return tuple(map(str, value))
    raise UsageError(f"features: expected a text or a list of texts, found {value!r}")
