"""The built-in task `moves`: short films of coloured shapes, drawn from a number, with captions that tell what happens when.

    moves:12     a red square shrinks, then a blue triangle moves left

Nothing is downloaded and nothing is stored: `moves:12` means the same film everywhere. When each thing happens is known, so it
can be checked at which frames a model looks when it tells of it (`time_pointing`).

Twenty combinations of a colour, a shape and what it does occur in the test split only, one in each of its films: red circles
that move left, say, though training shows red circles, red things that move left, and circles that move left.
"""

from seqloom.data.builtin.moves.drawing import draw
from seqloom.data.builtin.moves.events import ACTIONS, FRAMES, HELD_OUT, Actor, Story, film
from seqloom.data.builtin.moves.files import MovesRoot, write_moves
from seqloom.data.builtin.moves.pointing import time_pointing, time_pointing_of
from seqloom.data.builtin.moves.splits import FILMS, examples

__all__ = [
    "ACTIONS",
    "FILMS",
    "FRAMES",
    "HELD_OUT",
    "Actor",
    "MovesRoot",
    "Story",
    "draw",
    "examples",
    "film",
    "time_pointing",
    "time_pointing_of",
    "write_moves",
]
