"""Files that are written whole or not at all: beside their place, flushed, and renamed into it."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from seqloom.errors import WriteError
from seqloom.system.files import Found, RefusedError, create, found_at


def write_file(path: Path, content: bytes) -> None:
    """Write a file that a user asked for, whole or not at all."""
    with open_file(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that a user asked for; it takes its place when all is written, and whatever fails leaves the old one."""
    with writing(path, kept=""):
        path.parent.mkdir(parents=True, exist_ok=True)
        if (found := found_at(path)) not in (Found.FILE, Found.NOTHING):
            raise RefusedError(f"expected a place for a file, found {found}", path)
        # Not the name that a run's own files use: two processes may write one report, and only one may train a run.
        with _replacing(path, path.with_name(f".{path.name}.{os.getpid()}.draft")) as stream:
            yield stream


@contextlib.contextmanager
def writing(path: Path, *, kept: str = "What was saved before is still valid. ") -> Iterator[None]:
    """Turn failures of the file system into a sentence. kept: what a run still has."""
    try:
        yield
    except BrokenPipeError:  # standard output has lost its reader while a file was open: not this file's trouble
        raise
    except OSError as problem:
        raise WriteError(
            f"{path}: could not be written ({problem.strerror or problem}). {kept}Check the space and the permissions"
        ) from problem


@contextlib.contextmanager
def _synced(path: Path) -> Iterator[IO[bytes]]:
    with create(path) as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def write_synced(path: Path, content: bytes) -> None:
    """Write a new file, down to the disk."""
    with _synced(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def _replacing(path: Path, draft: Path) -> Iterator[IO[bytes]]:
    """Write a draft beside the goal and rename it."""
    try:
        with _synced(draft) as stream:
            yield stream
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Write one of a run's own files anew, whole or not at all."""
    with _replacing(path, path.with_name(f".{path.name}.draft")) as stream:
        stream.write(content)
