"""The format of data whose name does not tell it."""

import json
from pathlib import Path

import pytest

from cli.conftest import Seqloom
from seqloom.cli.choosing import Asked, choose_recipe
from seqloom.data.reading.formats import read_examples

WORDS = "".join(f"word{number}  W ER{number % 3} D\n" for number in range(30))


@pytest.fixture
def words(here: Path) -> Path:
    """A dictionary under a name that says nothing."""
    (here / "words.lst").write_text(WORDS)
    return here / "words.lst"


@pytest.mark.parametrize("command", [("check",), ("train", "--out", "run", "--pairs")])
def test_an_unknown_ending_asks_for_the_option_that_says_it(seqloom: Seqloom, words: Path, command: tuple[str, ...]) -> None:
    answer = seqloom(*command, words.name)
    assert answer.code == 2
    assert "--format" in answer.err


def test_check_reads_what_the_option_says(seqloom: Seqloom, words: Path) -> None:
    body = json.loads(seqloom("check", words.name, "--format", "cmudict", "--json").out)
    assert body["splits"]["train"]["pairs"] == 30


def test_a_dictionary_is_known_by_its_ending(seqloom: Seqloom, here: Path) -> None:
    (here / "words.dict").write_text(WORDS)
    body = json.loads(seqloom("check", "words.dict", "--json").out)
    assert body["splits"]["train"]["pairs"] == 30
    assert body["columns"]["taken"] == {"source": 1, "target": 2}


@pytest.mark.parametrize("recipe", [None, "pronunciation"])
def test_the_recipe_of_a_training_keeps_the_format(words: Path, recipe: str | None) -> None:
    data = choose_recipe(Asked(recipe=recipe, pairs=(str(words),), format="cmudict-unstressed")).data
    assert data.format == "cmudict-unstressed"
    first = next(read_examples(str(words), format=data.format, columns=data.columns, sources=data.sources))
    assert (first.sources["source"], first.target) == ("word0", "W ER D")


def test_a_format_without_pairs_has_nothing_to_act_on(seqloom: Seqloom, here: Path) -> None:
    (here / "book.txt").write_text("a book\n")
    assert seqloom("train", "--text", "book.txt", "--format", "tsv", "--out", "run").code == 2
    assert seqloom("train", "dates", "--format", "tsv", "--out", "run").code == 2
    assert "jsonl" in seqloom("check", "book.txt", "--format", "xml").err
