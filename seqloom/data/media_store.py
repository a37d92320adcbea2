"""What frontends made of files, kept for good: arrays by the content of the file, shared by all corpora and runs.

One folder per frontend: `arrays`, one row after the other, and `contents`, the hash of each row's file. Both only grow, a row
before its hash, so that a kill at any moment leaves whole rows, and the next one goes on from there.
"""

import fcntl
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.batches import IntArray, Padded
from seqloom.data.cache import cache_folder
from seqloom.data.media import Frontend, Media, positions_of
from seqloom.errors import DataError

_VERSION = 1
_HASH_BYTES = 16
_TOGETHER = 64
"""So many arrays are made before they are written down: more would be lost with a kill."""


class MediaStore:
    """The arrays of one frontend. Others may add rows while it is open; rows that are there never change."""

    def __init__(self, frontend: Frontend) -> None:
        name = hashlib.sha256(frontend.key.encode()).hexdigest()[:32]
        self._frontend = frontend
        self._folder = cache_folder() / "media" / f"{name}-{_VERSION}"
        self._rows: dict[str, int] = {}
        self._kind: np.dtype[Any] | None = None
        self._look()

    def _look(self) -> None:
        """Take note of the rows that are there."""
        if not (self._folder / "facts.json").exists():
            return
        facts = json.loads((self._folder / "facts.json").read_text(encoding="utf-8"))
        if facts["key"] != self._frontend.key or tuple(facts["shape"]) != self._frontend.shape:
            raise DataError(f"{self._folder}: holds arrays of something else. Delete this folder; it will be made again")
        self._kind = np.dtype(facts["kind"])
        contents = (self._folder / "contents").read_bytes()
        whole = min(len(contents) // _HASH_BYTES, (self._folder / "arrays").stat().st_size // self._row_bytes)
        for row in range(len(self._rows), whole):
            self._rows[contents[row * _HASH_BYTES : (row + 1) * _HASH_BYTES].hex()] = row

    @property
    def _row_bytes(self) -> int:
        return int(np.prod(self._frontend.shape)) * (0 if self._kind is None else self._kind.itemsize)

    def __contains__(self, content_hash: str) -> bool:
        return content_hash in self._rows

    def rows(self, hashes: Sequence[str]) -> IntArray:
        """In which rows the arrays of these contents are."""
        return np.asarray([self._rows[one] for one in hashes], dtype=np.int64)

    def arrays(self) -> npt.NDArray[Any]:
        """All arrays, [rows, ...], memory-mapped."""
        if not self._rows or self._kind is None:
            return np.zeros((0, *self._frontend.shape), dtype=np.float32)
        shape = (len(self._rows), *self._frontend.shape)
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
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._look()
            if self._kind is not None:
                for name, width in (("arrays", self._row_bytes), ("contents", _HASH_BYTES)):
                    with (self._folder / name).open("r+b") as stream:
                        stream.truncate(len(self._rows) * width)
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
        with (self._folder / "arrays").open("ab") as stream:
            for array in arrays:
                stream.write(np.ascontiguousarray(array).tobytes())
        with (self._folder / "contents").open("ab") as stream:
            stream.write(b"".join(map(bytes.fromhex, contents)))
        for content in contents:
            self._rows[content] = len(self._rows)


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
