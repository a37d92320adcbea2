"""Draws scenes with NumPy alone: shapes as distances to their edge, which makes the edges smooth."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

from seqloom.data.builtin.scenes.things import (
    CROSS_ARM,
    CROSS_HALF,
    HEART_HALF,
    HEART_LIFT,
    SQUARE_HALF,
    STAR_NOTCH,
    STAR_TIP,
    TRIANGLE_TIP,
    Colour,
    Scene,
    Thing,
    scene,
)

Pixels = npt.NDArray[np.uint8]
Plane = npt.NDArray[np.float32]

SIDE = 64
"""How many pixels wide and high a picture is unless another size is asked for."""

_FIFTH, _TIP = np.float32(2 * np.pi / 5), np.float32(STAR_TIP)
_EDGE = STAR_TIP - STAR_NOTCH * np.exp(0.2j * np.pi)
_OUTWARD = np.float32(-_EDGE.imag / abs(_EDGE)), np.float32(_EDGE.real / abs(_EDGE))
"""Of a star: the angle between tips, and what is perpendicular to the edge from a tip on the axis to the notch beside it."""

_NOISE = 6.0
"""How far noise lifts or lowers a pixel's brightness at most, of 255."""


def draw(number: int, side: int = SIDE) -> Pixels:
    """Draw the scene of a number: [side, side, 3], always the same."""
    return drawn(scene(number), side)


def drawn(content: Scene, side: int) -> Pixels:
    """Draw a scene."""
    canvas = ground(content.background, content.light, side)
    for thing in sorted(content.things, key=lambda thing: -thing.radius):  # What is inside comes last.
        paint(canvas, thing)
    return printed(canvas, grain(content.number, side))


def ground(background: Colour, light: tuple[float, float], side: int) -> Plane:
    """A canvas with nothing on it yet. light: how much brighter it gets from left to right and from top to bottom."""
    middles = _middles(side)
    across, down = (share * (middles - 0.5) for share in light)
    return (across[None, :] + down[:, None])[..., None] + np.asarray(background, dtype=np.float32)


def printed(canvas: Plane, grain: Plane) -> Pixels:
    """What is on a canvas as pixels, with grain."""
    canvas = canvas + grain[..., None]
    return np.clip(canvas + 0.5, 0, 255, out=canvas).astype(np.uint8)


@cache
def _middles(side: int) -> Plane:
    return np.asarray((np.arange(side) + 0.5) / side, dtype=np.float32)


def grain(number: int, side: int) -> Plane:
    """Grain for each pixel. The generator's raw bits are used: NumPy promises that they stay the same."""
    bits = np.random.PCG64(number).random_raw(-(-side * side // 8)).astype("<u8", copy=False)
    levels = bits.view(np.uint8)[: side * side].reshape(side, side).astype(np.float32)
    return (levels - np.float32(127.5)) * np.float32(_NOISE / 127.5)


def paint(canvas: Plane, thing: Thing) -> None:
    """Lay a thing's colour over the part of the canvas around it."""
    side = len(canvas)
    middles = _middles(side)
    left, top = (max(0, int(edge * side) - 1) for edge in thing.box[:2])
    right, bottom = (int(edge * side) + 2 for edge in thing.box[2:])
    x = (middles[left:right] - np.float32(thing.x)) / np.float32(thing.radius)
    y = (middles[top:bottom, None] - np.float32(thing.y)) / np.float32(thing.radius)
    c, s = np.float32(np.cos(thing.angle)), np.float32(np.sin(thing.angle))
    distance = _DISTANCES[thing.shape](c * x + s * y, c * y - s * x)
    # A pixel whose middle is on the edge is half covered.
    cover = np.clip(np.float32(0.5) - distance * np.float32(thing.radius * side), 0, 1)[..., None]
    part = canvas[top:bottom, left:right]
    part += cover * (np.asarray(thing.paint, dtype=np.float32) - part)


# Distances to the edge of a shape of radius 1, negative inside; x points right, y down. Where they are wrong (beyond corners)
# they are too small, which makes corners sharp.


def _circle(x: Plane, y: Plane) -> Plane:
    return np.sqrt(x * x + y * y) - 1


def _square(x: Plane, y: Plane) -> Plane:
    return np.maximum(np.abs(x), np.abs(y)) - np.float32(SQUARE_HALF)


def _triangle(x: Plane, y: Plane) -> Plane:
    return np.maximum(y, np.float32(0.75**0.5) * np.abs(x) - y / 2) - np.float32(TRIANGLE_TIP / 2)


def _star(x: Plane, y: Plane) -> Plane:
    """Ten equal edges: the plane is folded until one is left, from the tip on the axis to the notch beside it."""
    angle: Plane = np.arctan2(x, -y)
    angle -= _FIFTH * np.round(angle / _FIFTH)
    radius = np.sqrt(x * x + y * y)
    along, aside = radius * np.cos(angle) - _TIP, radius * np.sin(np.abs(angle))
    return np.asarray(along * _OUTWARD[0] + aside * _OUTWARD[1], dtype=np.float32)


def _cross(x: Plane, y: Plane) -> Plane:
    x, y = np.abs(x), np.abs(y)
    half, arm = np.float32(CROSS_HALF), np.float32(CROSS_ARM)
    distance: Plane = np.minimum(np.maximum(x - half, y - arm), np.maximum(x - arm, y - half))
    return distance


def _heart(x: Plane, y: Plane) -> Plane:
    x, y = np.abs(x), y - np.float32(HEART_LIFT)
    half, lobe = np.float32(HEART_HALF), np.float32(HEART_HALF / 2**0.5)
    square = np.float32(0.5**0.5) * (x + np.abs(y)) - half
    distance: Plane = np.minimum(square, np.sqrt((x - lobe) ** 2 + (y + lobe) ** 2) - half)
    return distance


_DISTANCES: Mapping[str, Callable[[Plane, Plane], Plane]] = {
    "circle": _circle,
    "square": _square,
    "triangle": _triangle,
    "star": _star,
    "cross": _cross,
    "heart": _heart,
}
