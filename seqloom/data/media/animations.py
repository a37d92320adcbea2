"""Moving pictures as animated PNG, with nothing but zlib: nothing is lost, and browsers play it."""

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

PACE = 5
"""How many frames a second has, unless it is said."""


def apng(frames: npt.NDArray[np.uint8], pace: int = PACE) -> bytes:
    """Frames [L, height, width, 3] as an animated PNG, which loses nothing and which browsers play."""
    header = struct.pack(">IIBBBBB", frames.shape[2], frames.shape[1], 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"acTL", struct.pack(">II", len(frames), 0)), *_frames(frames, pace), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )


def _frames(frames: npt.NDArray[np.uint8], pace: int) -> Iterator[tuple[bytes, bytes]]:
    """Every frame after what says how long it is shown; all these are counted, but for the pixels of the first."""
    number = 0
    for index, frame in enumerate(frames):
        yield b"fcTL", struct.pack(">IIIIIHHBB", number, frame.shape[1], frame.shape[0], 0, 0, 1, pace, 0, 0)
        pixels = zlib.compress(b"".join(b"\0" + row.tobytes() for row in frame))
        yield (b"IDAT", pixels) if index == 0 else (b"fdAT", struct.pack(">I", number + 1) + pixels)
        number += 1 if index == 0 else 2
