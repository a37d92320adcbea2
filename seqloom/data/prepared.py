"""Examples as memory-mapped symbol ids: made once per corpus and kept in a cache, so that 5 million pairs need little memory.

One folder per corpus: a vocabulary `<name>.json` per side, and per split the ids of each side with offsets, weights, origins.
A side that names files has, for the whole corpus, the files and their contents (`<name>.media.json`), and per example a number
in the place of ids; the arrays of the files are kept elsewhere (`media_store`), since many corpora may share them.
"""

import hashlib
import json
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.batches import Batch, FloatArray, IntArray, Padded, StreamBatch, StreamPlan
from seqloom.data.cache import cache_folder
from seqloom.data.corpus import SPLITS, Corpus, SplitName
from seqloom.data.examples import Origin
from seqloom.data.media import Frontend, Media, MediaFinder
from seqloom.data.media_store import MediaSide, MediaStore
from seqloom.data.spool import SOURCE, TARGET, AnyEncoder, Chunk, Progress, SideEncoder, Spool, SpooledMedia, smallest
from seqloom.data.vocabulary import Sequences, Vocabulary
from seqloom.errors import DataError, RunError, WriteError
from seqloom.files import LARGEST_VOCABULARY, open_regular, read_regular, require_regular
from seqloom.parsing import parse_object
from seqloom.recipe.sections import Data, FileSource, VectorSource, VocabularyFile
from seqloom.symbols import END, UNKNOWN

__all__ = ["SOURCE", "TARGET", "Prepared", "PreparedSplit", "cache_folder", "prepare"]

_VERSION = 7
_DRAFT_SECONDS = 24 * 3600.0
"""A half-made preparation that nobody has touched for so long belongs to a process that was killed."""


@dataclass(frozen=True)
class PreparedSplit:
    """One split, memory-mapped. sides: per side the flat ids (of vectors: rows of numbers) and the N + 1 offsets into them.

    media: the sides that are files. Their lengths are all alike, and decide nothing.
    """

    sides: Mapping[str, tuple[npt.NDArray[Any], IntArray]]
    weights: FloatArray
    places: IntArray  # [N, 2]: file number, line
    files: Sequence[str]
    dropped: int
    media: Mapping[str, MediaSide] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.weights)

    def lengths(self, side: str) -> IntArray:
        """Symbols per example on one side."""
        _, offsets = self.sides[side]
        return np.diff(offsets)

    def batch(self, numbers: IntArray) -> Batch:
        """The examples of the given numbers, padded."""
        sources = {name: self._padded(name, numbers) for name in self.sides if name != TARGET}
        sources |= {name: side.batch(numbers) for name, side in self.media.items()}
        origins = tuple(Origin(self.files[file], int(line)) for file, line in self.places[numbers])
        return Batch(sources, self._padded(TARGET, numbers), np.asarray(self.weights[numbers]), origins)

    @property
    def symbols(self) -> int:
        """All symbols of the target side together."""
        flat, _ = self.sides[TARGET]
        return len(flat)

    @property
    def unknown(self) -> int:
        """How many symbols of the target side are not in the vocabulary."""
        flat, _ = self.sides[TARGET]
        return int(np.count_nonzero(flat == UNKNOWN))

    def stretch(self, plan: StreamPlan, step: int) -> StreamBatch:
        """One stretch of every row of a running text."""
        flat, offsets = self.sides[TARGET]
        first = plan.starts + step * plan.stretch
        ends = np.minimum(plan.starts + plan.length, len(flat))
        lengths = np.clip(ends - first, 0, plan.stretch)
        positions = first[:, None] + np.arange(int(lengths.max()))
        values = flat[np.minimum(positions, len(flat) - 1)].astype(np.int64)
        # A text begins as if a line had just ended.
        before = np.where(first > 0, flat[np.clip(first - 1, 0, len(flat) - 1)], END).astype(np.int64)
        silent = np.where(np.arange(len(first)) > 0, np.maximum(0, plan.start_up - step * plan.stretch), 0)
        lines = np.clip(np.searchsorted(offsets, first, side="right") - 1, 0, len(self) - 1)
        origins = tuple(Origin(self.files[file], int(line)) for file, line in self.places[lines])
        weights = np.ones(len(first), dtype=np.float32)
        return StreamBatch({}, Padded(values, lengths), weights, origins, before, step == 0, silent)

    def _padded(self, side: str, numbers: IntArray) -> Padded:
        flat, offsets = self.sides[side]
        starts, ends = offsets[numbers], offsets[numbers + 1]
        lengths = ends - starts
        positions = np.arange(max(1, int(lengths.max())))
        real = positions[None, :] < lengths[:, None]
        if flat.ndim > 1:
            return Padded(flat[np.where(real, starts[:, None] + positions[None, :], 0)] * real[..., None], lengths)
        values = np.where(real, flat[np.where(real, starts[:, None] + positions[None, :], 0)] if len(flat) else 0, 0)
        return Padded(values.astype(np.int64), lengths)


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training."""

    vocabularies: Mapping[str, Vocabulary]
    splits: Mapping[SplitName, PreparedSplit]
    fingerprint: str

    @cached_property
    def unknown_targets(self) -> int:
        """How many symbols of training targets are not in the vocabulary."""
        return self.splits["train"].unknown if "train" in self.splits else 0

    @property
    def sizes(self) -> dict[str, int]:
        """How many symbols each vocabulary has, by name."""
        return {name: vocabulary.size for name, vocabulary in self.vocabularies.items()}


def prepare(
    corpus: Corpus,
    progress: Progress = lambda what, count: None,
    *,
    vocabularies: Mapping[str, Vocabulary] | None = None,
    grow: bool = False,
    frontends: Mapping[str, Frontend] | None = None,
    tell_apart: bool = False,
) -> Prepared:
    """Open the prepared form of a corpus, making it first if its files or the way they are read have changed.

    vocabularies: those of a run that goes on. Building them anew would not do: no two trainings of unigram pieces agree.
    grow: they are those of another run, and take in what this corpus has and they lack.
    frontends: what makes arrays of the sources that are files, by the source's name. tell_apart: unknown symbols of a source
    have ids of their own, and so have they in its target: for models that copy.
    """
    base, stamp = cache_folder() / "prepared", corpus.stamp()[:32] + ("-copying" if tell_apart else "")
    folder = base / f"{stamp}-{_VERSION}"
    try:
        if vocabularies is not None:
            if not grow and _is_there(folder, corpus) and _same(vocabularies, (opened := _open(folder)).vocabularies):
                return _with_media(opened, folder, corpus, frontends or {}, progress)
            folder = base / f"{stamp}-{_key(vocabularies)}{'-grown' if grow else ''}-{_VERSION}"
        if not _is_there(folder, corpus):
            _make(corpus, folder, vocabularies, progress, grow=grow, tell_apart=tell_apart)
        return _with_media(_open(folder), folder, corpus, frontends or {}, progress)
    except OSError as problem:
        raise WriteError(
            f"{folder}: could not write the prepared data ({problem.strerror}). "
            "Free some space, or name another folder in SEQLOOM_CACHE"
        ) from problem


def _same(some: Mapping[str, Vocabulary], others: Mapping[str, Vocabulary]) -> bool:
    return _key(some) == _key(others)


def _key(vocabularies: Mapping[str, Vocabulary]) -> str:
    texts = [vocabularies[name].to_json() for name in sorted(vocabularies)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _make(
    corpus: Corpus, folder: Path, given: Mapping[str, Vocabulary] | None, progress: Progress, *, grow: bool, tell_apart: bool
) -> None:
    """Write into a folder beside the final one and rename it, so that a kill leaves nothing half-made under the final name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for old in folder.parent.glob("draft-*"):  # what a kill left behind
        if time.time() - old.stat().st_mtime > _DRAFT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix="draft-"))
    try:
        fingerprint = corpus.fingerprint()
        with closing(Spool(corpus, draft / "spool", given or _from_files(corpus), grow=grow)) as spool:
            spool.read(progress)
            fingerprint = _with_contents(fingerprint, spool.media)
            for name, side in spool.media.items():
                (draft / f"{name}.media.json").write_text(json.dumps(_listed(side)), encoding="utf-8")
            vocabularies = spool.vocabularies()
            for name, vocabulary in vocabularies.items():
                (draft / f"{name}.json").write_text(vocabulary.to_json(), encoding="utf-8")
            facts = _write_splits(corpus, spool, vocabularies, draft, progress, tell_apart=tell_apart)
        shutil.rmtree(draft / "spool")
        checksums = {
            str(path.relative_to(draft)): _checksum(path, inside=draft) for path in sorted(draft.rglob("*")) if path.is_file()
        }
        body = {"fingerprint": fingerprint, "sides": list(vocabularies), "splits": facts, "checksums": checksums}
        (draft / "prepared.json").write_text(json.dumps({**body, "sha256": _seal(body)}), encoding="utf-8")
        if not folder.exists():  # else another process was faster with the same content
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _from_files(corpus: Corpus) -> dict[str, Vocabulary]:
    """The vocabularies that the recipe takes from files."""
    own = {name: corpus.data.vocabulary_of(name) for name in corpus.data.symbol_sides}
    return {
        name: Vocabulary.from_json(_text_of(section.file), where=section.file)
        for name, section in own.items()
        if isinstance(section, VocabularyFile)
    }


def _text_of(file: str) -> str:
    try:
        return read_regular(file, limit=LARGEST_VOCABULARY).decode()
    except (OSError, ValueError) as problem:
        raise DataError(f"{file}: expected a vocabulary that seqloom wrote, but it cannot be read ({problem})") from problem


class _SideWriter:
    """Appends sequences of ids, or of vectors of a width, to a file and remembers how long each is."""

    def __init__(self, path: Path, kind: np.dtype[Any], width: int | None = None) -> None:
        self.kind = kind
        self.width = width
        self._stream = path.open("wb")
        self._lengths = [np.zeros(1, dtype=np.int64)]

    def append(self, sequences: Sequences) -> None:
        self._stream.write(sequences.ids.astype(self.kind).tobytes())
        self._lengths.append(sequences.lengths)

    def close(self) -> None:
        self._stream.close()

    def offsets(self) -> IntArray:
        return np.cumsum(np.concatenate(self._lengths))


class _SplitWriter:
    """Writes one split into a folder, chunk by chunk. Examples with a side that is too long are left out and counted."""

    def __init__(self, folder: Path, vocabularies: Mapping[str, Vocabulary], data: Data, *, tell_apart: bool) -> None:
        folder.mkdir()
        self._folder = folder
        self._longest = sys.maxsize if data.text == "stream" else data.maximum_length
        beyond = data.maximum_length if tell_apart else 0
        self._sides = {
            name: _SideWriter(folder / f"{name}.ids", smallest(vocabulary.size + beyond))
            for name, vocabulary in vocabularies.items()
        }
        for name in data.sides:
            match data.sources.get(name):
                case VectorSource(size=size):
                    self._sides[name] = _SideWriter(folder / f"{name}.ids", np.dtype(np.float32), size)
                case FileSource():
                    self._sides[name] = _SideWriter(folder / f"{name}.ids", np.dtype(np.uint32))
        self._files: Mapping[str, int] = {}
        self._weights = [np.zeros(0, dtype=np.float32)]
        self._places = [np.zeros((0, 2), dtype=np.int64)]
        self._dropped = 0
        self.done = 0

    def write(self, chunk: Chunk, sides: Mapping[str, Sequences]) -> None:
        """Append the examples of a chunk, given with their encoded sides."""
        kept = np.all([side.lengths <= self._longest for side in sides.values()], axis=0)
        for name, side in sides.items():
            self._sides[name].append(side.kept(kept))
        self._weights.append(chunk.weights[kept])
        self._places.append(chunk.places[kept])
        self._files = chunk.files
        self._dropped += int((~kept).sum())
        self.done += len(kept)

    def finish(self) -> dict[str, object]:
        """Write what is known only at the end, and say what a reader must know."""
        for name, side in self._sides.items():
            side.close()
            np.save(self._folder / f"{name}.offsets.npy", side.offsets())
        places = np.concatenate(self._places)
        used, places[:, 0] = np.unique(places[:, 0], return_inverse=True)  # of some files nothing may be left
        np.save(self._folder / "places.npy", places)
        np.save(self._folder / "weights.npy", np.concatenate(self._weights))
        names = list(self._files)
        kinds = {name: str(side.kind) for name, side in self._sides.items()}
        widths = {name: side.width for name, side in self._sides.items() if side.width is not None}
        return {"files": [names[file] for file in used], "dropped": self._dropped, "kinds": kinds, "widths": widths}

    def close(self) -> None:
        for side in self._sides.values():
            side.close()


def _write_splits(
    corpus: Corpus,
    spool: Spool,
    vocabularies: Mapping[str, Vocabulary],
    folder: Path,
    progress: Progress,
    *,
    tell_apart: bool,
) -> dict[SplitName, dict[str, object]]:
    """Encode all splits, each into a folder of its own."""
    encoders = spool.encoders(vocabularies)
    writers: dict[SplitName, _SplitWriter] = {}
    running = corpus.data.text == "stream"
    sources = [name for name in corpus.data.symbol_sides if name != TARGET]
    with ExitStack() as opened:
        for split in filter(corpus.has, SPLITS):
            writers[split] = _SplitWriter(folder / split, vocabularies, corpus.data, tell_apart=tell_apart)
            opened.callback(writers[split].close)
        for chunk in spool.chunks:
            sides = {name: encoder.encode(chunk.sides[name]) for name, encoder in encoders.items()}
            for name in sources:  # features stand before the first text
                known = _known_features(chunk, vocabularies[name]) if name == sources[0] else [()] * len(chunk.weights)
                sides[name] = vocabularies[name].framed(sides[name], known)
            if running:
                sides[TARGET] = _with_ends(sides[TARGET])
            if tell_apart:
                sides |= _told_apart(chunk, sides, encoders, vocabularies[sources[0]], sources[0])
            writers[chunk.split].write(chunk, sides)
            progress(f"encoding the {chunk.split} data", writers[chunk.split].done)
        return {split: writer.finish() for split, writer in writers.items()}


def _with_ends(lines: Sequences) -> Sequences:
    """Lines of a running text, each with the `end` that stands for its line break."""
    ones = np.ones(len(lines), dtype=np.int64)
    return Sequences.joined([lines, Sequences(END * ones, ones)])


def _told_apart(
    chunk: Chunk, sides: Mapping[str, Sequences], encoders: Mapping[str, AnyEncoder], vocabulary: Vocabulary, source: str
) -> dict[str, Sequences]:
    """The source and the target of a chunk, unknown symbols with the ids that prediction gives them, too."""
    written, read = sides[TARGET], sides[source]
    read_ends, written_ends = np.cumsum(read.lengths), np.cumsum(written.lengths)
    chosen = np.unique(np.searchsorted(read_ends, np.flatnonzero(read.ids == UNKNOWN), side="right")).tolist()
    read_ids, written_ids = read.ids.copy(), written.ids.copy()
    features, texts = _known_features(chunk, vocabulary), []
    for name in (source, TARGET):
        encoder = encoders[name]
        if not isinstance(encoder, SideEncoder):
            raise TypeError(encoder)  # only text is copied
        texts.append(encoder.texts(chunk.sides[name], chosen))
    for one, text, target in zip(chosen, *texts, strict=True):
        told = vocabulary.told_apart(vocabulary.encode_source(text, features[one]), text)
        read_ids[read_ends[one] - read.lengths[one] : read_ends[one]] = told.ids
        copied = vocabulary.encode_copying(target, told.copies)
        written_ids[written_ends[one] - written.lengths[one] : written_ends[one]] = copied
    return {source: Sequences(read_ids, read.lengths), TARGET: Sequences(written_ids, written.lengths)}


def _known_features(chunk: Chunk, vocabulary: Vocabulary) -> list[list[str]]:
    """A feature that only validation or test has cannot have been learnt: it counts as absent there."""
    features = chunk.features or [()] * len(chunk.weights)
    return [[feature for feature in one if feature in vocabulary.features] for one in features]


def _open(folder: Path) -> Prepared:
    try:
        types = {"fingerprint": str, "sides": list, "splits": dict, "checksums": dict, "sha256": str}
        body = parse_object(_inside(folder, "prepared.json"), types)
        if body.pop("sha256") != _seal(body):
            raise ValueError("prepared.json is not as it was written")
        for name in body["checksums"]:
            require_regular(folder / name, inside=folder)
        vocabularies = {
            name: Vocabulary.from_json(_inside(folder, f"{name}.json").decode(), where=str(folder / f"{name}.json"))
            for name in body["sides"]
        }
        splits = {split: _open_split(folder / split, facts) for split, facts in body["splits"].items()}
        for name, checksum in body["checksums"].items():
            if _checksum(folder / name, inside=folder) != checksum:
                raise ValueError(f"{name} is not as it was written")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RunError) as problem:
        raise _damaged(folder, problem) from problem
    return Prepared(vocabularies, splits, str(body["fingerprint"]))


# --- files ----------------------------------------------------------------------------------------------------------


def _listed(side: SpooledMedia) -> dict[str, object]:
    """What is kept of the files of a side: each with its first place, size and stamp; and all distinct contents."""
    files = [[one.media.name, one.origin.file, one.origin.line, one.media.size, one.media.stamp] for one in side.files]
    return {"files": files, "numbers": [one.content for one in side.files], "contents": side.contents}


def _with_contents(fingerprint: str, media: Mapping[str, SpooledMedia]) -> str:
    """The fingerprint of tables and of the files that they name."""
    if not media:
        return fingerprint
    contents = [content for side in media.values() for content in side.contents]
    return hashlib.sha256("\n".join([fingerprint, *contents]).encode()).hexdigest()


def _is_there(folder: Path, corpus: Corpus) -> bool:
    """Whether a corpus is prepared, and the files that it names are as they were. If they are not, it is forgotten."""
    if not (folder / "prepared.json").exists():
        return False
    for name, source in corpus.data.file_sources.items():
        finder = MediaFinder(source)
        for media, origin, size, stamp in _named_files(folder, name):
            try:
                found = finder.find(media, origin)
            except DataError as problem:
                raise DataError(f"{origin}: {problem}") from problem
            if (found.size, found.stamp) != (size, stamp):
                shutil.rmtree(folder)
                return False
    return True


def _named_files(folder: Path, side: str) -> list[tuple[str, Origin, int, int]]:
    body = _media_list(folder, side)
    return [(name, Origin(file, line), size, stamp) for name, file, line, size, stamp in body["files"]]


def _with_media(
    prepared: Prepared, folder: Path, corpus: Corpus, frontends: Mapping[str, Frontend], progress: Progress
) -> Prepared:
    """Put the arrays of files behind the numbers that stand for them; those that nobody made yet are made now."""
    sides = {
        name: _stored(folder, name, MediaFinder(source), frontends[name], progress)
        for name, source in corpus.data.file_sources.items()
    }
    if not sides:
        return prepared
    splits = {}
    for split_name, split in prepared.splits.items():
        media = {name: replace(side, numbers=split.sides[name][0]) for name, side in sides.items()}
        symbols = {name: side for name, side in split.sides.items() if name not in media}
        splits[split_name] = replace(split, sides=symbols, media=media)
    return replace(prepared, splits=splits)


def _stored(folder: Path, side: str, finder: MediaFinder, frontend: Frontend, progress: Progress) -> MediaSide:
    """The arrays of all files of a side, without the numbers of any split."""
    body, store = _media_list(folder, side), MediaStore(frontend)
    if not all(content in store for content in body["contents"]):
        origins: dict[str, tuple[str, Origin]] = {}
        for (name, origin, _, _), number in zip(_named_files(folder, side), body["numbers"], strict=True):
            origins.setdefault(body["contents"][number], (name, origin))
        files = {content: finder.find(name, origin) for content, (name, origin) in origins.items()}
        try:
            store.fill(files, lambda count: progress(f"reading the files of {side}", count))
        except DataError:
            _find_culprit(frontend, [(media, origins[content][1]) for content, media in files.items() if content not in store])
            raise
    return MediaSide(np.zeros(0, dtype=np.int64), store.rows(body["contents"]), store.arrays())


def _find_culprit(frontend: Frontend, files: Sequence[tuple[Media, Origin]]) -> None:
    """Say which of some files a frontend cannot read, and where it is named. It may look at several at once."""
    for media, origin in files:
        try:
            list(frontend.arrays([media]))
        except DataError as problem:
            raise DataError(f"{origin}: {problem}") from problem


def _media_list(folder: Path, side: str) -> dict[str, Any]:
    try:
        return parse_object(_inside(folder, f"{side}.media.json"), {"files": list, "numbers": list, "contents": list})
    except (OSError, ValueError) as problem:
        raise _damaged(folder, problem) from problem


def _inside(folder: Path, name: str) -> bytes:
    return read_regular(folder / name, limit=LARGEST_VOCABULARY, inside=folder)


def _damaged(folder: Path, problem: Exception) -> DataError:
    return DataError(f"{folder}: the prepared data is damaged ({problem}). Delete this folder; it will be made again")


def _seal(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _checksum(path: Path, *, inside: Path) -> int:
    """Tells a damaged file, not a forged one; a gigabyte a second, so that all files can be read at every start."""
    checksum = 0
    with open_regular(path, inside=inside) as stream:
        while block := stream.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum


def _open_split(folder: Path, facts: Mapping[str, object]) -> PreparedSplit:
    kinds, widths = facts["kinds"], facts["widths"]
    if not isinstance(kinds, dict) or not isinstance(widths, dict):
        raise ValueError("kinds")
    sides = {}
    for name, kind in kinds.items():
        offsets = np.load(folder / f"{name}.offsets.npy", mmap_mode="r")
        path = folder / f"{name}.ids"
        flat: npt.NDArray[Any] = np.zeros(0, dtype=kind)
        if path.stat().st_size:
            flat = np.memmap(path, dtype=kind, mode="r")
        if name in widths:
            flat = flat.reshape(-1, widths[name])
        if len(flat) != offsets[-1]:
            raise ValueError(f"{path.name} has {len(flat)} ids, expected {offsets[-1]}")
        sides[name] = (flat, offsets)
    weights = np.load(folder / "weights.npy", mmap_mode="r")
    places = np.load(folder / "places.npy", mmap_mode="r")
    if {len(weights), len(places), *(len(offsets) - 1 for _, offsets in sides.values())} != {len(weights)}:
        raise ValueError("its files do not hold equally many examples")
    files = facts["files"]
    dropped = facts["dropped"]
    if not isinstance(files, list) or not isinstance(dropped, int):
        raise ValueError("facts")
    return PreparedSplit(sides, weights, places, files, dropped)
