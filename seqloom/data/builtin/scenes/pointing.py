"""Whether a model looks at what it names: its attention while it writes a caption, held against where things are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.builtin.scenes.splits import number_of
from seqloom.data.builtin.scenes.things import Box, Scene, scene
from seqloom.data.media.files import DRAWN
from seqloom.results.layouts import Grid
from seqloom.results.predictions import Prediction


@dataclass(frozen=True)
class Pointing:
    """How often the most attended cell was one where the named thing is. Sums: those of two scenes may be added.

    words: content words that were judged. hits: those whose cell overlaps the thing's box. blind: how many hits cells picked
    blindly would have had on average. Large things are easy to hit, and so is everything on a coarse grid.
    """

    words: int = 0
    hits: int = 0
    blind: float = 0.0

    def __add__(self, other: "Pointing") -> "Pointing":
        return Pointing(self.words + other.words, self.hits + other.hits, self.blind + other.blind)

    @property
    def accuracy(self) -> float:
        """The share of judged words that were hits; not a number if none was judged."""
        return self.hits / self.words if self.words else float("nan")

    @property
    def chance(self) -> float:
        """The accuracy of looking anywhere."""
        return self.blind / self.words if self.words else float("nan")


def pointing_accuracy(
    scene: Scene, tokens: Sequence[str], weights: npt.NDArray[np.floating[Any]], grid: tuple[int, int]
) -> Pointing:
    """Judge where attention was largest at each content word of a caption.

    tokens: the T symbols that a model wrote, one for each word; spaces around them do not count. weights: [T, S], S being rows
    times columns of the grid, row by row from the top left. grid: rows and columns; together they cover the whole picture.

    A word is judged if it says a size, a colour or a shape and is the word that the scene's own caption has at this place: of
    any other word nobody knows which thing it is about. It is a hit if the cell of the largest weight, the first of equal
    ones, shares an area with the box of the thing that the word is about.
    """
    rows, columns = grid
    if weights.shape != (len(tokens), rows * columns):
        raise ValueError(f"expected weights of shape {(len(tokens), rows * columns)}, found {weights.shape}")
    total = Pointing()
    for place, word, thing in scene.mentions:
        if place < len(tokens) and tokens[place].strip() == word:
            overlap = _overlap(scene.things[thing].box, rows, columns)
            total += Pointing(1, int(overlap.flat[int(weights[place].argmax())]), float(overlap.mean()))
    return total


def pointing_of(prediction: Prediction) -> Pointing:
    """Judge the best caption that a model wrote for a scene, by the mean over its heads; nothing if it does not look."""
    name, alignment = prediction.sources["image"], prediction.alignment.get("image")
    if alignment is None or not isinstance(alignment.layout, Grid):
        return Pointing()
    grid = alignment.layout.rows, alignment.layout.columns
    return pointing_accuracy(scene(number_of(name)), prediction.tokens, alignment.mean, grid)


def named_boxes(name: str, height: int, width: int) -> dict[str, list[Box]]:
    """Where the things are that words name, in pixels of a picture of the given size; nothing for what is no scene.

    name: what stands for a scene, such as `scene:12`. By a relation one names no thing.
    """
    if not name.startswith(DRAWN) or height != width:  # What is not square was cut or distorted after it was drawn.
        return {}
    boxes: dict[str, list[Box]] = {}
    for thing in scene(number_of(name)).things:
        for word in thing.words:
            boxes.setdefault(word, []).append(Box(*(edge * width for edge in thing.box)))
    return boxes


def _overlap(box: Box, rows: int, columns: int) -> npt.NDArray[np.bool_]:
    """Which cells share an area with a box, [rows, columns]."""
    left, top = np.arange(columns) / columns, np.arange(rows) / rows
    across = (left < box.right) & (left + 1 / columns > box.left)
    down = (top < box.bottom) & (top + 1 / rows > box.top)
    return down[:, None] & across
