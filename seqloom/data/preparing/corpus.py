"""The examples that a recipe names, split into training, validation and test, and a fingerprint of where they come from."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

from seqloom.data.examples import Example
from seqloom.data.preparing.splitting import SplitName, splitter
from seqloom.errors import DataError, RunError
from seqloom.recipe import sections
from seqloom.system.content import content_hash
from seqloom.system.files import Found, found_at

__all__ = ["SPLITS", "Corpus", "SplitName"]

SPLITS: tuple[SplitName, ...] = ("train", "validation", "test")


@dataclass(frozen=True)
class Trained:
    """What a run says of the data that it was trained on: the hash of each file by its path, and that of all of it.

    hashes: None in runs that were made before they were kept. where: the run.
    """

    where: Path
    hashes: Mapping[str, str] | None
    fingerprint: str


@dataclass(frozen=True)
class Corpus:
    """Where examples come from. `examples` streams a split anew at every call; nothing is held in memory.

    seed: decides what is left to chance, unless the data section has a seed of its own. trained: the data section is that of
    a run, which may be a stranger's and name any file. Then a file is used only if it is what the run was trained on, to the
    bit: whoever made the run knows all that is in it.
    """

    data: sections.Data
    seed: int
    trained: Trained | None = None
    _known: set[Path] = field(default_factory=set, init=False, compare=False, repr=False)
    """Files that were found to be what the run was trained on."""

    @property
    def _seed(self) -> int:
        return self.seed if self.data.seed is None else self.data.seed

    def examples(self, split: SplitName) -> Iterator[Example]:
        """All examples of a split, in the order of their files."""
        if self.data.builtin is not None:
            return _builtin(self.data.builtin, split, self._seed)
        own: sections.Files | None = getattr(self.data, split)
        if split != "train" and own is not None:
            return self._read(own)
        return (example for name, example in self._shared_out() if name == split)

    def everything(self) -> Iterator[tuple[SplitName, Example]]:
        """The examples of all splits, each with its split. Every file is read once, also one that several splits share."""
        if self.data.builtin is None:
            yield from self._shared_out()
        for split in SPLITS:
            if self.data.builtin is not None or (split != "train" and getattr(self.data, split) is not None):
                for example in self.examples(split):
                    yield split, example

    def has(self, split: SplitName) -> bool:
        """Whether the recipe provides for this split at all."""
        if self.data.builtin is not None or split == "train" or getattr(self.data, split) is not None:
            return True
        share: float = getattr(self._shares(), split)
        return share > 0

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the recipe names."""
        data = self.data
        sides = data.text_sources if data.vocabularies.shared else data.symbol_sides  # a shared one is named once
        vocabularies = map(data.vocabulary_of, sides)
        own = tuple(Path(one.file) for one in vocabularies if isinstance(one, sections.VocabularyFile))
        return (*(path for split in SPLITS for path in _paths(getattr(self.data, split))), *own)

    def stamp(self) -> str:
        """A quick key of the data: names, sizes and times of its files, and how they are read."""
        facts = [[str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for path in self._existing_files()]
        return _digest(
            json.dumps(
                [
                    facts,
                    self.data.model_dump(mode="json", exclude={"maximum_input", "languages"}),
                    self._seed,
                    _builtin_version(self.data),
                ]
            )
        )

    def fingerprint(self) -> str:
        """A hash of the data's content, which a run records and a resume compares; file names and times do not matter."""
        digest = hashlib.sha256()
        for path in self._existing_files():
            digest.update(bytes.fromhex(_content_hash(path)))
        digest.update(_builtin_version(self.data).encode())
        return digest.hexdigest()

    def hashes(self) -> dict[str, str]:
        """The hash of each file's content by its path, which a run records."""
        return {str(path): _content_hash(path) for path in self._existing_files()}

    def _require_known(self, path: Path) -> None:
        """Refuse a file that a run names and that it was not trained on."""
        trained = self.trained
        if trained is None or path in self._known:
            return
        known = (
            self.fingerprint() == trained.fingerprint
            if trained.hashes is None
            else _content_hash(path) == trained.hashes.get(str(path))
        )
        if not known:
            raise RunError(
                f"{path}: the recipe of {trained.where} names this file, but it is not what the run was trained on: it has "
                "changed since, or the run is from elsewhere. Name a file to measure on"
            )
        self._known.add(path)

    def _existing_files(self) -> Iterator[Path]:
        for path in self.files:
            _require_data(path)
            yield path

    def _read(self, files: sections.Files) -> Iterator[Example]:
        # Here, because every predictor has a corpus, and few read it.
        from seqloom.data.reading.formats import read_examples, read_text

        for path in _paths(files):
            _require_data(path)
            self._require_known(path)
        if self.data.text is not None:
            # A paragraph's end belongs to a running text, but a blank line is no sentence.
            return read_text(files, blank=self.data.text == "stream")
        data = self.data
        return read_examples(files, format=data.format, columns=data.columns, sources=data.sources)

    def _shares(self) -> sections.Split:
        """The shares of `train` that go elsewhere: none for a split that has files of its own."""
        split = self.data.split
        return sections.Split(
            validation=0.0 if self.data.validation is not None else split.validation,
            test=0.0 if self.data.test is not None else split.test,
        )

    def _shared_out(self) -> Iterator[tuple[SplitName, Example]]:
        """The examples of the training files, each with the split that it falls to."""
        if self.data.train is None:
            raise DataError("the recipe names no training data. Give `data.train` or `data.builtin`")
        if self.data.text == "stream":
            yield from self._cut(self.data.train)
            return
        split_of = splitter(self._seed, self._shares())
        decides = self._deciding_text()
        for example in self._read(self.data.train):
            split = split_of(decides(example))
            for one in self._repeated(example) if split == "train" else (example,):
                yield split, one

    def _deciding_text(self) -> Callable[[Example], str]:
        """What examples are shared out by: the sources that are files, so that a picture is in one split; else all sources.

        The recipe may name the one that decides. Of stories it is how they begin, so that all questions about one are in one
        split.
        """
        if self.data.text is not None:
            return lambda example: example.target or ""
        by = self.data.split.by
        sides = (by,) if by is not None else tuple(self.data.file_sources or self.data.sources)
        if self.data.format == "stories" and by is None:
            from seqloom.data.reading.stories import StoryBegins

            begins = StoryBegins()
            return lambda example: begins.of(example.sources[sides[0]])
        return lambda example: "\t".join([example.sources[side] for side in sides])

    def _repeated(self, example: Example) -> Sequence[Example]:
        """An example to learn from as often as its weight says, if that is what weights mean."""
        if self.data.weights == "loss":
            return (example,)
        if not example.weight.is_integer():
            raise DataError(
                f"{example.origin}: expected a weight that is a whole number, so many times is the example repeated "
                f"(`data.weights: repeat`), found {example.weight:g}. Correct it, or let weights multiply the loss"
            )
        return (replace(example, weight=1.0),) * int(example.weight)

    def _cut(self, files: sections.Files) -> Iterator[tuple[SplitName, Example]]:
        """Running text in its order: first what is trained on, then the validation part, then the test part."""
        shares = self._shares()
        if not shares.validation and not shares.test:
            yield from (("train", example) for example in self._read(files))
            return
        lines = sum(1 for _ in self._read(files))
        test = lines - int(lines * shares.test)
        validation = test - int(lines * shares.validation)
        for number, example in enumerate(self._read(files)):
            yield "train" if number < validation else "validation" if number < test else "test", example


def _require_data(path: Path) -> None:
    """Refuse what a recipe names and is no file: a recipe may be a stranger's, and its data are read more than once anyway."""
    found = found_at(path)
    if found is not Found.FILE:
        raise DataError(f"{path}: expected a data file, found {found}. {found.advice}")


def _content_hash(path: Path) -> str:
    try:
        return content_hash(path)
    except OSError as problem:
        raise DataError(f"{path}: could not be read ({problem.strerror}). Check its permissions") from problem


def _paths(files: sections.Files | None) -> Iterator[Path]:
    match files:
        case None:
            return
        case str():
            yield Path(files)
        case tuple():
            yield from map(Path, files)
        case sections.Aligned(source=source, target=target):
            yield from _paths(source)
            yield from _paths(target)


def _builtin(name: sections.BuiltinTask, split: SplitName, seed: int) -> Iterator[Example]:
    match name:
        case "dates":
            from seqloom.data.builtin import dates

            return dates.examples(split, seed=seed)
        case "scenes":
            from seqloom.data.builtin import scenes

            return scenes.examples(split, seed=seed)
        case "scene-questions":
            from seqloom.data.builtin import scenes

            return scenes.question_examples(split, seed=seed)
        case "moves":
            from seqloom.data.builtin import moves

            return moves.examples(split, seed=seed)
        case "tones":
            from seqloom.data.builtin import tones

            return tones.examples(split, seed=seed)
        case _:
            assert_never(name)


def _builtin_version(data: sections.Data) -> str:
    """What a built-in task's examples depend on besides the recipe: the version of the library or module that makes them."""
    match data.builtin:
        case None:
            return ""
        case "dates":
            from importlib.metadata import PackageNotFoundError, version

            try:
                return f"dates, Babel {version('Babel')}"
            except PackageNotFoundError:
                return "dates"
        case "scenes" | "scene-questions":
            from seqloom.data.builtin.scenes.things import VERSION

            return f"{data.builtin} {VERSION}"
        case "moves":
            from seqloom.data.builtin.moves.events import VERSION as MOVES

            return f"moves {MOVES}"
        case "tones":
            from seqloom.data.builtin.tones.notes import VERSION as TONES

            return f"tones {TONES}"
        case _:
            assert_never(data.builtin)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
