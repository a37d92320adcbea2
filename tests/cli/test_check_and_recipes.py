"""`seqloom check` and `seqloom recipes`."""

import json
from pathlib import Path

import pytest

from cli.conftest import Seqloom
from seqloom.recipe import read_recipe
from seqloom.recipe.shipped import shipped


def test_good_data_is_fit_for_training(seqloom: Seqloom, tiny_pairs: Path) -> None:
    answer = seqloom("check", tiny_pairs)
    assert answer.code == 0
    assert "fit for training" in answer.out


def test_broken_data_fails_the_check_with_file_and_line(seqloom: Seqloom, here: Path) -> None:
    (here / "bad.tsv").write_text("a\tb\nonly one column\nc\td\n")
    answer = seqloom("check", "bad.tsv")
    assert answer.code == 1
    assert "bad.tsv:2" in answer.out
    assert "do not train yet: mend the errors first" in answer.out
    body = json.loads(seqloom("check", "bad.tsv", "--json").out)
    assert body["unwise"] is True
    assert body["findings"]


def test_a_recipe_and_aligned_files_can_be_checked(seqloom: Seqloom, here: Path) -> None:
    (here / "a.txt").write_text("one\ntwo\n")
    (here / "b.txt").write_text("eins\nzwei\n")
    (here / "short.txt").write_text("eins\n")
    (here / "mine.yaml").write_text("data: {train: {source: a.txt, target: b.txt}}\n")
    assert seqloom("check", "--source", "a.txt", "--target", "b.txt").code == 0
    assert seqloom("check", "mine.yaml").code == 0
    assert seqloom("check", "--source", "a.txt", "--target", "short.txt").code == 1


@pytest.mark.parametrize("words", [[], ["--source", "a.txt"], ["w.tsv", "--source", "a.txt", "--target", "b.txt"]])
def test_check_wants_one_kind_of_input(seqloom: Seqloom, words: list[str]) -> None:
    answer = seqloom("check", *words)
    assert answer.code == 2
    assert "--source and --target" in answer.err


def test_a_missing_file_is_missing_data(seqloom: Seqloom, here: Path) -> None:
    assert seqloom("check", "nosuch.tsv").code == 3


@pytest.mark.parametrize("name", shipped())
def test_each_shipped_recipe_is_valid_and_headed_by_the_command_that_runs_it(name: str) -> None:
    path = shipped()[name]
    read_recipe(path)
    head, *rest = path.read_text(encoding="utf-8").splitlines()
    assert head.startswith("# ")
    assert any(line.startswith("#   seqloom train ") for line in rest)


@pytest.mark.parametrize("name", shipped())
def test_a_copied_recipe_is_valid_and_never_overwrites(seqloom: Seqloom, here: Path, name: str) -> None:
    assert seqloom("recipes", "copy", name).out == f"{name}.yaml\n"
    assert seqloom("recipes", "check", f"{name}.yaml").out == f"{name}.yaml: valid\n"
    again = seqloom("recipes", "copy", name)
    assert (again.code, "exists already" in again.err) == (2, True)


def test_the_list_and_the_jars_are_there_as_json_too(seqloom: Seqloom) -> None:
    [rows] = seqloom("recipes", "ls", "--json").objects
    assert [row["name"] for row in rows] == list(shipped())
    assert seqloom("recipes", "ls").out.startswith("acts")
    body = json.loads(seqloom("recipes", "show", "dates", "--json").out)
    assert list(body["jars"]) == ["task", "data", "model", "loss", "learning algorithm", "evaluation"]
    assert body["recipe"]["data"]["builtin"] == "dates"
    assert "data: {builtin: dates}" in seqloom("recipes", "show", "dates").out


def test_a_wrong_recipe_names_its_line_and_the_nearest_spelling(seqloom: Seqloom, here: Path) -> None:
    (here / "mine.yaml").write_text("data: {builtin: dates}\ntraining:\n  epoch: 3\n")
    answer = seqloom("recipes", "check", "mine.yaml")
    assert answer.code == 2
    assert "mine.yaml:3" in answer.err
    assert "'epochs'" in answer.err
    unknown = seqloom("recipes", "show", "nosuch")
    assert (unknown.code, "transliteration" in unknown.err) == (2, True)


def test_all_wrong_recipes_are_reported(seqloom: Seqloom, here: Path) -> None:
    answer = seqloom("recipes", "check", "one.yaml", "dates", "two.yaml")
    assert (answer.code, answer.out) == (2, "dates: valid\n")
    assert "one.yaml" in answer.err
    assert "two.yaml" in answer.err


def test_options_that_a_recipe_answers_itself_are_refused(seqloom: Seqloom, here: Path) -> None:
    (here / "mine.yaml").write_text("data: {train: w.tsv}\n")
    answer = seqloom("check", "mine.yaml", "--columns", "source=2")
    assert (answer.code, "is a recipe, which says itself" in answer.err) == (2, True)
