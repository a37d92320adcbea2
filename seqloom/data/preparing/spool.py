"""One reading of a corpus: its examples on disk, each text as the numbers of its parts.

A vocabulary is complete only after the last example was read, and reading again would take as long as all the rest. So
texts are cut into parts, mostly words, and the parts are numbered as they appear; once there is a vocabulary, each distinct
part is encoded once, and a text is looked up. Parts are kept in volumes: a full one goes to disk, and numbers begin anew.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import FloatArray, IntArray
from seqloom.data.examples import Example, Origin
from seqloom.data.kinds import kind_of
from seqloom.data.kinds.contract import Rows
from seqloom.data.media.catalogue import Catalogue
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.example_lines import VALIDATION, as_line
from seqloom.data.preparing.splitting import SplitName
from seqloom.data.vocabulary import Sequences, Vocabulary, VocabularyBuilder, parts_of, sample_size
from seqloom.data.vocabulary.kinds import KINDS
from seqloom.recipe import sections
from seqloom.recipe.sections import TARGET

Progress = Callable[[str, int], None]
"""Called now and then with what is being done and how many examples are done."""

_CHUNK = 16384
_VOLUME_PARTS = 250_000
_VOLUME_CHARACTERS = 4_000_000
"""A volume that has so many parts, or so many characters in them, is full: some 50 MB, its ids included."""


@dataclass(frozen=True)
class Extent:
    """Where the texts of a chunk stand in a side's file, from byte `start`: numbers of parts, then how many each text has."""

    volume: int
    start: int
    kind: np.dtype[np.unsignedinteger]
    parts: int
    texts: int


@dataclass(frozen=True)
class SpooledChunk:
    """Some examples of one split. files: the names that `places` [N, 2] (file number, line) refers to, of the whole split.

    features: of each example, or empty if none has any.
    """

    split: SplitName
    sides: Mapping[str, Extent]
    features: Sequence[tuple[str, ...]]
    weights: FloatArray
    places: IntArray
    files: Mapping[str, int]


class _Numbers(dict[str, int]):
    """Gives every new part the next number."""

    characters = 0

    def __missing__(self, part: str) -> int:
        self.characters += len(part)
        self[part] = number = len(self)
        return number


class SpooledSide:
    """The texts of one side of all splits. sample: so many texts of the training data count for the vocabulary."""

    def __init__(self, folder: Path, *, by_words: bool, builder: VocabularyBuilder | None, sample: int) -> None:
        folder.mkdir()
        self._folder = folder
        self._stream = (folder / "numbers").open("w+b")
        self._by_words = by_words
        self._builder = builder
        self._sample = sample
        self._begin(volume=0)

    def _begin(self, volume: int) -> None:
        self._volume = volume
        self._numbers = _Numbers()
        self._occurrences = np.zeros(0, dtype=np.int64)

    def add(self, texts: Sequence[str], columns: "_Columns", split: SplitName) -> Extent:  # noqa: ARG002
        """Write down a chunk of texts. columns: where they stand, which other kinds must know."""
        parts, counts = parts_of(texts, by_words=self._by_words)
        numbers = np.fromiter(map(self._numbers.__getitem__, parts), dtype=np.int64, count=len(parts))
        if split == "train":
            self._count(numbers, counts)
        extent = Extent(self._volume, self._stream.tell(), smallest(len(self._numbers)), len(numbers), len(texts))
        self._stream.write(numbers.astype(extent.kind).tobytes())
        self._stream.write(counts.astype(np.uint32).tobytes())
        if len(self._numbers) > _VOLUME_PARTS or self._numbers.characters > _VOLUME_CHARACTERS:
            self.end_volume()
        return extent

    def _count(self, numbers: IntArray, counts: IntArray) -> None:
        sample = counts[: self._sample]
        self._sample -= len(sample)
        occurrences = np.bincount(numbers[: int(sample.sum())], minlength=len(self._numbers))
        occurrences[: len(self._occurrences)] += self._occurrences
        self._occurrences = occurrences

    def end_volume(self) -> None:
        """Bring the parts so far to disk and their counts to the builder."""
        if self._builder is not None:
            counts = dict(zip(self._numbers, self._occurrences.tolist(), strict=False))
            self._builder.count({part: count for part, count in counts.items() if count})
        self._parts_file(self._volume).write_text(json.dumps(list(self._numbers)), encoding="utf-8")
        self._begin(self._volume + 1)

    def _parts_file(self, volume: int) -> Path:
        return self._folder / f"{volume}.json"

    def parts(self, volume: int) -> list[str]:
        """The parts of a volume, in the order of their numbers."""
        parts: list[str] = json.loads(self._parts_file(volume).read_text(encoding="utf-8"))
        return parts

    def read(self, extent: Extent) -> tuple[npt.NDArray[np.unsignedinteger], IntArray]:
        """The numbers of a chunk's parts, and how many parts each text has."""
        self._stream.seek(extent.start)
        numbers = np.frombuffer(self._stream.read(extent.parts * extent.kind.itemsize), dtype=extent.kind)
        counts = np.frombuffer(self._stream.read(extent.texts * 4), dtype=np.uint32)
        return numbers, counts.astype(np.int64)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class SpooledRows:
    """The numbers of one side of all splits that is no text; like `SpooledSide`, without anything to count."""

    def __init__(self, folder: Path, rows: Rows) -> None:
        folder.mkdir()
        self._stream = (folder / "numbers").open("w+b")
        self.rows = rows

    def add(self, texts: Sequence[str], columns: "_Columns", split: SplitName) -> Extent:  # noqa: ARG002 (as `SpooledSide.add`)
        """Write down a chunk."""
        start = self._stream.tell()
        places = zip(texts, columns.files, columns.lines, strict=True)
        numbers = [self.rows.row(text, Origin(file, line)) for text, file, line in places]
        self._stream.write(np.asarray(numbers, dtype=self.rows.kind).tobytes())
        return Extent(0, start, np.dtype(np.uint16), 0, len(texts))

    def end_volume(self) -> None:
        """All rows are there."""
        if self.rows.files is not None:
            self.rows.files.finish()

    def encode(self, extent: Extent) -> Sequences:
        """A chunk's numbers, one position for each example."""
        self._stream.seek(extent.start)
        kind = np.dtype(self.rows.kind)
        numbers = np.frombuffer(self._stream.read(extent.texts * (self.rows.width or 1) * kind.itemsize), dtype=kind)
        shaped = numbers if self.rows.width is None else numbers.reshape(-1, self.rows.width)
        return Sequences(shaped, np.ones(extent.texts, dtype=np.int64))

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class SideEncoder:
    """Encodes the chunks of a spooled side in the order in which they were added, a volume's parts at a time."""

    def __init__(self, side: SpooledSide, vocabulary: Vocabulary) -> None:
        self._side = side
        self._vocabulary = vocabulary
        self._volume = -1
        self._encoded = Sequences.of([])

    def encode(self, extent: Extent) -> Sequences:
        """The ids of a chunk's texts."""
        if extent.volume != self._volume:
            self._volume = extent.volume
            self._encoded = self._vocabulary.encode_parts(self._side.parts(extent.volume))
        return self._encoded.chained(*self._side.read(extent))

    def texts(self, extent: Extent, chosen: Sequence[int]) -> list[str]:
        """Some of a chunk's texts, by their numbers in it, as they were added."""
        parts, (numbers, counts) = self._side.parts(extent.volume), self._side.read(extent)
        ends = np.cumsum(counts)
        return [" ".join(parts[part] for part in numbers[ends[one] - counts[one] : ends[one]]) for one in chosen]


AnySide = SpooledSide | SpooledRows
AnyEncoder = SideEncoder | SpooledRows


@dataclass
class _Columns:
    """Examples of one split that wait to become a chunk: columns, since millions of small objects are slow to keep."""

    sides: dict[str, list[str]]
    features: list[tuple[str, ...]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def append(self, example: Example) -> int:
        """Take an example in; how many there are now."""
        for name, texts in self.sides.items():
            texts.append(example.target or "" if name == TARGET else example.sources[name])
        self.features.append(example.features)
        self.weights.append(example.weight)
        self.files.append(example.origin.file)
        self.lines.append(example.origin.line)
        return len(self.lines)


class Spool:
    """All examples of a corpus, read once into a folder; those of validation also as they are, since models are judged by them.

    given: vocabularies by name that are there already, so not built.
    grow: the given ones take in what the training split has and they lack.
    """

    def __init__(self, corpus: Corpus, folder: Path, given: Mapping[str, Vocabulary], *, grow: bool = False) -> None:
        folder.mkdir()
        self._corpus = corpus
        self._given = given
        self._grow = grow
        self._builders: dict[str, VocabularyBuilder] = {}
        self.sides: dict[str, AnySide] = {name: self._side(name, folder / name) for name in corpus.data.sides}
        self._features: set[str] = set()
        self._validation = (folder / VALIDATION).open("w", encoding="utf-8")
        self.chunks: list[SpooledChunk] = []

    def _side(self, name: str, folder: Path) -> "AnySide":
        data = self._corpus.data
        if name not in data.symbol_sides:
            return SpooledRows(folder, kind_of(data.sources[name]).rows())
        wanted, section = data.vocabularies, data.vocabulary_of(name)
        if isinstance(section, sections.VocabularyFile) or (name in self._given and not self._grow):
            return SpooledSide(folder, by_words=self._given[name].kind.by_words, builder=None, sample=0)
        self._builders[name] = self._builder_of_another(name) or VocabularyBuilder(section)
        return SpooledSide(
            folder,
            by_words=KINDS[section.kind].by_words,
            builder=self._builders[name],
            sample=sample_size(section) // (2 if wanted.shared else 1),
        )

    def _builder_of_another(self, name: str) -> VocabularyBuilder | None:
        """What builds the vocabulary that a side shares with one before it; None if it has its own."""
        data = self._corpus.data
        if name == TARGET:
            return self._builders[data.text_sources[0]] if data.vocabularies.shared else None
        others = (other for other in self._builders if data.share_a_vocabulary(name, other))
        return next((self._builders[other] for other in others), None)

    def read(self, progress: Progress) -> None:
        """Read the corpus."""
        files: dict[SplitName, dict[str, int]] = {}
        done = 0
        for split, columns in self._columns():
            numbers = files.setdefault(split, {})
            places = np.empty((len(columns.lines), 2), dtype=np.int64)
            places[:, 0] = [numbers.setdefault(file, len(numbers)) for file in columns.files]
            places[:, 1] = columns.lines
            sides = {name: self.sides[name].add(texts, columns, split) for name, texts in columns.sides.items()}
            if split == "train":
                self._features.update(*columns.features)
            weights = np.asarray(columns.weights, dtype=np.float32)
            features = columns.features if any(columns.features) else ()
            self.chunks.append(SpooledChunk(split, sides, features, weights, places, numbers))
            done += len(weights)
            progress("reading the data", done)
        for side in self.sides.values():
            side.end_volume()

    @property
    def rows(self) -> dict[str, Rows]:
        """The sides that are no text, by name."""
        return {name: side.rows for name, side in self.sides.items() if isinstance(side, SpooledRows)}

    @property
    def catalogues(self) -> dict[str, Catalogue]:
        """The files of the sides that name some."""
        return {name: rows.files for name, rows in self.rows.items() if rows.files is not None}

    def _columns(self) -> Iterator[tuple[SplitName, _Columns]]:
        """The examples in chunks of one split each."""
        waiting: dict[SplitName, _Columns] = {}
        for split, example in self._corpus.everything():
            if split == "validation":
                self._validation.write(as_line(example))
            if split not in waiting:
                waiting[split] = _Columns({name: [] for name in self.sides})
            if waiting[split].append(example) == _CHUNK:
                yield split, waiting.pop(split)
        yield from waiting.items()

    def vocabularies(self) -> dict[str, Vocabulary]:
        """The vocabularies of all sides, the given ones and those built from the training split alone."""
        found: dict[str, Vocabulary] = dict(self._given)
        first = self._corpus.data.symbol_sides[0]
        built: dict[int, Vocabulary] = {}
        for name, builder in self._builders.items():
            features = sorted(self._features) if name == first != TARGET else []
            if id(builder) in built:
                found[name] = built[id(builder)]
            elif name in self._given:
                found[name] = self._given[name].grown(builder.beyond(self._given[name]), features)
            else:
                found[name] = builder.build().with_features(features)
            built[id(builder)] = found[name]
        return {name: found[name] for name in self._corpus.data.symbol_sides}

    def encoders(self, vocabularies: Mapping[str, Vocabulary]) -> dict[str, AnyEncoder]:
        """What encodes the chunks of each side."""
        return {
            name: SideEncoder(side, vocabularies[name]) if isinstance(side, SpooledSide) else side
            for name, side in self.sides.items()
        }

    def close(self) -> None:
        """Close all files."""
        self._validation.close()
        for side in self.sides.values():
            side.close()


def smallest(size: int) -> np.dtype[np.unsignedinteger]:
    """The type that takes least space for numbers below `size`."""
    return np.dtype(np.uint16 if size <= 2**16 else np.uint32)
