"""Attention over a picture as light: what the model looked at keeps its colours, the rest lies under a veil.

A word's brightest place always has full light, whatever its weight: panels say where the model looked, and the number of the
greatest weight says how firmly. The page's script computes the same.
"""

import math
from typing import assert_never

import numpy as np

from seqloom.results.layouts import Film, Frames, Grid, Tokens
from seqloom.results.predictions import Alignment, FloatArray
from seqloom.views.drawing.pixels import Pixels, indexed_png
from seqloom.views.drawing.theme import GLOW, VEIL, channels
from seqloom.views.maps.chosen import chosen_weights

VEIL_STRENGTH = 0.78
"""How much of the picture the veil hides where the model did not look. The page has a slider for it."""

GLOW_STRENGTH = 0.16
"""How much warm light falls on what was looked at, so that even a black object shows that it was."""

SPREAD = 0.55
"""The width of the Gaussian that smooths cells, as a share of a cell: no edges stay, and a peak stays a peak."""

_LEVELS = 160
_MASK_SIDE = 96
_ALL_IN_ONE = 0.99
_SPREAD_OUT = 0.3
"""Half of the weight on more than this share of the cells is a look at nothing in particular."""


def weights_on_grid(alignment: Alignment, head: int | None = None) -> FloatArray:
    """The weights of one head or their mean over the places of a picture, [T, rows, columns]."""
    rows, columns = grid_of(alignment)
    return chosen_weights(alignment, head).reshape(-1, rows, columns)


def grid_of(alignment: Alignment) -> tuple[int, int]:
    """Rows and columns; whatever is no picture is one row."""
    match alignment.layout:
        case Grid(rows, columns) | Film(rows, columns):
            return rows, columns
        case Tokens() | Frames():
            return 1, alignment.weights.shape[-1]
        case _:
            assert_never(alignment.layout)


def is_pictured(alignment: Alignment) -> bool:
    """Whether weights lie over a picture; others are a heat map with a column for each position."""
    return isinstance(alignment.layout, Grid)


def is_hard(alignment: Alignment) -> bool:
    """Whether each step looks at a single place, so that smoothing would invent what is not there."""
    return bool(alignment.weights.size) and bool((alignment.weights.max(axis=-1) > _ALL_IN_ONE).all())


def smooth(weights: FloatArray, height: int, width: int) -> FloatArray:
    """Enlarge weights [rows, columns] to [height, width] by a Gaussian around each cell. Equal weights stay equal."""
    rows, columns = weights.shape
    enlarged = _spread(height, rows) @ weights @ _spread(width, columns).T
    return enlarged.astype(np.float32)


def blocks(weights: FloatArray, height: int, width: int) -> FloatArray:
    """Enlarge weights [rows, columns] to [height, width] so that each cell is to be seen as it is."""
    rows, columns = weights.shape
    down, right = np.arange(height) * rows // height, np.arange(width) * columns // width
    enlarged: FloatArray = weights[down][:, right]
    return enlarged


def light(weights: FloatArray) -> FloatArray:
    """Divide by the greatest weight: 1 where the model looked most. Nothing anywhere stays nothing."""
    return weights / max(float(weights.max(initial=0.0)), 1e-12)


def overlay_colours(lights: FloatArray) -> FloatArray:
    """Colour and opacity of what lies over the picture: lights [...] -> [..., 4], red green blue 0-255, opacity 0-1."""
    dark, warm = (1 - lights) * VEIL_STRENGTH, lights * GLOW_STRENGTH
    opacity = dark + warm
    mixed = dark[..., None] * np.array(channels(VEIL)) + warm[..., None] * np.array(channels(GLOW))
    colours = mixed / np.maximum(opacity, 1e-6)[..., None]
    return np.concatenate([colours, opacity[..., None]], axis=-1).astype(np.float32)


def composed(pixels: Pixels, lights: FloatArray) -> Pixels:
    """Lay lights [height, width] over pixels [height, width, 3]."""
    over = overlay_colours(lights)
    opacity = over[..., 3:]
    mixed: Pixels = np.rint(pixels * (1 - opacity) + over[..., :3] * opacity).astype(np.uint8)
    return mixed


def mask_png(weights: FloatArray, *, as_blocks: bool) -> bytes:
    """The overlay alone as a small PNG. It is fine enough that a viewer which enlarges it blurs no edge of a cell."""
    finer = max(2, math.ceil(_MASK_SIDE / max(weights.shape)))
    enlarge = blocks if as_blocks else smooth
    return lights_png(light(enlarge(weights, weights.shape[0] * finer, weights.shape[1] * finer)))


def lights_png(lights: FloatArray) -> bytes:
    """The overlay that lights [height, width] make, as a PNG."""
    over = overlay_colours(np.linspace(0, 1, _LEVELS + 1, dtype=np.float32))
    over[:, 3] *= 255
    return indexed_png(np.rint(lights * _LEVELS).astype(np.uint8), np.rint(over).astype(np.uint8))


def spoken_place(weights: FloatArray) -> str:
    """Say where most of the weight lies, for those who cannot see it: `upper left`, `centre`, or `everywhere` if spread."""
    total = float(weights.sum())
    if total <= 0:
        return "nowhere"
    heaviest = np.cumsum(np.sort(weights, axis=None)[::-1])
    if np.searchsorted(heaviest, total / 2) >= weights.size * _SPREAD_OUT:
        return "everywhere"
    row, column = divmod(int(weights.argmax()), weights.shape[1])
    down = ("upper", "", "lower")[row * 3 // weights.shape[0]]
    across = ("left", "", "right")[column * 3 // weights.shape[1]]
    return " ".join(filter(None, (down, across))) or "centre"


def _spread(pixels: int, cells: int) -> FloatArray:
    """How much each cell lights each pixel of a line, [pixels, cells]; each pixel's shares sum to one."""
    places = (np.arange(pixels) + 0.5) * cells / pixels - 0.5
    reach = np.exp(-0.5 * ((places[:, None] - np.arange(cells)) / SPREAD) ** 2)
    shares: FloatArray = (reach / reach.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares
