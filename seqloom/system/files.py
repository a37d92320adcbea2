"""Files that others may have made, opened with care: the one way in, and the one way to write beside them.

A run folder, a cache, an archive or a data set may come from a stranger. In the place of a file it may hold a named pipe, on
which a reader waits for ever, a device that never ends, or a link to something that is none of its business. What is opened
here is looked at once it is open, so that nothing can take its place in between.
"""

import contextlib
import errno
import io
import os
import stat
from enum import StrEnum
from pathlib import Path

Place = str | os.PathLike[str]

LARGEST_DOCUMENT = 16 << 20
"""The largest small document that is read, in bytes: run.json, counters, what a cache says of itself."""
LARGEST_VOCABULARY = 256 << 20
"""The largest vocabulary: a million words take about 30 MB."""
LARGEST_RECORDS = 256 << 20
"""The largest metrics.jsonl: two million entries."""
LARGEST_WEIGHTS = 4 << 30
"""The largest file of weights: a thousand million parameters."""
LARGEST_FILE = 1 << 30
"""The largest picture or recording; a member of an archive may say that it unpacks to more than fits anywhere."""
LARGEST_TABLE = 1 << 40
"""The largest file that is not read as a whole: tables, archives and memory-mapped arrays."""

# O_NONBLOCK: opening a pipe would wait for someone to write to it.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class RefusedError(OSError):
    """A file that is not used because of what it is. `strerror` says why, and fits into a sentence."""

    def __init__(self, reason: str, path: Place) -> None:
        super().__init__(errno.EPERM, reason, os.fspath(path))

    def __str__(self) -> str:
        return str(self.strerror)


class Found(StrEnum):
    """What is at a path, as a sentence says it after "found"."""

    NOTHING = "nothing there"
    FILE = "a file"
    FOLDER = "a folder"
    PIPE = "a named pipe"
    SOCKET = "a socket"
    DEVICE = "a device"
    CLOSED = "no permission to look there"
    OVERLONG = "a name that is too long for a file"
    LOOP = "a link that leads to itself"

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self is Found.CLOSED:
            return "Check the permissions of the folders that lead there"
        return "Check the path"


_KINDS = (
    (stat.S_ISREG, Found.FILE),
    (stat.S_ISDIR, Found.FOLDER),
    (stat.S_ISFIFO, Found.PIPE),
    (stat.S_ISSOCK, Found.SOCKET),
    (stat.S_ISCHR, Found.DEVICE),
    (stat.S_ISBLK, Found.DEVICE),
)
_FAILURES = {
    errno.EACCES: Found.CLOSED,
    errno.EPERM: Found.CLOSED,
    errno.ENAMETOOLONG: Found.OVERLONG,
    errno.ELOOP: Found.LOOP,
}


def found_at(path: Place) -> Found:
    """What is at a path, links followed. Never fails, whatever the path is."""
    try:
        return _kind(Path(path).stat())
    except OSError as problem:
        return _FAILURES.get(problem.errno or 0, Found.NOTHING)
    except ValueError:  # a NUL inside
        return Found.NOTHING


def open_regular(path: Place, *, limit: int = LARGEST_TABLE, inside: Place | None = None) -> io.BufferedReader:
    """Open a regular file of at most `limit` bytes; `inside`: a folder that no link may lead out of.

    Raises OSError, and RefusedError for anything that is no such file.
    """
    try:
        descriptor = os.open(path if inside is None else _real(path, inside), _READ | (0 if inside is None else os.O_NOFOLLOW))
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            raise RefusedError("expected a regular file, found a socket", path) from problem
        raise
    try:
        _require_regular(os.fstat(descriptor), path, limit)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_regular(path: Place, *, limit: int, inside: Place | None = None) -> bytes:
    """The content of a regular file, as `open_regular` finds it."""
    with open_regular(path, limit=limit, inside=inside) as stream:
        # Not limit + 1: Python would set all of that aside.
        content = stream.read(os.fstat(stream.fileno()).st_size + 1)
    if len(content) > limit:
        raise _too_large(path, len(content), limit)
    return content


def require_regular(path: Place, *, inside: Place | None = None) -> None:
    """Refuse what `open_regular` would refuse: for libraries that open files by their names."""
    open_regular(path, inside=inside).close()


def open_stream(path: Place) -> io.BufferedReader:
    """Open what a person named on a command line to be read from its beginning to its end.

    That may be a pipe on purpose, as in `predict RUN <(zcat lines.gz)`, or a terminal. Other devices are refused: they have
    no lines, and many no end.
    """
    # Opened once, and waiting for the one who writes: to look first and open again would lose what is written in between.
    waits = stat.S_ISFIFO(Path(path).stat().st_mode)
    descriptor = os.open(path, _READ & ~os.O_NONBLOCK if waits else _READ)
    try:
        facts = os.fstat(descriptor)
        typed = stat.S_ISCHR(facts.st_mode) and (os.isatty(descriptor) or _is_null(facts))
        if typed or stat.S_ISFIFO(facts.st_mode):
            os.set_blocking(descriptor, True)
        else:
            _require_regular(facts, path, LARGEST_TABLE)
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


# --- writing --------------------------------------------------------------------------------------------------------


def create(path: Place) -> io.BufferedWriter:
    """Open a new file in the place of whatever is there. A link is replaced, never followed."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 (so that tests see one set of system calls)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb")


def open_to_append(path: Place) -> io.BufferedRandom:
    """Open a regular file for reading and for adding to its end, made if need be. A link is refused."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise RefusedError("expected a regular file, found a link", path) from problem
        raise
    try:
        _require_regular(os.fstat(descriptor), path, LARGEST_TABLE)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "a+b")


def make_folder(path: Path) -> Path:
    """Make a folder if it is not there. A link in its place is refused: what is deleted inside would be gone elsewhere."""
    if path.is_symlink():
        raise RefusedError("expected a folder, found a link", path)
    path.mkdir(exist_ok=True)
    return path


# --- what is what ---------------------------------------------------------------------------------------------------


def _kind(facts: os.stat_result) -> Found:
    return next((found for is_kind, found in _KINDS if is_kind(facts.st_mode)), Found.DEVICE)


def _require_regular(facts: os.stat_result, path: Place, limit: int) -> None:
    if not stat.S_ISREG(facts.st_mode):
        raise RefusedError(f"expected a regular file, found {_kind(facts)}", path)
    if facts.st_size > limit:
        raise _too_large(path, facts.st_size, limit)


def _too_large(path: Place, size: int, limit: int) -> RefusedError:
    return RefusedError(f"expected at most {limit:,} bytes, found {size:,}", path)


def _real(path: Place, folder: Place) -> str:
    """The path with all links followed, if that is inside the folder."""
    root, real = os.path.realpath(folder), os.path.realpath(path)
    if not real.startswith(os.path.join(root, "")):  # noqa: PTH118 (a text that ends in a slash)
        raise RefusedError(f"it leads out of {os.fspath(folder)}", path)
    return real


def _is_null(facts: os.stat_result) -> bool:
    with contextlib.suppress(OSError):
        return facts.st_rdev == Path(os.devnull).stat().st_rdev
    return False
