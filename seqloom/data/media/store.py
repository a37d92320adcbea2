"""What frontends made of files, kept for good: rows by the content of the file, shared by all corpora and runs.

One folder per frontend: `arrays`, the rows of one file after those of the other, and `contents`, for each file the hash of its
content, a checksum of its rows and how many there are. Both only grow, rows before their hash, so that a kill at any moment
leaves whole files, and the next one goes on from there.
"""

import fcntl
import hashlib
import json
import math
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import IntArray, Padded
from seqloom.data.cache import cache_folder
from seqloom.data.media.files import Frontend, Handed, Media
from seqloom.errors import DataError
from seqloom.system.files import LARGEST_RECORDS, open_to_append, read_regular, require_regular
from seqloom.system.json_parsing import parse_object

_VERSION = 3
_ENTRY = struct.Struct("<16sII")
"""Of each file: the hash of its content, the checksum of its rows, and how many rows there are."""
_TOGETHER = 64
"""So many files are read before their rows are written down: more would be lost with a kill."""


@dataclass(frozen=True)
class _Kept:
    """The rows of one file, from `start` to before `end`."""

    start: int
    end: int
    checksum: int


class MediaStore:
    """The rows of one frontend. Others may add files while it is open; what is there never changes."""

    def __init__(self, frontend: Frontend) -> None:
        name = hashlib.sha256(frontend.key.encode()).hexdigest()[:32]
        self._frontend = frontend
        self._folder = cache_folder() / "media" / f"{name}-{_VERSION}"
        self._files: dict[str, _Kept] = {}
        self._checked: set[str] = set()
        self._length = 0
        self._kind: np.dtype[Any] | None = None
        self._take_note()

    def _take_note(self) -> None:
        """See which files are there."""
        if not (self._folder / "facts.json").exists():
            return
        try:
            facts = parse_object(self._inside("facts.json"), {"key": str, "row": list, "kind": str})
            kind = np.dtype(facts["kind"])
            contents = self._inside("contents")
            require_regular(self._folder / "arrays", inside=self._folder)
        except (OSError, ValueError, TypeError) as problem:
            raise self._damaged(str(problem)) from problem
        if facts["key"] != self._frontend.key or tuple(facts["row"]) != self._frontend.row or kind.hasobject:
            raise self._damaged("it holds arrays of something else")
        self._kind = kind
        there = (self._folder / "arrays").stat().st_size // self._row_bytes
        entries = contents[len(self._files) * _ENTRY.size : len(contents) // _ENTRY.size * _ENTRY.size]
        for content, checksum, rows in _ENTRY.iter_unpack(entries):
            if self._length + rows > there:
                return
            self._enter(content.hex(), checksum, rows)

    def _enter(self, content: str, checksum: int, rows: int) -> None:
        self._files[content] = _Kept(self._length, self._length + rows, checksum)
        self._length += rows

    def _inside(self, name: str) -> bytes:
        return read_regular(self._folder / name, limit=LARGEST_RECORDS, inside=self._folder)

    def _damaged(self, reason: str) -> DataError:
        return DataError(f"{self._folder}: is damaged: {reason}. Delete this folder; it will be made again")

    @property
    def _row_bytes(self) -> int:
        return math.prod(self._frontend.row) * (0 if self._kind is None else self._kind.itemsize)

    def __contains__(self, content_hash: str) -> bool:
        return content_hash in self._files

    def spans(self, hashes: Sequence[str]) -> IntArray:
        """Where the rows of these contents begin and end, [N, 2], each checked against its checksum once."""
        fresh = [content for content in dict.fromkeys(hashes) if content not in self._checked]
        rows = self.rows() if fresh else None
        for kept in (self._files[content] for content in fresh):
            if rows is not None and _checksum(rows[kept.start : kept.end]) != kept.checksum:
                raise self._damaged(f"row {kept.start} of its arrays is not as it was written")
        self._checked.update(fresh)
        spans = [(self._files[one].start, self._files[one].end) for one in hashes]
        return np.asarray(spans, dtype=np.int64).reshape(-1, 2)

    def rows(self) -> npt.NDArray[Any]:
        """The rows of all files, [N, *row], memory-mapped."""
        if not self._length or self._kind is None:
            return np.zeros((0, *self._frontend.row), dtype=np.float32)
        return np.memmap(self._folder / "arrays", dtype=self._kind, mode="r", shape=(self._length, *self._frontend.row))

    def fill(self, files: Mapping[str, Media], progress: Callable[[int], None] = lambda count: None) -> None:
        """Add the rows of files, given by their contents, that are not there yet. progress: is told how many are there."""
        if all(content in self for content in files):
            return
        with self._alone():
            missing = [content for content in files if content not in self]
            for start in range(0, len(missing), _TOGETHER):
                some = missing[start : start + _TOGETHER]
                arrays = self._frontend.arrays([files[content] for content in some])
                self._append(some, [self._fitting(array) for array in arrays])
                progress(len(files) - len(missing) + start + len(some))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep others from adding files; what they added meanwhile counts, and half a file that a kill left behind goes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with open_to_append(self._folder / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._take_note()
            if self._kind is not None:
                sizes = {"arrays": self._length * self._row_bytes, "contents": len(self._files) * _ENTRY.size}
                for name, size in sizes.items():
                    with open_to_append(self._folder / name) as stream:
                        stream.truncate(size)
            yield

    def _fitting(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if array.shape[1:] != self._frontend.row:
            raise TypeError(f"the frontend {self._frontend.key} made rows {array.shape[1:]}, not {self._frontend.row}")
        if self._kind is None:
            self._kind = array.dtype
            for name in ("arrays", "contents"):
                (self._folder / name).touch()
            facts = {"key": self._frontend.key, "row": self._frontend.row, "kind": str(array.dtype)}
            (self._folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
        return np.ascontiguousarray(array, dtype=self._kind)

    def _append(self, contents: Sequence[str], arrays: Sequence[npt.NDArray[Any]]) -> None:
        with open_to_append(self._folder / "arrays") as stream:
            for array in arrays:
                stream.write(array.tobytes())
        entries = [(content, _checksum(array), len(array)) for content, array in zip(contents, arrays, strict=True)]
        with open_to_append(self._folder / "contents") as stream:
            stream.write(b"".join(_ENTRY.pack(bytes.fromhex(content), *rest) for content, *rest in entries))
        for entry in entries:
            self._enter(*entry)


def _checksum(rows: npt.NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(rows).view(np.uint8).data) if rows.size else 0


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

    def arrays(self, files: Sequence[Media]) -> Iterator[npt.NDArray[Any]]:
        """The rows of each file; those that the store lacks are computed, and not kept."""
        contents = [self._content(media) for media in files]
        pairs = zip(files, contents, strict=True)
        computed = iter(self.frontend.arrays([media for media, content in pairs if content not in self.store]))
        kept = self.store.rows()
        for content in contents:
            yield np.asarray(kept[slice(*self.store.spans([content])[0])]) if content in self.store else next(computed)

    def keep(self, files: Sequence[Media]) -> None:
        """Add the rows of files to the store. A cache that cannot be written is none: they are computed anew then."""
        with suppress(OSError):
            self.store.fill({self._content(media): media for media in files if not isinstance(media, Handed)})

    def _content(self, media: Media) -> str:
        """The hash of a file's content. Every validation asks for the same files, so they are read once."""
        if isinstance(media, Handed):
            return media.content_hash
        key = (media.where, media.size, media.stamp)
        if key not in self._contents:
            self._contents[key] = media.content_hash
        return self._contents[key]


@dataclass(frozen=True)
class MediaSide:
    """The files of a split's examples. numbers [N]: which file; spans: where its rows are among all `rows` of the store.

    variants: the same files in other forms to learn from, of which one is drawn each time; nothing if there is this form alone.
    in_time: whether rows lie in time, so that they are what a batch costs.
    """

    numbers: IntArray
    spans: IntArray
    rows: npt.NDArray[Any]
    variants: "Sequence[MediaSide]" = ()
    in_time: bool = False

    @property
    def lengths(self) -> IntArray:
        """How many rows the file of each example has."""
        lengths: IntArray = np.diff(self.spans[self.numbers], axis=1)[:, 0]
        return lengths

    def batch(self, examples: IntArray) -> Padded:
        """The rows of some examples, padded."""
        return Padded.of_parts(self.rows, *self.spans[self.numbers[examples]].T)

    def drawn(self, examples: IntArray, random: np.random.Generator) -> Padded:
        """The rows of some examples, each in a form that is drawn."""
        if not self.variants:
            return self.batch(examples)
        forms = random.integers(len(self.variants), size=len(examples))
        chosen = [(self.variants[form], number) for form, number in zip(forms, self.numbers[examples], strict=True)]
        return Padded.of([side.rows[slice(*side.spans[number])] for side, number in chosen])
