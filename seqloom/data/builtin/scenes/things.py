"""What a scene holds: one to three things, where they are, and the one caption that describes them.

A scene is a function of its number. Lengths are shares of the picture's side, so that it can be drawn in any size.

The caption is canonical, so that a picture has exactly one:

    caption  := group | group relation group | thing "inside" thing
    group    := thing | thing "and" thing
    relation := "left of" | "above"
    thing    := "a" size colour shape

The left group or the upper one comes first, and so does the left or the upper thing of a group: side by side in a group that
is above or below the other, one upon the other in a group that is left or right of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, radians, sin
from random import Random
from typing import Literal, NamedTuple

Size = Literal["small", "large"]
Relation = Literal["left of", "above", "inside"]
Colour = tuple[float, float, float]
"""Red, green and blue, from 0 to 255."""

SIZES: tuple[Size, ...] = ("small", "large")

COLOURS: Mapping[str, Colour] = {
    "red": (190, 30, 35),
    "green": (0, 140, 80),
    "blue": (30, 70, 190),
    "yellow": (245, 205, 40),
    "black": (35, 35, 40),
    "white": (248, 248, 246),
}
"""Far apart for all kinds of colour vision, and from the grey behind them: they differ in lightness as well as in hue."""

SHAPES = ("circle", "square", "triangle", "star", "cross", "heart")

HELD_OUT: Mapping[Size, Mapping[str, str]] = {
    "small": {
        "red": "heart",
        "green": "star",
        "blue": "triangle",
        "yellow": "circle",
        "black": "square",
        "white": "cross",
    },
    "large": {
        "red": "star",
        "green": "triangle",
        "blue": "circle",
        "yellow": "square",
        "black": "cross",
        "white": "heart",
    },
}
"""The combinations of size, colour and shape that only the test split shows: in either size each colour once, each shape once.

Any two of the three words do occur together in training: small hearts, small red things, and large red hearts.
"""

VERSION = 2
"""Counts changes after which a number means another picture."""

_PIXEL = 1 / 64
_MARGIN = 1.5 * _PIXEL
_HALVES = ((_MARGIN, 0.5 - _PIXEL), (0.5 + _PIXEL, 1 - _MARGIN))
_WHOLE = (_MARGIN, 1 - _MARGIN)

_RADII: Mapping[Size, tuple[float, float]] = {"small": (5.2 * _PIXEL, 6.2 * _PIXEL), "large": (9.8 * _PIXEL, 11.4 * _PIXEL)}
_AROUND = (15.5 * _PIXEL, 17.5 * _PIXEL)
"""How large things are, and how large one is that has another inside. Between small and large there is a gap."""

_TURN = radians(12)
_STRAY, _SWAY = 3 * _PIXEL, 5 * _PIXEL
"""How far a thing is turned, and how far it strays at most from the line and from the middle of the place that is its own."""
_COLOUR_JITTER = 10.0
_ALIKE = 0.35
"""How often a thing takes colour or shape from the one before: two alike make questions worth asking."""

STAR_TIP, STAR_NOTCH, TRIANGLE_TIP = 1.2, 0.6, 1.2
SQUARE_HALF, CROSS_HALF, CROSS_ARM = 0.88, 1.08, 0.4
HEART_HALF, HEART_LIFT = 0.62, 0.09
_LOBE = HEART_HALF / 2**0.5
"""The measures of shapes whose radius is 1. A heart is a square on its tip with a half circle on both upper sides."""


def _on_circle(radius: float, *degrees: float) -> tuple[tuple[float, float, float], ...]:
    return tuple((radius * cos(radians(angle)), radius * sin(radians(angle)), 0.0) for angle in degrees)


# What touches the box of a shape, however it is turned: points, and discs (x, y, radius). y points downward.
_OUTLINES: Mapping[str, tuple[tuple[float, float, float], ...]] = {
    "circle": ((0.0, 0.0, 1.0),),
    "square": _on_circle(SQUARE_HALF * 2**0.5, 45, 135, 225, 315),
    "triangle": _on_circle(TRIANGLE_TIP, 30, 150, 270),
    "star": _on_circle(STAR_TIP, 54, 126, 198, 270, 342),
    "cross": tuple(
        (x, y, 0.0)
        for a in (-1, 1)
        for b in (-1, 1)
        for x, y in ((a * CROSS_HALF, b * CROSS_ARM), (b * CROSS_ARM, a * CROSS_HALF))
    ),
    "heart": (
        (-_LOBE, HEART_LIFT - _LOBE, HEART_HALF),
        (_LOBE, HEART_LIFT - _LOBE, HEART_HALF),
        (0.0, HEART_LIFT + 2 * _LOBE, 0.0),
    ),
}


class Box(NamedTuple):
    """The smallest upright rectangle around a thing, in shares of the picture's side."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Thing:
    """One object: what a caption says of it, and what a drawing needs. `angle` is in radians, clockwise."""

    size: Size
    colour: str
    shape: str
    x: float
    y: float
    radius: float
    angle: float
    paint: Colour

    @cached_property
    def box(self) -> Box:
        """Where it is."""
        left, top, right, bottom = extent(self.shape, self.radius, self.angle)
        return Box(self.x + left, self.y + top, self.x + right, self.y + bottom)

    @property
    def words(self) -> tuple[str, str, str]:
        """What a caption says of it."""
        return self.size, self.colour, self.shape


class Mention(NamedTuple):
    """A content word of a caption: its place among the words, the word, and which of the scene's things it is about."""

    place: int
    word: str
    thing: int


@dataclass(frozen=True)
class Scene:
    """A picture before it is drawn. `things` stand in the order in which the caption names them.

    relation: how the first `leading` things lie to the others; None for a thing alone. light: how much brighter the background
    gets from left to right and from top to bottom.
    """

    number: int
    things: tuple[Thing, ...]
    relation: Relation | None
    leading: int
    background: Colour
    light: tuple[float, float]

    @property
    def caption(self) -> str:
        """The one caption of this picture."""
        names = [" ".join(("a", *thing.words)) for thing in self.things]
        if self.relation is None:
            return names[0]
        return f"{' and '.join(names[: self.leading])} {self.relation} {' and '.join(names[self.leading :])}"

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """The words that say something about a thing: its size, its colour, its shape."""
        said = [(place, word) for place, word in enumerate(self.caption.split()) if word in _CONTENT]
        return tuple(Mention(place, word, number // 3) for number, (place, word) in enumerate(said))


_CONTENT = frozenset((*SIZES, *COLOURS, *SHAPES))


class _Plan(NamedTuple):
    """How many things there are and how they lie."""

    things: int
    relation: Relation | None
    leading: int


# One, two or three things, equally often.
_PLANS: tuple[tuple[_Plan, ...], ...] = (
    (_Plan(1, None, 1),),
    (_Plan(2, "left of", 1), _Plan(2, "above", 1), _Plan(2, "inside", 1)),
    (_Plan(3, "left of", 1), _Plan(3, "left of", 2), _Plan(3, "above", 1), _Plan(3, "above", 2)),
)


def is_unseen(number: int) -> bool:
    """Whether a scene shows a combination that is held out: those whose number ends in 9 do."""
    return number % 10 == 9


def scene(number: int) -> Scene:
    """The scene of a number from 0 on."""
    random = Random(f"scenes/{VERSION}/{number}")
    plan = random.choice(random.choice(_PLANS))
    sizes: list[Size] = ["small", "large"] if plan.relation == "inside" else random.choices(SIZES, k=plan.things)
    kinds = _kinds(random, plan, sizes, unseen=is_unseen(number))
    radii = [random.uniform(*_RADII[size]) for size in sizes]
    if plan.relation == "inside":
        radii[1] = random.uniform(*_AROUND)
    angles = [random.uniform(-_TURN, _TURN) for _ in kinds]
    extents = [extent(shape, radius, angle) for (_, shape), radius, angle in zip(kinds, radii, angles, strict=True)]
    places = _places(random, plan, extents)
    things = tuple(
        Thing(size, colour, shape, x, y, radius, angle, jittered(random, COLOURS[colour]))
        for size, (colour, shape), (x, y), radius, angle in zip(sizes, kinds, places, radii, angles, strict=True)
    )
    grey = random.uniform(160, 180)
    background = jittered(random, (grey, grey, grey))
    return Scene(number, things, plan.relation, plan.leading, background, (random.uniform(-16, 16), random.uniform(-16, 16)))


def _kinds(random: Random, plan: _Plan, sizes: Sequence[Size], *, unseen: bool) -> list[tuple[str, str]]:
    """Colours and shapes of things of these sizes, exactly one of them held out if `unseen`, else none.

    No two things are the same in both, no three in either.
    """
    while True:
        kinds: list[tuple[str, str]] = []
        for _ in sizes:
            colour, shape = random.choice(tuple(COLOURS)), random.choice(SHAPES)
            if kinds and random.random() < _ALIKE:
                colour, shape = (kinds[-1][0], shape) if random.random() < 0.5 else (colour, kinds[-1][1])
            kinds.append((colour, shape))
        if unseen:
            chosen, colour = random.randrange(plan.things), random.choice(tuple(COLOURS))
            kinds[chosen] = (colour, HELD_OUT[sizes[chosen]][colour])
        held_out = sum(HELD_OUT[size][colour] == shape for size, (colour, shape) in zip(sizes, kinds, strict=True))
        if _is_fair(kinds, plan) and held_out == unseen:
            return kinds


def _is_fair(kinds: list[tuple[str, str]], plan: _Plan) -> bool:
    if plan.things == 1:
        return True
    colours, shapes = {colour for colour, _ in kinds}, {shape for _, shape in kinds}
    if plan.relation == "inside":
        return len(colours) == 2
    return len(set(kinds)) == plan.things and (plan.things == 2 or (len(colours) > 1 and len(shapes) > 1))


def _places(random: Random, plan: _Plan, extents: list[Box]) -> list[tuple[float, float]]:
    """Centres of things of the given extents around their centres."""
    match plan.relation:
        case None:
            return [_anywhere(random, extents[0])]
        case "inside":
            x, y = _anywhere(random, extents[1])
            return [(x + random.uniform(-_PIXEL, _PIXEL), y + random.uniform(-_PIXEL, _PIXEL)), (x, y)]
        case "left of":
            return _grouped(random, plan, extents)
        case "above":
            turned = [Box(box.top, box.left, box.bottom, box.right) for box in extents]
            return [(x, y) for y, x in _grouped(random, plan, turned)]


def _anywhere(random: Random, extent: Box) -> tuple[float, float]:
    return random.uniform(*_room(_WHOLE, extent.left, extent.right)), random.uniform(*_room(_WHOLE, extent.top, extent.bottom))


def _grouped(random: Random, plan: _Plan, extents: list[Box]) -> list[tuple[float, float]]:
    """Centres of the things of two groups side by side."""
    middle = random.uniform(0.27, 0.73) if plan.things == 2 else 0.5
    places = []
    for number, extent in enumerate(extents):
        second = number >= plan.leading
        mates = plan.things - plan.leading if second else plan.leading
        across = _room(_HALVES[second], extent.left, extent.right)
        if mates == 1:
            first, last = _room(_WHOLE, extent.top, extent.bottom)
            along = max(first, middle - _STRAY), min(last, middle + _STRAY)
        else:
            along = _room(_HALVES[number - second * plan.leading], extent.top, extent.bottom)
        places.append((_near_middle(random, across), _near_middle(random, along)))
    return places


def _room(span: tuple[float, float], before: float, behind: float) -> tuple[float, float]:
    """Where a centre may lie so that what reaches from `before` to `behind` around it stays in a span."""
    return span[0] - before, span[1] - behind


def _near_middle(random: Random, room: tuple[float, float]) -> float:
    """A place in a room, not far from its middle: rows and columns stay what they are to the eye."""
    middle, half = (room[0] + room[1]) / 2, min((room[1] - room[0]) / 2, _SWAY)
    return middle + random.uniform(-half, half)


def extent(shape: str, radius: float, angle: float) -> Box:
    """The box of a shape around its own centre."""
    c, s = cos(angle) * radius, sin(angle) * radius
    discs = [(c * x - s * y, s * x + c * y, disc * radius) for x, y, disc in _OUTLINES[shape]]
    return Box(
        min(x - disc for x, _, disc in discs),
        min(y - disc for _, y, disc in discs),
        max(x + disc for x, _, disc in discs),
        max(y + disc for _, y, disc in discs),
    )


def jittered(random: Random, colour: Colour) -> Colour:
    """A colour a little to either side of another."""
    red, green, blue = (min(max(part + random.uniform(-_COLOUR_JITTER, _COLOUR_JITTER), 0), 255) for part in colour)
    return red, green, blue
