"""Which melodies are for training, validation and test."""

from collections.abc import Iterator, Mapping
from itertools import count, islice
from typing import Literal

from seqloom.data.builtin.tones.notes import melody
from seqloom.data.examples import Example, Origin
from seqloom.data.media.files import PLAYED

Split = Literal["train", "validation", "test"]

MELODIES: Mapping[Split, int] = {"train": 8_000, "validation": 300, "test": 1_000}
"""How many each split has."""

_NUMBERS_OF_A_SEED = 1_000_000


def split_of(number: int) -> Split:
    """Say which split a melody belongs to, by the last digit of its number: 9 is test, 8 validation, the others are train."""
    return "test" if number % 10 == 9 else "validation" if number % 10 == 8 else "train"


def numbers(split: Split, *, seed: int = 1) -> Iterator[int]:
    """Yield the numbers of a split's melodies. No seed plays what another seed tests on."""
    own = (number for number in count(seed * _NUMBERS_OF_A_SEED) if split_of(number) == split)
    return islice(own, MELODIES[split])


def examples(split: Split, *, seed: int = 1) -> Iterator[Example]:
    """Yield the melodies of a split, with the names of their notes."""
    for line, number in enumerate(numbers(split, seed=seed), start=1):
        yield Example({"sound": f"{PLAYED}{number}"}, melody(number).names, Origin(f"builtin:tones/{split}", line))
