"""Lips as a few numbers a frame ("eigenlips", Bregler and Konig 1994), for models that read rows of numbers.

What a clip shows all the time is taken away; of what moves around the mouth, the directions in which frames of the training
part differ most become numbers (principal components). The less frames differ in a direction, the more it is noise: numbers are
divided by the root of their deviation, so that the first ones stay larger than the last, but not by much.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float32]

HEIGHT, WIDTH = 40, 64
"""Of a frame, in pixels."""
ROWS, COLUMNS = 28, 44
"""Of its middle, in which the mouth is."""
COMPONENTS = 40


@dataclass(frozen=True)
class Look:
    """How a clip is looked at: moved by some pixels, perhaps mirrored."""

    down: int = 0
    across: int = 0
    mirrored: bool = False


LOOKS = (Look(), Look(0, 1, mirrored=True), Look(1, 0), Look(0, -1, mirrored=True), Look(-1, 0))
"""The first is the clip as it is."""


def movement(frames: Pixels, look: Look = LOOKS[0]) -> Numbers:
    """The middle of frames [L, HEIGHT, WIDTH] without what is there all the time, [L, ROWS * COLUMNS]."""
    top, left = (HEIGHT - ROWS) // 2 + look.down, (WIDTH - COLUMNS) // 2 + look.across
    middle = frames[:, top : top + ROWS, left : left + COLUMNS].astype(np.float32)
    seen = middle[:, :, ::-1] if look.mirrored else middle
    moved: Numbers = (seen - seen.mean(axis=0)).reshape(len(frames), -1)
    return moved


def components_of(clips: Sequence[Pixels], count: int = COMPONENTS) -> Numbers:
    """What makes `count` numbers of a frame's movement, [ROWS * COLUMNS, count]: every third frame of some clips is asked."""
    total = np.zeros((ROWS * COLUMNS, ROWS * COLUMNS))
    number = 0
    for frames in clips:
        for look in LOOKS[:2]:
            some = movement(frames, look)[::3]
            total += some.T @ some
            number += len(some)
    variances, directions = np.linalg.eigh(total / number)
    deviations = np.sqrt(variances[: -count - 1 : -1])
    size = np.sqrt(deviations.mean())  # of all numbers together, so that they have a deviation of 1
    made: Numbers = (directions[:, : -count - 1 : -1] / (np.sqrt(deviations) * size)).astype(np.float32)
    return made
