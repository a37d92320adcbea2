"""Sources that are files: images, recordings, videos.

In an example such a source is the name of a file, as it stands in the table. A `MediaRoot` says where names begin: a folder,
or an archive, whose members are read in place and never unpacked. A `Frontend` makes arrays of what the names stand for.
"""

import hashlib
import io
import os
import tarfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import Origin, abbreviated
from seqloom.errors import DataError
from seqloom.system.files import LARGEST_FILE, Found, RefusedError, found_at, open_regular, read_regular

_COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tbz", ".tar.xz", ".txz", ".tar.zst")


class MediaError(DataError):
    """A file that is not there or cannot be read. The text says nothing of the place that named it: callers put it before.

    code: what is wrong, stable; None if the file is not there.
    """

    code: str | None = None


@dataclass(frozen=True)
class Media:
    """A file that exists: what the table calls it, where it is, and how many bytes it has.

    stamp: changes when the file is written anew; like `size`, it is known without reading the file.
    """

    name: str
    where: str
    size: int
    stamp: int
    reader: Callable[[], bytes]

    def read(self) -> bytes:
        """The whole file."""
        if self.size > LARGEST_FILE:
            raise MediaError(f"{self.where}: expected a file of at most {LARGEST_FILE:,} bytes, found {self.size:,}")
        try:
            return self.reader()
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError) as problem:
            raise MediaError(f"{self.where}: could not be read ({problem}). Check the file") from problem

    @cached_property
    def content_hash(self) -> str:
        """A hash of the content alone, 32 hexadecimal digits: copies under other names have the same."""
        return hashlib.blake2b(self.read(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Drawing(Media):
    """A picture that is made when it is wanted, and as well in another size. To whoever reads it, it is a file like others.

    draw: makes it so many pixels wide and high, [side, side, 3].
    """

    draw: Callable[[int], npt.NDArray[np.uint8]]


@dataclass(frozen=True)
class Handed(Media):
    """A file that was handed over, and is gone with whoever asked: nothing is remembered of it."""


class HandedFile(str):
    """The name of a file that is handed over with its content, wherever the name of one may stand; no disk is looked at."""

    content: bytes

    @classmethod
    def of(cls, name: str, content: bytes) -> "HandedFile":
        """A file with this content. name: what it is called in messages."""
        handed = cls(name)
        handed.content = content
        return handed

    def media(self) -> Media:
        """The file."""
        return Handed(str(self), str(self), len(self.content), 0, lambda: self.content)


@dataclass(frozen=True)
class DrawnFilm(Media):
    """Moving pictures that are made when they are wanted, and as well in another size.

    draw: makes all frames so many pixels wide and high, [frames, side, side, 3].
    """

    draw: Callable[[int], npt.NDArray[np.uint8]]


@dataclass(frozen=True)
class FrameFolder(Media):
    """A folder whose pictures are the frames of a video, in the order of their names."""

    frames: tuple[Media, ...] = ()

    @cached_property
    def content_hash(self) -> str:
        """A hash of what all of its pictures hold, in their order."""
        return hashlib.blake2b("".join(one.content_hash for one in self.frames).encode(), digest_size=16).hexdigest()


FILMED = "moves:"
"""How names of moving pictures begin that are drawn from a number, wherever a video file may be named."""


@dataclass(frozen=True)
class PlayedSound(Media):
    """A sound that is made when it is wanted, and as well at another rate. To whoever reads it, it is a file like others.

    seconds: how long it is. play: makes it at so many samples a second, [N].
    """

    seconds: float
    play: Callable[[float], npt.NDArray[np.float32]]


PLAYED = "tones:"
"""How names of sounds begin that are made from a number, wherever a sound file may be named."""

DRAWN = "scene:"
"""How names of pictures begin that are drawn from a number, wherever an image file may be named."""


class Frontend(Protocol):
    """Makes an array of what a source names: the pixels of an image, or what a frozen network says of them."""

    @property
    def key(self) -> str:
        """Says all that arrays depend on beside the file: two frontends with equal keys give equal arrays."""
        ...

    @property
    def row(self) -> tuple[int, ...]:
        """The shape of one position: F numbers, or the pixels of a whole picture."""
        ...

    def arrays(self, files: Sequence[Media]) -> Iterator[npt.NDArray[Any]]:
        """For each file its rows [L, *row], in the order of files; several may be computed at once.

        Raises `MediaError` for a bad file.
        """
        ...


class MediaRoot(ABC):
    """Where the names of files begin."""

    @staticmethod
    def open(root: str | os.PathLike[str]) -> "MediaRoot":
        """Open a folder, a .zip or a .tar. No name leads out of it."""
        path = Path(root)
        found = found_at(path)
        if found is Found.FOLDER:
            return _Folder(path, confined=True)
        if found is not Found.FILE:
            raise DataError(f"{path}: expected a folder of files, a .zip or a .tar, found {found}. {found.advice}")
        if path.name.lower().endswith(_COMPRESSED):
            raise DataError(
                f"{path}: a compressed .tar has to be unpacked to find a file in it. Make it a .zip or a plain .tar"
            )
        try:
            stream = open_regular(path)
            if zipfile.is_zipfile(stream):
                return _Zip(path, stream)
            stream.seek(0)
            if tarfile.is_tarfile(stream):
                return _Tar(path, stream)
            stream.close()
        except (OSError, tarfile.TarError, zipfile.BadZipFile, NotImplementedError, ValueError) as problem:
            raise DataError(f"{path}: could not be read ({problem}). Copy or download it again") from problem
        raise DataError(f"{path}: expected a folder of files, a .zip or a .tar, found something else. Check the path")

    @staticmethod
    def beside(table: str | os.PathLike[str]) -> "MediaRoot":
        """The folder of a table that names files; like a person, the table may name any file, by a whole path too."""
        return _Folder(Path(table).parent, confined=False)

    @abstractmethod
    def resolve(self, name: str) -> Media:
        """The file of a name. Raises `MediaError` if there is none."""

    def names_in(self, folder: str) -> list[str] | None:  # noqa: ARG002 (what is drawn has no folders)
        """The names of the files directly in a folder, in no order; None if there is no such folder."""
        return None


@dataclass(frozen=True)
class _Folder(MediaRoot):
    """Files under a folder. confined: names that lead out of it are refused."""

    path: Path
    confined: bool

    def resolve(self, name: str) -> Media:
        """The file of a name. Links are followed, but not out of a folder that names are confined to."""
        if self.confined:
            _require_inside(name, self.path)
        path = self.path / name
        root = self.path if self.confined else None
        try:
            with open_regular(path, inside=root) as stream:
                facts = os.fstat(stream.fileno())
        except RefusedError as problem:
            raise MediaError(f"{str(path)!r} is no file to read: {problem}. Check the name") from problem
        except (OSError, ValueError) as problem:  # ValueError: a NUL inside
            found = found_at(path)
            raise MediaError(
                f"expected a file {str(path)!r}, found {'one without permission' if found is Found.FILE else found}. "
                "Check the name, and where names begin"
            ) from problem
        read = partial(read_regular, path, limit=LARGEST_FILE, inside=root)
        return Media(name, str(path), facts.st_size, facts.st_mtime_ns, read)

    def names_in(self, folder: str) -> list[str] | None:
        """The names of the files directly in a folder."""
        if self.confined:
            _require_inside(folder, self.path)
        path = self.path / folder
        if found_at(path) is not Found.FOLDER:
            return None
        return [f"{folder.rstrip('/')}/{one.name}" for one in path.iterdir() if one.is_file()]


class _Zip(MediaRoot):
    """Members of a .zip, read in place."""

    def __init__(self, path: Path, stream: io.BufferedReader) -> None:
        self._path = path
        self._stamp = os.fstat(stream.fileno()).st_mtime_ns
        self._archive = zipfile.ZipFile(stream)
        self._members = {info.filename: info for info in self._archive.infolist() if not info.is_dir()}

    def resolve(self, name: str) -> Media:
        """The member of a name."""
        member = _member(name, self._members, self._path)
        # Opened by what the index says, not by name: two members may share one.
        return Media(name, f"{self._path}: {name}", member.file_size, self._stamp, lambda: self._archive.read(member))

    def names_in(self, folder: str) -> list[str] | None:
        """The names of the members directly in a folder."""
        return _inside(folder, self._members)


class _Tar(MediaRoot):
    """Members of a .tar, read in place. Links are no members: they could lead anywhere."""

    def __init__(self, path: Path, stream: io.BufferedReader) -> None:
        self._path = path
        self._stamp = os.fstat(stream.fileno()).st_mtime_ns
        stream.seek(0)
        with stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            self._members = {member.name: member for member in archive if member.isreg() and not member.issparse()}

    def resolve(self, name: str) -> Media:
        """The member of a name."""
        member = _member(name, self._members, self._path)
        return Media(name, f"{self._path}: {name}", member.size, self._stamp, lambda: self._read(member))

    def names_in(self, folder: str) -> list[str] | None:
        """The names of the members directly in a folder."""
        return _inside(folder, self._members)

    def _read(self, member: tarfile.TarInfo) -> bytes:
        with open_regular(self._path) as stream:
            stream.seek(member.offset_data)
            content = stream.read(member.size)
        if len(content) < member.size:
            raise EOFError("the archive ends before the file does")
        return content


_Info = TypeVar("_Info", zipfile.ZipInfo, tarfile.TarInfo)


def _member(name: str, members: dict[str, _Info], path: Path) -> _Info:
    _require_inside(name, path)
    for spelling in (name, f"./{name}", str(PurePosixPath(name))):
        if spelling in members:
            return members[spelling]
    raise MediaError(f"expected a member {name!r} of {path}, found none of this name among {len(members):,}. Check the name")


def _inside(folder: str, members: Iterable[str]) -> list[str] | None:
    """The members directly in a folder of an archive, which has no folders but in names."""
    start = folder.strip("/") + "/"
    return [name for name in members if name.removeprefix("./").rpartition("/")[0] + "/" == start] or None


def _require_inside(name: str, root: Path) -> None:
    if not name.strip() or name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts:
        raise MediaError(f"expected the name of a file inside {root}, found {abbreviated(name)}. Give it relative to the root")


class MediaFinder:
    """Finds the files that the examples of one source name.

    Names in a table begin at the recipe's root, or at the folder of the table without one. What a person names directly, in
    Python or on a command line, begins at the working folder.
    """

    def __init__(self, root: str | None) -> None:
        self._place = root
        self._root: MediaRoot | None = None
        self._folders: dict[str, MediaRoot] = {}

    def find(self, name: str, origin: Origin) -> Media:
        """The file that an example from the given place names. Raises `MediaError` if there is none."""
        if isinstance(name, HandedFile):
            return name.media()
        return self._root_of(origin).resolve(name)

    def files_in(self, folder: str, origin: Origin) -> list[Media] | None:
        """The files directly in a folder that an example names, in no order; None if there is no such folder."""
        if isinstance(folder, HandedFile):
            return None
        root = self._root_of(origin)
        names = root.names_in(folder)
        return None if names is None else [root.resolve(name) for name in names]

    def _root_of(self, origin: Origin) -> MediaRoot:
        if self._place is not None and origin.is_table:
            self._root = self._root or MediaRoot.open(self._place)
            return self._root
        folder = str(Path(origin.file).parent)
        if folder not in self._folders:
            self._folders[folder] = MediaRoot.beside(origin.file)
        return self._folders[folder]
