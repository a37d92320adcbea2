"""What moves before a camera that stands still, as numbers: a small picture of its shape, and where it goes.

Who moves, what they wear and what stands behind them is not in it, so that little data suffices to learn how people move.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqloom.data.media.files import Media
from seqloom.data.media.following import Numbers, boxes, differences
from seqloom.data.media.threads import in_order
from seqloom.data.media.videos import VideoFrames

Rows = npt.NDArray[np.float32]

PACES = 3
"""How many numbers follow the fields of a row: how fast the box goes down, across, and in any direction."""

_LOOKED_AT = 192
"""How many pixels the longer side of a frame has at most: enough for arms and legs of a person who is half as high."""
_CERTAIN = 30.0
"""A pixel that differs by so much more than noise, of 255, is wholly one of something that moves."""


@dataclass(frozen=True)
class MovementRows:
    """Makes a row of numbers of each frame: of a box around what moves, `size` x `size` fields, from 0 (still) to 1 (moving).

    Behind them stands how fast the box goes, in sides of itself a second. Where nothing moves, all numbers are 0.
    mirrored: left is where right was. threads: how many videos are decoded at once, which changes nothing but speed.
    """

    size: int
    frames_per_second: float | None = None
    maximum_frames: int = 200
    mirrored: bool = False
    threads: int = 1

    @property
    def key(self) -> str:
        """What the rows depend on besides the files. The number counts changes of the arithmetic."""
        pace = "all" if self.frames_per_second is None else f"{self.frames_per_second:g}"
        return f"movement 1 {self.size} {pace} {self.maximum_frames}{' mirrored' if self.mirrored else ''}"

    @property
    def row(self) -> tuple[int, ...]:
        """The fields, row by row, and how fast the box goes."""
        return (self.size**2 + PACES,)

    def arrays(self, files: Iterable[Media]) -> Iterator[Rows]:
        """Yield the rows of each file. Raises `VideoProblem` at the first that is no video."""
        return map(self.array, files) if self.threads == 1 else in_order(self.array, files, threads=self.threads)

    def array(self, media: Media) -> Rows:
        """The rows of one video, [L, size * size + 3]."""
        frames = VideoFrames(self.size, self.size, frames_per_second=self.frames_per_second, maximum_frames=self.maximum_frames)
        watched = frames.watched(media, _LOOKED_AT)
        upright = np.rot90(watched.frames, watched.turns, axes=(1, 2))
        upright = upright[:, :, ::-1] if self.mirrored else upright
        places = boxes(upright, watched.times, 1.0)
        if places is None:
            return np.zeros((len(upright), *self.row), dtype=np.float32)
        pixels = places * np.tile(upright.shape[1:], 2)
        shape = _shapes(np.minimum(differences(upright) / _CERTAIN, 1.0), pixels, self.size)
        return np.concatenate([shape, _paces(pixels, watched.times)], axis=1).astype(np.float32)


def _shapes(moving: Numbers, pixels: Numbers, size: int) -> Numbers:
    """How much of each field of a box is moving, [L, H, W] and boxes [L, 4] -> [L, size * size]."""
    rows, columns = (_shares(pixels[:, axis], pixels[:, axis + 2], moving.shape[axis + 1], size) for axis in (0, 1))
    fields: Numbers = rows @ moving @ columns.transpose(0, 2, 1)
    return fields.reshape(len(moving), -1)


def _shares(starts: Numbers, ends: Numbers, count: int, size: int) -> Numbers:
    """Which share of a field each of `count` pixels is, in one direction, [L, size, count]; fields are equally long."""
    edges = np.linspace(starts, ends, size + 1, axis=1)[..., None]  # [L, size + 1, 1]
    places = np.arange(count)
    overlaps = np.minimum(edges[:, 1:], places + 1) - np.maximum(edges[:, :-1], places)
    shares: Numbers = np.maximum(overlaps, 0.0) / (edges[:, 1:] - edges[:, :-1])
    return shares


def _paces(pixels: Numbers, times: Numbers) -> Numbers:
    """How fast a box goes down, across, and in any direction, in its longer sides a second, [L, 3]."""
    if len(pixels) < 2 or np.ptp(times) <= 0:
        return np.zeros((len(pixels), PACES))
    side = (pixels[0, 2:] - pixels[0, :2]).max()
    moments = times + 1e-6 * np.arange(len(times))  # no two at once
    speeds = np.gradient(pixels[:, :2], moments, axis=0) / side
    return np.concatenate([speeds, np.linalg.norm(speeds, axis=1, keepdims=True)], axis=1)
