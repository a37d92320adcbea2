"""Lips as a few numbers a frame ("eigenlips", Bregler and Konig 1994), for models that read rows of numbers.

First the mouth is found. The camera stands still and the head does not, so that mouths of two clips can be a third of a frame
apart. What nose, lips and chin look like on the whole is learnt from the training part: their edges, in the mean picture of a
clip. In every frame they are where its edges are most like these, and a window around the mouth is cut out there.

Then what a clip shows all the time is taken away; of what moves in the window, the directions in which frames of the training
part differ most become numbers (principal components). The less frames differ in a direction, the more it is noise: numbers are
divided by the root of their deviation, so that the first ones stay larger than the last, but not by much.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float32]

HEIGHT, WIDTH = 40, 64
"""Of a frame, in pixels."""
FACE_ROWS, FACE_COLUMNS = 27, 35
"""Of what is looked for, from the nose to the chin."""
FIRST = (4, 15)
"""Its upper left corner in the first of the clips that are learnt from."""
REACH = 12
"""So far from there it can be in others, in pixels."""
STRAY = 4
"""So far it can move within a clip."""
MARGIN = REACH + STRAY + FACE_COLUMNS
"""So many pixels around a frame, in which nothing is, a face can lie."""
ROUNDS = 4
"""So often the clips are asked where a face is, and then what it looks like."""
STEADY = 3
"""A head moves slowly: where it is, is a mean over neighbouring frames, with a deviation of so many."""
ROWS, COLUMNS = 22, 27
"""Of the window around the mouth."""
MOUTH = (6, 4)
"""Its upper left corner in the face."""
COMPONENTS = 40


# --- where the mouth is ---------------------------------------------------------------------------------------------


def face_of(clips: Sequence[Pixels]) -> Numbers:
    """What the edges of nose, lips and chin look like on the whole, [2, FACE_ROWS, FACE_COLUMNS]."""
    edges = edges_of(np.stack([frames.mean(axis=0) for frames in clips]))
    face: Numbers = _behind(edges[:1], *FIRST)[0]
    for _ in range(ROUNDS):
        corners = np.rint(found(edges, face, FIRST, REACH)).astype(int)
        faces = [_behind(one[None], row, column)[0] for one, (row, column) in zip(edges, corners, strict=True)]
        face = np.median(faces, axis=0)
    return face


def corners_of(frames: Pixels, face: Numbers) -> Numbers:
    """Where the window around the mouth begins in each frame, between pixels: [L, 2]."""
    row, column = np.rint(found(edges_of(frames.mean(axis=0)[None]), face, FIRST, REACH)[0]).astype(int)
    corners = found(edges_of(frames), face, (row, column), STRAY)
    steps = np.arange(-2 * STEADY, 2 * STEADY + 1)
    shares = np.exp(-0.5 * (steps / STEADY) ** 2)
    padded = np.pad(corners, ((2 * STEADY, 2 * STEADY), (0, 0)), mode="edge")
    steady = [np.convolve(padded[:, axis], shares / shares.sum(), "valid") for axis in range(2)]
    return (np.stack(steady, axis=1) + MOUTH).astype(np.float32)


def edges_of(pictures: npt.NDArray[Any]) -> Numbers:
    """How much brighter it gets downwards and to the right, [N, 2, H + 2 MARGIN, W + 2 MARGIN] of pictures [N, H, W].

    In the margin around a picture there are no edges.
    """
    down, across = np.gradient(pictures.astype(np.float32), axis=(1, 2))
    return np.pad(np.stack([down, across], axis=1), ((0, 0), (0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)))


def found(edges: Numbers, face: Numbers, around: tuple[int, int], reach: int) -> Numbers:
    """The corner at which each picture's edges are most like a face's, at most `reach` away from another corner: [N, 2]."""
    moves = range(-reach, reach + 1)
    likeness = np.empty((len(edges), len(moves), len(moves)), dtype=np.float32)
    for row, down in enumerate(moves):
        for column, across in enumerate(moves):
            seen = _behind(edges, around[0] + down, around[1] + across).reshape(len(edges), -1)
            likeness[:, row, column] = seen @ face.ravel() / np.maximum(np.linalg.norm(seen, axis=1), 1.0)
    tops = [_top(one) for one in likeness]
    return (np.array(tops) + around - reach).astype(np.float32)


def _behind(edges: Numbers, row: int, column: int) -> Numbers:
    """What would be the face, if its corner were there: [N, 2, FACE_ROWS, FACE_COLUMNS]."""
    top, left = row + MARGIN, column + MARGIN
    return edges[:, :, top : top + FACE_ROWS, left : left + FACE_COLUMNS]


def _top(likeness: Numbers) -> tuple[float, float]:
    """Row and column of the largest value, between pixels."""
    row, column = (int(one) for one in np.unravel_index(likeness.argmax(), likeness.shape))
    return row + _summit(likeness[:, column], row), column + _summit(likeness[row], column)


def _summit(values: Numbers, place: int) -> float:
    """How far from the largest value the top of a parabola is that goes through it and its neighbours."""
    if not 0 < place < len(values) - 1:
        return 0.0
    before, here, after = (float(one) for one in values[place - 1 : place + 2])
    bend = before - 2 * here + after
    return 0.5 * (before - after) / bend if bend < 0 else 0.0


# --- what it does ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """How a mouth is looked at: moved by some pixels, perhaps mirrored."""

    down: float = 0.0
    across: float = 0.0
    mirrored: bool = False


LOOKS = (Look(), Look(0.0, 0.7, mirrored=True), Look(0.7, 0.0), Look(0.0, -0.7, mirrored=True), Look(-0.7, 0.0))
"""The first is the clip as it is."""


@dataclass(frozen=True)
class Film:
    """A clip's frames [L, HEIGHT, WIDTH], and where the window around the mouth begins in each [L, 2]."""

    frames: Pixels
    corners: Numbers

    def mouth(self, look: Look = LOOKS[0]) -> Numbers:
        """The window around the mouth, [L, ROWS, COLUMNS]; beyond a frame's edge, the edge is repeated."""
        down = self.corners[:, 0, None] + look.down + np.arange(ROWS)
        across = self.corners[:, 1, None] + look.across + np.arange(COLUMNS)
        lines = _between(self.frames.astype(np.float32), down)
        seen = _between(lines.swapaxes(1, 2), across).swapaxes(1, 2)
        return seen[:, :, ::-1] if look.mirrored else seen

    def movement(self, look: Look = LOOKS[0]) -> Numbers:
        """The same without what is there all the time, [L, ROWS * COLUMNS]."""
        seen = self.mouth(look)
        moved: Numbers = (seen - seen.mean(axis=0)).reshape(len(seen), -1)
        return moved


def _between(frames: Numbers, places: Numbers) -> Numbers:
    """Rows of frames [L, H, W] at places [L, R] that may lie between two rows: [L, R, W]."""
    last = frames.shape[1] - 1
    above = np.floor(places).astype(int)
    share = (places - above)[..., None].astype(np.float32)
    numbers = np.arange(len(frames))[:, None]
    rows: Numbers = (1 - share) * frames[numbers, above.clip(0, last)] + share * frames[numbers, (above + 1).clip(0, last)]
    return rows


def components_of(films: Sequence[Film], count: int = COMPONENTS) -> Numbers:
    """What makes `count` numbers of a frame's movement, [ROWS * COLUMNS, count]: every third frame of some clips is asked."""
    total = np.zeros((ROWS * COLUMNS, ROWS * COLUMNS))
    number = 0
    for film in films:
        for look in LOOKS[:2]:
            some = film.movement(look)[::3]
            total += some.T @ some
            number += len(some)
    variances, directions = np.linalg.eigh(total / number)
    deviations = np.sqrt(variances[: -count - 1 : -1])
    size = np.sqrt(deviations.mean())  # of all numbers together, so that they have a deviation of 1
    made: Numbers = (directions[:, : -count - 1 : -1] / (np.sqrt(deviations) * size)).astype(np.float32)
    return made
