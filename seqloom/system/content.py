"""Hashes of what files hold. Whoever reads a file to its end knows its hash, and nobody has to read it again for that."""

import hashlib
import io
import os
from pathlib import Path

from seqloom.system.files import open_regular

_BLOCK = 1 << 18
_Identity = tuple[int, int, int, int]
_known: dict[_Identity, str] = {}
"""By device, number, size and time of the last change: a file that is written anew is another one."""


def content_hash(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal digits."""
    identity = _identity(path.stat())
    if identity not in _known:
        with open_regular(path) as stream:
            _known[identity] = hashlib.file_digest(stream, "sha256").hexdigest()
    return _known[identity]


def hashed(stream: io.BufferedReader) -> io.BufferedReader:
    """The same regular file, whose hash is known once it is read to its end."""
    return io.BufferedReader(_Hashed(stream), _BLOCK)


class _Hashed(io.RawIOBase):
    """Hashes what passes through."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self._identity = _identity(os.fstat(stream.fileno()))
        self._left = self._identity[2]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        count = self._stream.readinto(buffer)
        self._digest.update(memoryview(buffer)[:count])
        self._left -= count
        if not count and not self._left and _identity(os.fstat(self._stream.fileno())) == self._identity:
            _known[self._identity] = self._digest.hexdigest()
        return count

    def fileno(self) -> int:
        return self._stream.fileno()

    def close(self) -> None:
        self._stream.close()
        super().close()


def _identity(facts: os.stat_result) -> _Identity:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns
