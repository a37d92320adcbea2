"""Which scenes are for training, validation and test, and the examples that they make."""

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Literal

from seqloom.data.builtin.scenes.questions import questions
from seqloom.data.builtin.scenes.things import is_unseen, scene
from seqloom.data.examples import Example, Origin, abbreviated
from seqloom.data.media.files import DRAWN, MediaError

Split = Literal["train", "validation", "test"]

PICTURES: Mapping[Split, int] = {"train": 20_000, "validation": 1_000, "test": 2_000}
"""How many pictures each split has."""

_NUMBERS_OF_A_SEED = 1_000_000


def split_of(number: int) -> Split:
    """Say which split a scene belongs to, by the last digit of its number: 9 is test, 8 validation, the others are train.

    Scenes of test show a combination of size, colour and shape that is held out of the other two.
    """
    if is_unseen(number):
        return "test"
    return "validation" if number % 10 == 8 else "train"


def numbers(split: Split, *, seed: int = 1) -> Iterator[int]:
    """Yield the numbers of a split's scenes, `PICTURES[split]` of them."""
    return islice(numbered(split, seed=seed), PICTURES[split])


def numbered(split: Split, *, seed: int) -> Iterator[int]:
    """Yield all numbers of a split, of whatever is drawn from numbers. No seed shows what another seed tests on."""
    return (number for number in count(seed * _NUMBERS_OF_A_SEED) if split_of(number) == split)


def reference(number: int) -> str:
    """What stands for a scene in an example."""
    return f"{DRAWN}{number}"


def number_of(name: str) -> int:
    """The number of a scene, from what stands for it."""
    digits = name.removeprefix(DRAWN)
    if not name.startswith(DRAWN) or not (digits.isascii() and digits.isdecimal()) or len(digits) > 18:
        raise MediaError(f"expected a scene such as 'scene:12', found {abbreviated(name)}")
    return int(digits)


def examples(split: Split, *, seed: int = 1) -> Iterator[Example]:
    """Yield the captions of a split, one for each picture."""
    for line, number in enumerate(numbers(split, seed=seed), start=1):
        yield Example({"image": reference(number)}, scene(number).caption, Origin(f"builtin:scenes/{split}", line))


def question_examples(split: Split, *, seed: int = 1) -> Iterator[Example]:
    """Yield the questions of a split, three for each picture."""
    asked = (one for number in numbers(split, seed=seed) for one in questions(number))
    for line, one in enumerate(asked, start=1):
        origin = Origin(f"builtin:scene-questions/{split}", line)
        yield Example({"image": reference(one.number), "question": one.text}, one.answer, origin)
