"""Pictures as PNG bytes and data URIs, with nothing but zlib: pages and SVG must carry their pictures inside."""

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB, _INDEXED = 2, 3
_PAETH = 4


def rgb_png(pixels: Pixels) -> bytes:
    """Encode pixels [height, width, 3]."""
    height, width, _ = pixels.shape
    lines = np.concatenate([np.full((height, 1), _PAETH, np.uint8), _filtered(pixels).reshape(height, -1)], axis=1)
    return _file(_header(width, height, _RGB), (b"IDAT", zlib.compress(lines.tobytes(), 9)))


def indexed_png(indices: Pixels, colours: Pixels) -> bytes:
    """Encode pixels [height, width] that are rows of a palette [at most 256, red green blue alpha]."""
    height, width = indices.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), indices], axis=1)
    return _file(
        _header(width, height, _INDEXED),
        (b"PLTE", colours[:, :3].tobytes()),
        (b"tRNS", colours[:, 3].tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
    )


def data_uri(png: bytes) -> str:
    """Give the file as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def shrunk(pixels: Pixels, longest: int) -> Pixels:
    """Average whole blocks of pixels until neither side is longer; a small picture stays as it is."""
    factor = -(-max(pixels.shape[:2]) // longest)
    if factor <= 1:
        return pixels
    height, width = (side // factor for side in pixels.shape[:2])
    blocks = pixels[: height * factor, : width * factor].reshape(height, factor, width, factor, 3)
    smaller: Pixels = np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8)
    return smaller


def _filtered(pixels: Pixels) -> Pixels:
    """Replace each value by its difference from the likeliest neighbour (left, above or both), which photographs need."""
    values = pixels.astype(np.int16)
    padded = np.pad(values, ((1, 0), (1, 0), (0, 0)))
    left, above, corner = padded[1:, :-1], padded[:-1, 1:], padded[:-1, :-1]
    guess = left + above - corner
    to_left, to_above, to_corner = abs(guess - left), abs(guess - above), abs(guess - corner)
    nearest = np.where(to_above <= to_corner, above, corner)
    nearest = np.where((to_left <= to_above) & (to_left <= to_corner), left, nearest)
    return (values - nearest).astype(np.uint8)


def _header(width: int, height: int, colour_type: int) -> tuple[bytes, bytes]:
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)


def _file(*chunks: tuple[bytes, bytes]) -> bytes:
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in (*chunks, (b"IEND", b"")))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
