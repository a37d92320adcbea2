"""Examples as memory-mapped symbol ids: made once per corpus and kept in a cache, so that 5 million pairs need little memory.

One folder per corpus: a vocabulary `<name>.json` per side, and per split the ids of each side with offsets, weights, origins.
"""

import hashlib
import itertools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from seqloom.data.batches import Batch, FloatArray, IntArray, Padded
from seqloom.data.corpus import SPLITS, Corpus, SplitName
from seqloom.data.examples import Example, Origin
from seqloom.data.vocabulary import Vocabulary, build_vocabulary
from seqloom.errors import DataError, RunError, WriteError

SOURCE = "source"
TARGET = "target"
_VERSION = 1
_CHUNK = 16384
_DRAFT_SECONDS = 24 * 3600.0
"""A half-made preparation that nobody has touched for so long belongs to a process that was killed."""

Progress = Callable[[str, int], None]
"""Called now and then with what is being done and how many examples are done."""


@dataclass(frozen=True)
class PreparedSplit:
    """One split, memory-mapped. sides: per side the flat ids and the N + 1 offsets into them."""

    sides: Mapping[str, tuple[npt.NDArray[np.unsignedinteger], IntArray]]
    weights: FloatArray
    places: IntArray  # [N, 2]: file number, line
    files: Sequence[str]
    dropped: int

    def __len__(self) -> int:
        return len(self.weights)

    def lengths(self, side: str) -> IntArray:
        """Symbols per example on one side."""
        _, offsets = self.sides[side]
        return np.diff(offsets)

    def batch(self, numbers: IntArray) -> Batch:
        """The examples of the given numbers, padded."""
        sources = {name: self._padded(name, numbers) for name in self.sides if name != TARGET}
        origins = tuple(Origin(self.files[file], int(line)) for file, line in self.places[numbers])
        return Batch(sources, self._padded(TARGET, numbers), np.asarray(self.weights[numbers]), origins)

    def _padded(self, side: str, numbers: IntArray) -> Padded:
        flat, offsets = self.sides[side]
        starts, ends = offsets[numbers], offsets[numbers + 1]
        lengths = ends - starts
        positions = np.arange(max(1, int(lengths.max())))
        real = positions[None, :] < lengths[:, None]
        values = np.where(real, flat[np.where(real, starts[:, None] + positions[None, :], 0)] if len(flat) else 0, 0)
        return Padded(values.astype(np.int64), lengths)


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training."""

    vocabularies: Mapping[str, Vocabulary]
    splits: Mapping[SplitName, PreparedSplit]
    fingerprint: str


def cache_folder() -> Path:
    """Where prepared corpora are kept: $SEQLOOM_CACHE, or the user's cache folder."""
    own = os.environ.get("SEQLOOM_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqloom"


def prepare(
    corpus: Corpus, progress: Progress = lambda what, count: None, *, vocabularies: Mapping[str, Vocabulary] | None = None
) -> Prepared:
    """Open the prepared form of a corpus, making it first if its files or the way they are read have changed.

    vocabularies: those of a run that goes on. Building them anew would not do: no two trainings of unigram pieces agree.
    """
    base, stamp = cache_folder() / "prepared", corpus.stamp()[:32]
    folder = base / f"{stamp}-{_VERSION}"
    if vocabularies is not None:
        if (folder / "prepared.json").exists() and _same(vocabularies, (opened := _open(folder)).vocabularies):
            return opened
        folder = base / f"{stamp}-{_key(vocabularies)}-{_VERSION}"
    if not (folder / "prepared.json").exists():
        try:
            _make(corpus, folder, vocabularies, progress)
        except OSError as problem:
            raise WriteError(
                f"{folder}: could not write the prepared data ({problem.strerror}). "
                "Free some space, or name another folder in SEQLOOM_CACHE"
            ) from problem
    return _open(folder)


def _same(some: Mapping[str, Vocabulary], others: Mapping[str, Vocabulary]) -> bool:
    return _key(some) == _key(others)


def _key(vocabularies: Mapping[str, Vocabulary]) -> str:
    texts = [vocabularies[name].to_json() for name in (SOURCE, TARGET)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _make(corpus: Corpus, folder: Path, given: Mapping[str, Vocabulary] | None, progress: Progress) -> None:
    """Write into a folder beside the final one and rename it, so that a kill leaves nothing half-made under the final name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for old in folder.parent.glob("draft-*"):  # what a kill left behind
        if time.time() - old.stat().st_mtime > _DRAFT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix="draft-"))
    try:
        fingerprint = corpus.fingerprint()
        vocabularies = given or build_vocabularies(corpus, progress)
        for name, vocabulary in vocabularies.items():
            (draft / f"{name}.json").write_text(vocabulary.to_json(), encoding="utf-8")
        facts = {}
        for split in SPLITS:
            if corpus.has(split):
                facts[split] = _write_split(corpus, split, vocabularies, draft / split, progress)
        body = {"fingerprint": fingerprint, "splits": facts}
        (draft / "prepared.json").write_text(json.dumps(body), encoding="utf-8")
        if not folder.exists():  # else another process was faster with the same content
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def build_vocabularies(corpus: Corpus, progress: Progress = lambda what, count: None) -> dict[str, Vocabulary]:
    """The vocabularies of both sides, from the training split alone."""
    wanted = corpus.data.vocabularies
    features: dict[str, None] = {}

    def texts(sides: Sequence[str]) -> Iterator[str]:
        for count, example in enumerate(corpus.examples("train"), start=1):
            if count % _CHUNK == 0:
                progress("reading the training data", count)
            features.update(dict.fromkeys(example.features))
            for side in sides:
                yield example.sources[SOURCE] if side == SOURCE else example.target or ""

    if wanted.shared:
        built = build_vocabulary(wanted.source, texts((SOURCE, TARGET)))
        shared = built.with_features(sorted(features))
        return {SOURCE: shared, TARGET: shared}
    target = build_vocabulary(wanted.target, texts((TARGET,)))
    source = build_vocabulary(wanted.source, texts((SOURCE,)))
    return {SOURCE: source.with_features(sorted(features)), TARGET: target}


@dataclass
class _SideWriter:
    """Appends sequences of ids to a file and remembers where each begins."""

    stream: IO[bytes]
    kind: np.dtype[np.unsignedinteger]
    lengths: list[IntArray] = field(default_factory=list)

    def append(self, sequences: Sequence[IntArray]) -> None:
        if sequences:
            self.stream.write(np.concatenate(sequences).astype(self.kind).tobytes())
            self.lengths.append(np.asarray([len(one) for one in sequences], dtype=np.int64))

    def offsets(self) -> IntArray:
        return np.concatenate(
            [np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *self.lengths]))]
        )


def _write_split(
    corpus: Corpus, split: SplitName, vocabularies: Mapping[str, Vocabulary], folder: Path, progress: Progress
) -> dict[str, object]:
    folder.mkdir()
    files: dict[str, int] = {}
    weights: list[FloatArray] = []
    places: list[IntArray] = []
    dropped = 0
    with (folder / f"{SOURCE}.ids").open("wb") as one, (folder / f"{TARGET}.ids").open("wb") as other:
        writers = {
            SOURCE: _SideWriter(one, _smallest(vocabularies[SOURCE].size)),
            TARGET: _SideWriter(other, _smallest(vocabularies[TARGET].size)),
        }
        done = 0
        for chunk in _chunks(corpus.examples(split)):
            kept, sources, targets = _encode(chunk, vocabularies, corpus.data.maximum_length)
            dropped += len(chunk) - len(kept)
            writers[SOURCE].append(sources)
            writers[TARGET].append(targets)
            weights.append(np.asarray([example.weight for example in kept], dtype=np.float32))
            places.append(_places(kept, files))
            done += len(chunk)
            progress(f"encoding the {split} data", done)
        for name, writer in writers.items():
            np.save(folder / f"{name}.offsets.npy", writer.offsets())
    np.save(folder / "weights.npy", np.concatenate([np.zeros(0, dtype=np.float32), *weights]))
    np.save(folder / "places.npy", np.concatenate([np.zeros((0, 2), dtype=np.int64), *places]))
    kinds = {name: str(writer.kind) for name, writer in writers.items()}
    return {"files": list(files), "dropped": dropped, "kinds": kinds}


def _encode(
    chunk: Sequence[Example], vocabularies: Mapping[str, Vocabulary], longest: int
) -> tuple[list[Example], list[IntArray], list[IntArray]]:
    features = [_known(example.features, vocabularies[SOURCE]) for example in chunk]
    sources = vocabularies[SOURCE].encode_sources([example.sources[SOURCE] for example in chunk], features)
    targets = vocabularies[TARGET].encode_targets([example.target or "" for example in chunk])
    kept = [index for index in range(len(chunk)) if len(sources[index]) <= longest and len(targets[index]) <= longest]
    return [chunk[index] for index in kept], [sources[index] for index in kept], [targets[index] for index in kept]


def _known(features: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """A feature that only validation or test has cannot have been learnt: it counts as absent there."""
    return [feature for feature in features if feature in vocabulary.features]


def _places(kept: Sequence[Example], files: dict[str, int]) -> IntArray:
    rows = [(files.setdefault(example.origin.file, len(files)), example.origin.line) for example in kept]
    return np.asarray(rows, dtype=np.int64).reshape(-1, 2)


def _chunks(examples: Iterator[Example]) -> Iterator[list[Example]]:
    while chunk := list(itertools.islice(examples, _CHUNK)):
        yield chunk


def _smallest(size: int) -> np.dtype[np.unsignedinteger]:
    return np.dtype(np.uint16 if size <= 2**16 else np.uint32)


def _open(folder: Path) -> Prepared:
    try:
        body = json.loads((folder / "prepared.json").read_text(encoding="utf-8"))
        vocabularies = {
            name: Vocabulary.from_json(
                (folder / f"{name}.json").read_text(encoding="utf-8"), where=str(folder / f"{name}.json")
            )
            for name in (SOURCE, TARGET)
        }
        splits = {split: _open_split(folder / split, facts) for split, facts in body["splits"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RunError) as problem:
        raise DataError(
            f"{folder}: the prepared data is damaged ({problem}). Delete this folder; it will be made again"
        ) from problem
    return Prepared(vocabularies, splits, str(body["fingerprint"]))


def _open_split(folder: Path, facts: Mapping[str, object]) -> PreparedSplit:
    kinds = facts["kinds"]
    if not isinstance(kinds, dict):
        raise ValueError("kinds")
    sides = {}
    for name, kind in kinds.items():
        offsets = np.load(folder / f"{name}.offsets.npy", mmap_mode="r")
        path = folder / f"{name}.ids"
        flat: npt.NDArray[np.unsignedinteger] = np.zeros(0, dtype=np.uint16)
        if path.stat().st_size:
            flat = np.memmap(path, dtype=kind, mode="r")
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
