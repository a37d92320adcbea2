"""Which films are for training, validation and test, and the examples that they make."""

from collections.abc import Iterator, Mapping
from itertools import islice

from seqloom.data.builtin.moves.events import film
from seqloom.data.builtin.scenes.splits import Split, numbered
from seqloom.data.examples import Example, Origin, abbreviated
from seqloom.data.media.files import FILMED, MediaError

FILMS: Mapping[Split, int] = {"train": 8_000, "validation": 500, "test": 1_000}
"""How many films each split has."""


def numbers(split: Split, *, seed: int = 1) -> Iterator[int]:
    """Yield the numbers of a split's films, `FILMS[split]` of them; the last digit says which, as that of scenes does."""
    return islice(numbered(split, seed=seed), FILMS[split])


def number_of(name: str) -> int:
    """The number of a film, from what stands for it."""
    digits = name.removeprefix(FILMED)
    if not name.startswith(FILMED) or not (digits.isascii() and digits.isdecimal()) or len(digits) > 18:
        raise MediaError(f"expected a film such as 'moves:12', found {abbreviated(name)}")
    return int(digits)


def examples(split: Split, *, seed: int = 1) -> Iterator[Example]:
    """Yield the captions of a split, one for each film."""
    for line, number in enumerate(numbers(split, seed=seed), start=1):
        yield Example({"video": f"{FILMED}{number}"}, film(number).caption, Origin(f"builtin:moves/{split}", line))
