"""One split of a prepared corpus on disk: flat ids of each side with offsets, weights, origins. Its writer and its reader."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import FloatArray, IntArray, Padded
from seqloom.data.examples import Origin
from seqloom.data.kinds.contract import Rows
from seqloom.data.media.catalogue import TOO_LONG
from seqloom.data.media.store import MediaSide
from seqloom.data.preparing.batches import Batch, StreamBatch, StreamPlan
from seqloom.data.preparing.spool import SpooledChunk, smallest
from seqloom.data.vocabulary import MergeDropout, Sequences, Vocabulary
from seqloom.recipe.sections import TARGET, Data
from seqloom.symbols import END, UNKNOWN


@dataclass(frozen=True)
class PreparedSplit:
    """One split, memory-mapped. sides: per side the flat ids (of vectors: rows of numbers) and the N + 1 offsets into them.

    media: the sides that are files. recut: what cuts texts of a side into other pieces each time.
    """

    sides: Mapping[str, tuple[npt.NDArray[Any], IntArray]]
    weights: FloatArray
    places: IntArray  # [N, 2]: file number, line
    files: Sequence[str]
    dropped: int
    cut: int = 0
    """Of so many sources only the beginning is read."""
    media: Mapping[str, MediaSide] = field(default_factory=dict)
    recut: Mapping[str, MergeDropout] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    """How many symbols the vocabulary of each side has."""

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def varies(self) -> bool:
        """Whether examples come in several forms, of which one is drawn each time: those of files, or other pieces of words."""
        return bool(self.recut) or any(side.variants for side in self.media.values())

    def lengths(self, side: str) -> IntArray:
        """Symbols per example on one side; of files, rows."""
        if side in self.media:
            return self.media[side].lengths
        _, offsets = self.sides[side]
        return np.diff(offsets)

    def batch(self, numbers: IntArray, random: np.random.Generator | None = None) -> Batch:
        """The examples of the given numbers, padded. random: draws forms of files, and pieces of words, that have several."""
        texts = {name: self._padded(name, numbers) for name in self.sides}
        if random is not None:
            texts |= {name: recut.drawn(texts[name], random) for name, recut in self.recut.items()}
        sources = {name: text for name, text in texts.items() if name != TARGET}
        for name, side in self.media.items():
            sources[name] = side.batch(numbers) if random is None else side.drawn(numbers, random)
        origins = tuple(Origin(self.files[file], int(line)) for file, line in self.places[numbers])
        return Batch(sources, texts[TARGET], np.asarray(self.weights[numbers]), origins)

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

    def window(self, plan: StreamPlan, step: int) -> StreamBatch:
        """One window of every row of a running text."""
        flat, offsets = self.sides[TARGET]
        first = plan.starts + step * plan.window
        ends = np.minimum(plan.starts + plan.length, len(flat))
        lengths = np.clip(ends - first, 0, plan.window)
        positions = first[:, None] + np.arange(int(lengths.max()))
        values = flat[np.minimum(positions, len(flat) - 1)].astype(np.int64)
        # A text begins as if a line had just ended.
        before = np.where(first > 0, flat[np.clip(first - 1, 0, len(flat) - 1)], END).astype(np.int64)
        silent = np.where(np.arange(len(first)) > 0, np.maximum(0, plan.start_up - step * plan.window), 0)
        lines = np.clip(np.searchsorted(offsets, first, side="right") - 1, 0, len(self) - 1)
        origins = tuple(Origin(self.files[file], int(line)) for file, line in self.places[lines])
        weights = np.ones(len(first), dtype=np.float32)
        return StreamBatch({}, Padded(values, lengths), weights, origins, before, step == 0, silent)

    def _padded(self, side: str, numbers: IntArray) -> Padded:
        flat, offsets = self.sides[side]
        return Padded.of_parts(flat, offsets[numbers], offsets[numbers + 1])


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


class SplitWriter:
    """Writes one split into a folder, chunk by chunk. Examples with a side that is too long are left out and counted."""

    def __init__(
        self,
        folder: Path,
        vocabularies: Mapping[str, Vocabulary],
        rows: Mapping[str, Rows],
        data: Data,
        *,
        tell_apart: str | None,
    ) -> None:
        folder.mkdir()
        self._folder = folder
        self._longest = sys.maxsize if data.text == "stream" else data.maximum_length
        beyond = data.maximum_length if tell_apart else 0
        self._sides = {
            name: _SideWriter(folder / f"{name}.ids", smallest(vocabulary.size + beyond))
            for name, vocabulary in vocabularies.items()
        }
        self._sides |= {
            name: _SideWriter(folder / f"{name}.ids", np.dtype(side.kind), side.width) for name, side in rows.items()
        }
        self._named = [name for name, side in rows.items() if side.files is not None]
        self._files: Mapping[str, int] = {}
        self._weights = [np.zeros(0, dtype=np.float32)]
        self._places = [np.zeros((0, 2), dtype=np.int64)]
        self._dropped = 0
        self.cut = 0
        self.done = 0

    def write(self, chunk: SpooledChunk, sides: Mapping[str, Sequences]) -> None:
        """Append the examples of a chunk, given with their encoded sides."""
        kept = np.all([side.lengths <= self._longest for side in sides.values()], axis=0)
        kept &= np.all([sides[name].ids != TOO_LONG for name in self._named], axis=0)
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
        counts = {"dropped": self._dropped, "cut": self.cut}
        return {"files": [names[file] for file in used], **counts, "kinds": kinds, "widths": widths}

    def close(self) -> None:
        """Close all files."""
        for side in self._sides.values():
            side.close()


def open_split(folder: Path, facts: Mapping[str, object]) -> PreparedSplit:
    """Open what a writer finished. facts: what it said in the end. Raises `ValueError` if files and facts do not agree."""
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
    dropped, cut = facts["dropped"], facts.get("cut", 0)
    if not isinstance(files, list) or not isinstance(dropped, int) or not isinstance(cut, int):
        raise ValueError("facts")
    return PreparedSplit(sides, weights, places, files, dropped, cut)
