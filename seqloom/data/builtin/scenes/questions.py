"""Questions about a scene that have an answer of one word.

They are balanced, so that the question alone does not give the answer away: yes and no are equally frequent, so are small and
large, the numbers of a count, the colours and the shapes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

from seqloom.data.builtin.scenes.things import COLOURS, HELD_OUT, SHAPES, SIZES, VERSION, Scene, Thing, scene

Kind = Literal["colour", "shape", "size", "relation", "count", "exists", "compare"]

ASKED = 3
"""How many questions each picture has."""

_NUMBERS = ("zero", "one", "two", "three")

_PLAIN_COUNTS = 0.62
"""How often a count is asked in pictures without two things alike, where the answer can only be zero or one.

Where two are alike, it is asked always, and the answer is two. So the three answers are about equally frequent.
"""

_FULL_COUNTS = {1: 0.18, 2: 0.25, 3: 0.25}
"""How often a count is of all things, by their number: about a single thing there are fewer other questions."""

_CLEAR = 4 / 64
"""From this distance of middles on, a share of the picture's side, a person might call one thing left of another, or above."""

_OPPOSITES = {"left of": "right of", "above": "below"}


@dataclass(frozen=True)
class Question:
    """A question about the scene of a number, its answer, and what kind of question it is."""

    number: int
    text: str
    answer: str
    kind: Kind


_Asked = tuple[str, str] | None
"""A question and its answer; None if there is none for this scene."""


def questions(number: int) -> tuple[Question, ...]:
    """Three questions of different kinds about the scene of a number."""
    content, random = scene(number), Random(f"scenes/{VERSION}/{number}/questions")
    kinds = list(_ASK)
    random.shuffle(kinds)
    asked: list[Question] = []
    for kind in kinds:
        if len(asked) < ASKED and (one := _ASK[kind](content, random)):
            asked.append(Question(number, f"{one[0]} ?", one[1], kind))
    return tuple(asked)


def _colour(content: Scene, random: Random) -> _Asked:
    thing = random.choice(content.things)
    name = _name(content, thing, ("shape",), ("size", "shape"))
    return (f"what colour is the {name}", thing.colour) if name else None


def _shape(content: Scene, random: Random) -> _Asked:
    thing = random.choice(content.things)
    name = _name(content, thing, ("colour",), ("size", "colour"))
    return (f"what shape is the {name}", thing.shape) if name else None


def _size(content: Scene, random: Random) -> _Asked:
    thing = random.choice(content.things)
    return f"what size is the {_name(content, thing, ('shape',), ('colour', 'shape'))}", thing.size


def _relation(content: Scene, random: Random) -> _Asked:
    """Ask for the colour or the shape of what lies beside another thing, if that can only mean one."""
    candidates = [
        (one, relation, other) for one, relation, other in _relations(content) if _is_only(one, relation, other, content)
    ]
    if not candidates:
        return None
    one, relation, other = random.choice(candidates)
    # The other thing is not named by what is asked for, unless it must: its shape would be a hint at the shape.
    if random.random() < 0.5:
        return f"what colour is the thing {relation} the {_name(content, other, ('shape',), ('colour', 'shape'))}", one.colour
    return f"what shape is the thing {relation} the {_name(content, other, ('colour',), ('colour', 'shape'))}", one.shape


def _compare(content: Scene, random: Random) -> _Asked:
    """Ask whether a relation holds that does, or that does the other way round."""
    candidates = list(_relations(content))
    if not candidates:
        return None
    one, relation, other = random.choice(candidates)
    answer = random.choice(("yes", "no"))
    names = [_name(content, thing, ("shape",), ("colour", "shape")) for thing in (one, other)]
    first, second = names if answer == "yes" else reversed(names)
    return f"is the {first} {relation} the {second}", answer


def _count(content: Scene, random: Random) -> _Asked:
    if random.random() < _FULL_COUNTS[len(content.things)]:
        return "how many things are there", _NUMBERS[len(content.things)]
    attribute = random.choice(("colour", "shape"))
    counts = Counter(str(getattr(thing, attribute)) for thing in content.things)
    values = [value for value, times in counts.items() if times == 2]
    if not values:
        if random.random() >= _PLAIN_COUNTS:
            return None
        everything = COLOURS if attribute == "colour" else SHAPES
        present = random.random() < 0.5
        values = [value for value in everything if (value in counts) == present]
    value = random.choice(values)
    return f"how many {_plural(value) if attribute == 'shape' else f'{value} things'} are there", _NUMBERS[counts[value]]


def _exists(content: Scene, random: Random) -> _Asked:
    """Ask for a thing that is there, or for one that is not but has a colour or a shape that is."""
    shown = [(thing.colour, thing.shape) for thing in content.things]
    colour, shape = random.choice(shown)
    answer = random.choice(("yes", "no"))
    if answer == "no":
        # A pair that training shows in one size only is there half as often as others, so it is asked for in vain as rarely.
        known = [(one, other) for size in SIZES for one in COLOURS for other in SHAPES if HELD_OUT[size][one] != other]
        absent = [kind for kind in known if kind not in shown]
        near = [(one, other) for one, other in absent if any(one == kind[0] or other == kind[1] for kind in shown)]
        colour, shape = random.choice(near)
    return f"is there a {colour} {shape}", answer


_ASK: Mapping[Kind, Callable[[Scene, Random], _Asked]] = {
    "colour": _colour,
    "shape": _shape,
    "size": _size,
    "relation": _relation,
    "count": _count,
    "exists": _exists,
    "compare": _compare,
}


def _name(content: Scene, thing: Thing, *ways: tuple[str, ...]) -> str | None:
    """What to call a thing: by the first of the ways, each some of its attributes, that no other thing shares."""
    for way in ways:
        words = [str(getattr(thing, attribute)) for attribute in way]
        if sum([getattr(other, attribute) for attribute in way] == words for other in content.things) == 1:
            return " ".join(words if "shape" in way else (*words, "thing"))
    return None


def _relations(content: Scene) -> Iterator[tuple[Thing, str, Thing]]:
    """All relations between two things: across the groups what the caption says, within a group the other direction."""
    if content.relation is None:
        return
    within = "above" if content.relation == "left of" else "left of"
    for number, one in enumerate(content.things):
        for later, other in enumerate(content.things[number + 1 :], start=number + 1):
            relation = content.relation if number < content.leading <= later else within
            yield one, relation, other
            if relation in _OPPOSITES:
                yield other, _OPPOSITES[relation], one


def _is_only(one: Thing, relation: str, other: Thing, content: Scene) -> bool:
    """Whether nobody could mean a third thing."""
    return not any(_might_be(third, relation, other) for third in content.things if third not in (one, other))


def _might_be(one: Thing, relation: str, other: Thing) -> bool:
    rightward, downward = one.x - other.x, one.y - other.y
    distances = {"left of": -rightward, "right of": rightward, "above": -downward, "below": downward}
    return distances.get(relation, 0.0) > _CLEAR


def _plural(shape: str) -> str:
    return f"{shape}es" if shape.endswith("s") else f"{shape}s"
