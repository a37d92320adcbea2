"""What happens in a film: two things, of which one or both do something, one after the other.

A film is a function of its number. Lengths are shares of the picture's side, so that it can be drawn in any size; times are
frames, counted from 0.

The caption is canonical, so that a film has exactly one:

    caption := event | event ", then" event
    event   := "a" colour shape action

What happens first comes first. A thing that stands still is not named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from seqloom.data.builtin.scenes.things import COLOURS, Colour, Thing, extent, is_unseen, jittered

VERSION = 3
"""Counts changes after which a number means another film."""

FRAMES = 8
"""How many frames a film has."""

STEPS = 2
"""In so many frames a thing does what it does."""

SHAPES = ("circle", "square", "triangle", "cross")
PAINTS = ("red", "green", "blue", "yellow", "black")
"""All darker than the ground: which way a thing moves can be told from what has changed alone, whatever its colour."""

ACTIONS = ("moves left", "moves right", "moves up", "moves down", "grows", "shrinks")

HELD_OUT: Mapping[str, Mapping[str, str]] = {
    paint: {shape: ACTIONS[(first + second) % len(ACTIONS)] for second, shape in enumerate(SHAPES)}
    for first, paint in enumerate(PAINTS)
}
"""What a thing of a colour and a shape does in the test split only. Training shows any two of the three words together."""

_PIXEL = 1 / 64
_HALVES = ((1.5 * _PIXEL, 0.5 - _PIXEL), (0.5 + _PIXEL, 1 - 1.5 * _PIXEL))
_WHOLE = (1.5 * _PIXEL, 1 - 1.5 * _PIXEL)
_RADII = (8.2 * _PIXEL, 9.2 * _PIXEL)
_SMALL, _LARGE = (6.2 * _PIXEL, 6.8 * _PIXEL), (11.4 * _PIXEL, 12.2 * _PIXEL)
"""How large a thing is that stays as large as it is, and how large before and after it grows."""
_WAY = 9 * _PIXEL
"""How far a thing moves."""
_BOTH_ACT = 0.5
"""How often both things do something."""

_DIRECTIONS: Mapping[str, tuple[int, int]] = {
    "moves left": (-1, 0),
    "moves right": (1, 0),
    "moves up": (0, -1),
    "moves down": (0, 1),
}


@dataclass(frozen=True)
class Actor:
    """A thing, and what it does: nothing if `action` is empty. begin: the last frame before it does it.

    end: what it is like when it has done it.
    """

    start: Thing
    end: Thing
    action: str
    begin: int

    def at(self, frame: int) -> Thing:
        """The thing in a frame."""
        share = min(max((frame - self.begin) / STEPS, 0.0), 1.0)
        one, other = self.start, self.end
        return replace(
            one,
            x=one.x + share * (other.x - one.x),
            y=one.y + share * (other.y - one.y),
            radius=one.radius + share * (other.radius - one.radius),
        )

    @property
    def frames(self) -> range:
        """The frames in which something has changed since the one before."""
        return range(self.begin + 1, self.begin + STEPS + 1)

    @property
    def words(self) -> tuple[str, ...]:
        """What a caption says of it."""
        return (self.start.colour, self.start.shape, *self.action.split())


class Telling(NamedTuple):
    """A content word of a caption: its place among the words, the word, and the frames in which it happens."""

    place: int
    word: str
    frames: range


@dataclass(frozen=True)
class Story:
    """A film before it is drawn. actors: those who do something, in the order of time; still: who does not."""

    number: int
    actors: tuple[Actor, ...]
    still: tuple[Actor, ...]
    background: Colour
    light: tuple[float, float]

    @property
    def caption(self) -> str:
        """The one caption of this film."""
        return ", then ".join(" ".join(("a", *one.words)) for one in self.actors)

    @property
    def mentions(self) -> tuple[Telling, ...]:
        """The words that say something of what happens; a comma is a word of its own."""
        found, place = [], 0
        for actor in self.actors:
            found += [Telling(place + 1 + index, word, actor.frames) for index, word in enumerate(actor.words)]
            place += 1 + len(actor.words) + len((",", "then"))
        return tuple(found)


def film(number: int) -> Story:
    """The film of a number from 0 on."""
    random = Random(f"moves/{VERSION}/{number}")
    both = random.random() < _BOTH_ACT
    kinds = _kinds(random, both=both, unseen=is_unseen(number))
    begins = _begins(random, both=both)
    upright, halves = random.random() < 0.5, random.sample(_HALVES, 2)
    actors = [
        _actor(random, *kind, begin=begin, half=half, upright=upright)
        for kind, begin, half in zip(kinds, begins, halves, strict=True)
    ]
    grey = random.uniform(222, 238)
    background = jittered(random, (grey, grey, grey))
    light = random.uniform(-10, 10), random.uniform(-10, 10)
    return Story(number, tuple(actors[: 1 + both]), tuple(actors[1 + both :]), background, light)


def _kinds(random: Random, *, both: bool, unseen: bool) -> list[tuple[str, str, str]]:
    """Colour, shape and action of two things that differ in colour or shape; exactly one held out if `unseen`, else none."""
    while True:
        looks = [(random.choice(PAINTS), random.choice(SHAPES)) for _ in range(2)]
        actions = [random.choice(ACTIONS), random.choice(ACTIONS) if both else ""]
        if unseen:
            chosen = random.randrange(1 + both)
            actions[chosen] = HELD_OUT[looks[chosen][0]][looks[chosen][1]]
        held_out = sum(HELD_OUT[paint][shape] == action for (paint, shape), action in zip(looks, actions, strict=True))
        if looks[0] != looks[1] and held_out == unseen:
            return [(*look, action) for look, action in zip(looks, actions, strict=True)]


def _begins(random: Random, *, both: bool) -> tuple[int, int]:
    """When each thing begins, so that all is over by the last frame."""
    if not both:
        return random.randint(0, FRAMES - 1 - STEPS), 0
    spare = FRAMES - 1 - 2 * STEPS
    first = random.randint(0, spare)
    return first, first + STEPS + random.randint(0, spare - first)


def _actor(
    random: Random, colour: str, shape: str, action: str, *, begin: int, half: tuple[float, float], upright: bool
) -> Actor:
    """A thing in its half of the picture, which it never leaves. upright: halves are left and right, else above and below."""
    radii = (random.uniform(*_RADII),) * 2
    if action in ("grows", "shrinks"):
        small, large = random.uniform(*_SMALL), random.uniform(*_LARGE)
        radii = (small, large) if action == "grows" else (large, small)
    right, down = _DIRECTIONS.get(action, (0, 0))
    box = extent(shape, max(radii), 0.0)
    across, along = (half, _WHOLE) if upright else (_WHOLE, half)
    x = _middle(random, across, box.left, box.right, _WAY * abs(right))
    y = _middle(random, along, box.top, box.bottom, _WAY * abs(down))
    paint = jittered(random, COLOURS[colour])
    start, end = (
        Thing("small", colour, shape, x + side * right * _WAY / 2, y + side * down * _WAY / 2, radius, 0.0, paint)
        for side, radius in zip((-1, 1), radii, strict=True)
    )
    return Actor(start, end, action, begin)


def _middle(random: Random, span: tuple[float, float], before: float, behind: float, way: float) -> float:
    """The middle of a way so long, such that what reaches from `before` to `behind` stays in a span; else the span's own."""
    low, high = span[0] - before + way / 2, span[1] - behind - way / 2
    return random.uniform(low, high) if low < high else (low + high) / 2
