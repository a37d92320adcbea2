"""Draws films as scenes are drawn, frame by frame. The ground and its grain stay, and so does what stands still."""

import numpy as np
import numpy.typing as npt

from seqloom.data.builtin.moves.events import FRAMES, film
from seqloom.data.builtin.scenes.drawing import grain, ground, paint, printed

SIDE = 64
"""How many pixels wide and high a frame is unless another size is asked for."""


def draw(number: int, side: int = SIDE) -> npt.NDArray[np.uint8]:
    """Draw the film of a number: [frames, side, side, 3], always the same."""
    content = film(number)
    canvas, noise = ground(content.background, content.light, side), grain(number, side)
    for one in content.still:
        paint(canvas, one.start)
    moments = [tuple(actor.at(frame) for actor in content.actors) for frame in range(FRAMES)]
    drawn = {}
    for things in moments:
        if things not in drawn:
            frame = canvas.copy()
            for thing in things:
                paint(frame, thing)
            drawn[things] = printed(frame, noise)
    return np.stack([drawn[things] for things in moments])
