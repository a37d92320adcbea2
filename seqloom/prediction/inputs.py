"""What a person asks a prediction for, as models read it: each source by its kind."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from seqloom.data.arrays import IntArray, Padded
from seqloom.data.examples import INPUT, Example, Origin, abbreviated
from seqloom.data.kinds import file_kind_of, kind_of
from seqloom.data.kinds.contract import ModelSide, Player, ReadSource, Renderer, SourceReader
from seqloom.data.kinds.text import Limit
from seqloom.data.kinds.vector import as_text
from seqloom.data.reading.oracles import Positions, Unit
from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import DataError, UsageError
from seqloom.recipe.sections import TARGET, AnySource, Data, Form, SoundSource
from seqloom.results.layouts import Layout
from seqloom.results.predictions import Alignment, FloatArray

if TYPE_CHECKING:
    from seqloom.data.media.store import StoredFrontend

Input = str | PathLike[str] | Mapping[str, Any] | Example
"""What one may ask a prediction for: the one source, a mapping of sources and perhaps `features`, or an example."""

Advance = Callable[[int], None]
"""Is told how much more is done."""


@dataclass(frozen=True)
class ReadExample:
    """An example as models read it, source by source.

    blank: nothing is there, so there is nothing to ask a model. length: of the longest source, by which outputs are limited
    and examples sorted. copies: symbols that no vocabulary has and the model can copy. unknown: pieces of text that it reads as
    the one symbol `unknown`.
    """

    example: Example
    sources: Mapping[str, ReadSource]
    blank: bool
    length: int
    copies: Mapping[int, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    unread: int = 0
    """So many symbols at the ends of sources are not read, as the recipe says."""

    @property
    def symbols(self) -> int:
        """How much there is to read: of the longest text, or of the longest file where there is none."""
        return max((len(one.encoded.ids) for one in self.sources.values() if one.encoded is not None), default=self.length)


class Reader:
    """Reads examples for models of one recipe. layouts: how the positions of each source lie.

    tell_apart: unknown symbols get ids of their own, so that they can be copied. limit: the longest text that is read, unless
    it is the recipe's.
    """

    def __init__(
        self,
        data: Data,
        vocabularies: Mapping[str, Vocabulary],
        frontends: "Mapping[str, StoredFrontend]",
        layouts: Mapping[str, Layout],
        *,
        tell_apart: str | None,
        limit: Limit | None = None,
    ) -> None:
        self.limit = limit or Limit(data.longest_input)
        self.sources: Mapping[str, AnySource] = data.sources
        self._data = data
        self._texts = data.text_sources
        self._files = data.file_sources
        self._vocabularies = vocabularies
        self._layouts = layouts
        self._tell_apart = tell_apart
        self._readers = {
            name: kind_of(source).reader(
                ModelSide(
                    name,
                    vocabularies.get(name),
                    frontends.get(name),
                    layouts[name],
                    longest=self.limit.symbols,
                    features=name in self._texts[:1],
                    tell_apart=name == tell_apart,
                )
            )
            for name, source in (self.sources if layouts else {}).items()  # a language model reads none of them
        }
        self._readers_at: dict[float, dict[str, SourceReader]] = {}

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
        further = {"features", "preceding"}
        if set(given) - further != set(self.sources):
            expected = ", ".join(f"`{name}`" for name in self.sources)
            raise UsageError(
                f"input {origin.line}: expected the keys {expected}, perhaps `features` or `preceding`, found {sorted(given)}"
            )
        if nothing := [name for name in self.sources if given[name] is None]:
            raise UsageError(f"input {origin.line}: expected a text for {nothing[0]}, found None")
        sources = {name: as_text(given[name]) or str(given[name]) for name in self.sources}
        sources, features = around(self._data.form, sources, given)
        return Example(sources, None, origin, features=features)

    def read(self, example: Example) -> ReadExample:
        """An example as models read it. Files are found and not opened."""
        if missing := [name for name in self.sources if name not in example.sources]:
            raise UsageError(f"{example.origin}: expected the sources {', '.join(self.sources)}, found no {missing[0]}")
        if example.features and not self._texts:
            raise DataError(f"{example.origin}: features are symbols in front of a text, and no source is text. Leave them out")
        empty = [name for name in self.sources if not example.sources[name].strip()]
        blank = len(empty) == len(self.sources)
        if empty and not blank:
            raise DataError(
                f"{example.origin}: expected {' and '.join(self.sources)}, found no {empty[0]}: it is empty, and no model was "
                "trained on an empty one. Fill it in, or leave this input out"
            )
        try:
            sources = {name: reader.read(example, example.sources[name], blank=blank) for name, reader in self._readers.items()}
        except DataError as problem:
            raise DataError(f"{example.origin}: {problem}") from problem
        encoded = {name: one.encoded for name, one in sources.items() if one.encoded is not None}
        copies = next((one.copies for one in reversed(encoded.values()) if one.copies), {})
        unknown = tuple(piece for name in self._texts for piece in encoded[name].unknown_in(example.sources[name]))
        length = max(*(one.length for one in sources.values()), *(len(one.ids) for one in encoded.values()), 0, 0)
        unread = sum(one.unread for one in sources.values())
        return ReadExample(example, sources, blank, length, copies, unknown, unread)

    def fits(self, example: Example) -> bool:
        """Whether all that an example consists of is short enough to be read."""
        texts = {name: example.sources[name] for name in self._texts if self._data.first_of(name) is None}
        try:
            for name, source in self._files.items():
                kind = file_kind_of(source)
                if kind.excess(kind.find(example.sources[name], example.origin)):
                    return False
            for name, text in [*texts.items(), *((TARGET, text) for text in example.targets)]:
                self.limit.require(self._vocabularies[name], text, example.origin)
        except DataError:
            return False
        return True

    def targets(self, example: Example) -> tuple[str, ...]:
        """The targets of an example, all that are right. Refuses to have none, and those that are too long to be read."""
        if not example.targets:
            raise DataError(
                f"{example.origin}: this line has no target, so there is nothing to compare with. Give both columns"
            )
        for text in example.targets:
            self.limit.require(self._vocabularies[TARGET], text, example.origin)
        return example.targets

    def encode_targets(self, texts: Sequence[str], sources: Sequence[ReadExample]) -> list[IntArray]:
        """Targets as symbols; what a model can copy has the ids that it has in its source."""
        vocabulary = self._vocabularies[TARGET]
        if self._tell_apart is None:
            return vocabulary.encode_targets(texts)
        return [vocabulary.encode_copying(text, source.copies) for text, source in zip(texts, sources, strict=True)]

    def batch(self, chosen: Sequence[ReadExample]) -> dict[str, Padded]:
        """The sources of several examples, padded. Here files are opened."""
        return {name: reader.batch([one.sources[name] for one in chosen]) for name, reader in self._readers.items()}

    def forms(self, chosen: Sequence[ReadExample], speeds: Sequence[float]) -> list[dict[str, Padded]]:
        """The sources of several examples, padded, as they are; then with recordings played at other speeds."""
        others = [speed for speed in speeds if speed != 1]
        if others and not any(isinstance(source, SoundSource) for source in self.sources.values()):
            raise UsageError(
                "`speeds`: recordings are heard at several, and this model reads none. Leave them out (--speeds 1)"
            )
        plain = self.batch(chosen)
        return [plain, *(self._played(chosen, speed, plain) for speed in others)]

    def _played(self, chosen: Sequence[ReadExample], speed: float, plain: Mapping[str, Padded]) -> dict[str, Padded]:
        """Sources with recordings played at a speed. plain: all of them as they are, as those stay that are no recordings."""
        if speed not in self._readers_at:
            self._readers_at[speed] = {name: reader.at_speed(speed) for name, reader in self._readers.items()}
        return {
            name: plain[name] if reader is self._readers[name] else reader.batch([one.sources[name] for one in chosen])
            for name, reader in self._readers_at[speed].items()
        }

    def positions_in(self, sources: Mapping[str, Padded]) -> dict[str, IntArray]:
        """At how many positions of each source a model can look, [B]."""
        return {
            name: np.asarray([self._readers[name].count(*one) for one in zip(padded.values, padded.lengths, strict=True)])
            for name, padded in sources.items()
        }

    def renderers(self, read: ReadExample) -> dict[str, Renderer]:
        """How sources of an example are drawn that are not shown as they are written, by name."""
        found = {name: reader.renderer(read.sources[name]) for name, reader in self._readers.items()}
        return {name: look for name, look in found.items() if look is not None}

    def players(self, read: ReadExample) -> dict[str, Player]:
        """What plays the sources of an example that are sounds, by name."""
        found = {name: reader.player(read.sources[name]) for name, reader in self._readers.items()}
        return {name: play for name, play in found.items() if play is not None}

    def positions(self, read: ReadExample, unit: Unit) -> Positions:
        """The positions of the source that an oracle speaks of."""
        name = self.told_source
        encoded = read.sources[name].encoded
        if unit == "words" and encoded is not None:
            return Positions.words(read.example.sources[name], encoded.spans)
        return Positions.symbols(self._readers[name].positions(read.sources[name]))

    def alignment(self, name: str, read: ReadExample, weights: FloatArray) -> Alignment:
        """Where a model looked in one source."""
        return self._readers[name].alignment(read.sources[name], weights)


def _described(value: object) -> str:
    return f"{abbreviated(value)} ({type(value).__name__})"


def around(form: Form, sources: dict[str, str], given: Mapping[str, Any]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The sources with the texts that are given to precede them, and the features that are given."""
    preceded = form.preceded(sources, _listed(given.get("preceding", ()), "preceding"))
    features = [one for text in _listed(given.get("features", ()), "features") for one in form.features_of(text)]
    return preceded, tuple(features)


def _listed(value: object, name: str) -> list[str]:
    """One text or several."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence):
        return list(map(str, value))
    raise UsageError(f"{name}: expected a text or a list of texts, found {value!r}")
