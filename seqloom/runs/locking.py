"""One training at a time in a run folder."""

import fcntl
import os
from pathlib import Path
from typing import IO

from seqloom.errors import RunError


def lock(stream: IO[bytes], path: Path) -> None:
    """Take the lock of a run, or say who holds it."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as problem:
        stream.seek(0)
        holder = stream.read(40).decode(errors="replace").strip() or "unknown"
        raise RunError(
            f"{path}: is being trained by another process ({holder}). Wait for it to end, stop it, or choose another --out"
        ) from problem
    stream.truncate(0)
    stream.write(f"process {os.getpid()}".encode())
    stream.flush()
