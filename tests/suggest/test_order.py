"""Whether targets run along with their sources, told from the pairs alone."""

import random

import pytest

from seqloom.data.builtin import dates
from seqloom.suggest.order import agreement_of_places, run_along

LETTERS = "abcdefghijklmno"


def words(count: int = 300) -> list[str]:
    rng = random.Random(1)
    return ["".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(count)]


def spoken(word: str) -> list[str]:
    """A sound for each letter, two for an x-like one, and none for a silent one."""
    return [sound for letter in word for sound in {"a": "KS", "b": ""}.get(letter, letter.upper())]


def test_sounds_run_along_with_letters() -> None:
    assert run_along(words(), [spoken(word) for word in words()])


def test_reversed_words_do_not() -> None:
    assert agreement_of_places(words(), [word[::-1] for word in words()]) < -0.6
    assert not run_along(words(), [word[::-1] for word in words()])


def test_dates_do_not() -> None:
    some = [one for _, one in zip(range(300), dates.examples("train"), strict=False)]
    assert not run_along([one.sources["source"] for one in some], [one.target or "" for one in some])


def test_what_has_nothing_in_common_does_not() -> None:
    others = words()
    random.Random(2).shuffle(others)
    assert not run_along(words(), others)


@pytest.mark.parametrize("pairs", [[], [("a", "b")], [("", "")], [("aaaa", "bb")]])
def test_too_little_to_tell_does_not(pairs: list[tuple[str, str]]) -> None:
    assert not run_along([source for source, _ in pairs], [target for _, target in pairs])
