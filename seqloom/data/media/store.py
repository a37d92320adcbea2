"""What frontends made of files, kept for good: arrays by the content of the file, shared by all corpora and runs.

One folder per frontend: `arrays`, one row after the other, and `contents`, the hash of each row's file and a checksum of the
row. Both only grow, a row before its hash, so that a kill at any moment leaves whole rows, and the next one goes on from there.
"""

import fcntl
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import IntArray, Padded
from seqloom.data.cache import cache_folder
from seqloom.data.media.files import Frontend, Media, positions_of
from seqloom.errors import DataError
from seqloom.system.files import LARGEST_RECORDS, open_to_append, read_regular, require_regular
from seqloom.system.json_parsing import parse_object

_VERSION = 2
_HASH_BYTES = 16
_ENTRY_BYTES = _HASH_BYTES + 4
_TOGETHER = 64
"""So many arrays are made before they are written down: more would be lost with a kill."""


class MediaStore:
    """The arrays of one frontend. Others may add rows while it is open; rows that are there never change."""

    def __init__(self, frontend: Frontend) -> None:
        name = hashlib.sha256(frontend.key.encode()).hexdigest()[:32]
        self._frontend = frontend
        self._folder = cache_folder() / "media" / f"{name}-{_VERSION}"
        self._rows: dict[str, int] = {}
        self._checksums: dict[int, int] = {}
        self._checked_rows: set[int] = set()
        self._length = 0
        self._kind: np.dtype[Any] | None = None
        self._look()

    def _look(self) -> None:
        """Take note of the rows that are there."""
        if not (self._folder / "facts.json").exists():
            return
        try:
            facts = parse_object(self._inside("facts.json"), {"key": str, "shape": list, "kind": str})
            kind = np.dtype(facts["kind"])
            contents = self._inside("contents")
            require_regular(self._folder / "arrays", inside=self._folder)
        except (OSError, ValueError, TypeError) as problem:
            raise self._damaged(str(problem)) from problem
        if facts["key"] != self._frontend.key or tuple(facts["shape"]) != self._frontend.shape or kind.hasobject:
            raise self._damaged("it holds arrays of something else")
        self._kind = kind
        whole = min(len(contents) // _ENTRY_BYTES, (self._folder / "arrays").stat().st_size // self._row_bytes)
        for row in range(self._length, whole):
            entry = contents[row * _ENTRY_BYTES : (row + 1) * _ENTRY_BYTES]
            self._rows[entry[:_HASH_BYTES].hex()] = row
            self._checksums[row] = int.from_bytes(entry[_HASH_BYTES:], "little")
        self._length = whole

    def _inside(self, name: str) -> bytes:
        return read_regular(self._folder / name, limit=LARGEST_RECORDS, inside=self._folder)

    def _damaged(self, reason: str) -> DataError:
        return DataError(f"{self._folder}: is damaged: {reason}. Delete this folder; it will be made again")

    @property
    def _row_bytes(self) -> int:
        return int(np.prod(self._frontend.shape)) * (0 if self._kind is None else self._kind.itemsize)

    def __contains__(self, content_hash: str) -> bool:
        return content_hash in self._rows

    def rows(self, hashes: Sequence[str]) -> IntArray:
        """In which rows the arrays of these contents are, each checked against its checksum once."""
        rows = [self._rows[one] for one in hashes]
        fresh = [row for row in dict.fromkeys(rows) if row not in self._checked_rows]
        arrays = self.arrays() if fresh else None
        for row in fresh:
            if arrays is not None and zlib.crc32(np.ascontiguousarray(arrays[row]).data.cast("B")) != self._checksums[row]:
                raise self._damaged(f"row {row} of its arrays is not as it was written")
        self._checked_rows.update(fresh)
        return np.asarray(rows, dtype=np.int64)

    def arrays(self) -> npt.NDArray[Any]:
        """All arrays, [rows, ...], memory-mapped."""
        if not self._rows or self._kind is None:
            return np.zeros((0, *self._frontend.shape), dtype=np.float32)
        shape = (self._length, *self._frontend.shape)
        return np.memmap(self._folder / "arrays", dtype=self._kind, mode="r", shape=shape)

    def fill(self, files: Mapping[str, Media], progress: Callable[[int], None] = lambda count: None) -> None:
        """Add the arrays of files, given by their contents, that are not there yet. progress: is told how many are there."""
        if all(content in self for content in files):
            return
        with self._alone():
            missing = [content for content in files if content not in self]
            for start in range(0, len(missing), _TOGETHER):
                some = missing[start : start + _TOGETHER]
                arrays = self._frontend.arrays([files[content] for content in some])
                self._append(some, [self._checked(array) for array in arrays])
                progress(len(files) - len(missing) + start + len(some))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep others from adding rows; what they added meanwhile counts, and half a row that a kill left behind goes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with open_to_append(self._folder / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._look()
            if self._kind is not None:
                for name, width in (("arrays", self._row_bytes), ("contents", _ENTRY_BYTES)):
                    with open_to_append(self._folder / name) as stream:
                        stream.truncate(self._length * width)
            yield

    def _checked(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if array.shape != self._frontend.shape:
            raise TypeError(f"the frontend {self._frontend.key} made an array {array.shape}, not {self._frontend.shape}")
        if self._kind is None:
            self._kind = array.dtype
            for name in ("arrays", "contents"):
                (self._folder / name).touch()
            facts = {"key": self._frontend.key, "shape": self._frontend.shape, "kind": str(array.dtype)}
            (self._folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
        return array.astype(self._kind, copy=False)

    def _append(self, contents: Sequence[str], arrays: Sequence[npt.NDArray[Any]]) -> None:
        checksums = []
        with open_to_append(self._folder / "arrays") as stream:
            for array in arrays:
                row = np.ascontiguousarray(array).tobytes()
                checksums.append(zlib.crc32(row))
                stream.write(row)
        entries = zip(contents, checksums, strict=True)
        with open_to_append(self._folder / "contents") as stream:
            stream.write(b"".join(bytes.fromhex(content) + checksum.to_bytes(4, "little") for content, checksum in entries))
        for content, checksum in zip(contents, checksums, strict=True):
            self._rows[content] = self._length
            self._checksums[self._length] = checksum
            self._length += 1


class StoredFrontend:
    """A frontend that looks into its store first: what was seen once need not be computed again to be judged by."""

    def __init__(self, frontend: Frontend) -> None:
        self.frontend = frontend
        self.store = MediaStore(frontend)
        self._contents: dict[tuple[str, int, int], str] = {}

    @property
    def key(self) -> str:
        """That of the frontend itself."""
        return self.frontend.key

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the frontend itself."""
        return self.frontend.shape

    def arrays(self, files: Sequence[Media]) -> Iterator[npt.NDArray[Any]]:
        """An array for each file; those that the store lacks are computed, and not kept."""
        contents = [self._content(media) for media in files]
        pairs = zip(files, contents, strict=True)
        computed = iter(self.frontend.arrays([media for media, content in pairs if content not in self.store]))
        kept = self.store.arrays()
        for content in contents:
            yield np.asarray(kept[self.store.rows([content])[0]]) if content in self.store else next(computed)

    def keep(self, files: Sequence[Media]) -> None:
        """Add the arrays of files to the store. A cache that cannot be written is none: they are computed anew then."""
        with suppress(OSError):
            self.store.fill({self._content(media): media for media in files})

    def _content(self, media: Media) -> str:
        """The hash of a file's content. Every validation asks for the same files, so they are read once."""
        key = (media.where, media.size, media.stamp)
        if key not in self._contents:
            self._contents[key] = media.content_hash
        return self._contents[key]


@dataclass(frozen=True)
class MediaSide:
    """The files of a split's examples. numbers [N]: which file; rows: where the store has each; arrays: the store's."""

    numbers: IntArray
    rows: IntArray
    arrays: npt.NDArray[Any]

    def batch(self, examples: IntArray) -> Padded:
        """The arrays of some examples."""
        return as_padded(self.arrays[self.rows[self.numbers[examples]]])


def as_padded(arrays: npt.NDArray[Any]) -> Padded:
    """Arrays of a frontend [B, ...] as a model reads them: with positions on the second axis; what is no pixel is float32."""
    values = arrays if arrays.dtype == np.uint8 else arrays.astype(np.float32, copy=False)
    positions = positions_of(arrays.shape[1:])
    whole = values if arrays.ndim == 3 else values[:, None]
    return Padded(whole, np.full(len(arrays), positions, dtype=np.int64))
