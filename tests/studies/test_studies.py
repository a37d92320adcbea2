"""What the studies are made of, without training anything."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqloom.recipe import read_recipe
from seqloom.recipe.sections import Exhaustive
from seqloom.results.layouts import Frames, Tokens
from seqloom.results.predictions import Alignment, Candidate, Prediction
from seqloom.search import run
from seqloom.search.walk import Walk

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize("path", sorted((STUDIES / "recipes").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_recipe_of_a_study_is_valid(path: Path) -> None:
    read_recipe(path)


def test_every_run_of_the_switchboard_is_valid_and_has_a_folder_of_its_own(studies: Any) -> None:
    common, switchboard = studies("common"), studies("switchboard")
    wanted = common.Options(data=Path("data"), runs=Path("runs"), threads=1)
    recipes: dict[str, Any] = {}
    for task in switchboard.TASKS:
        for rows in switchboard.runs_of(task).values():
            for one in rows.values():
                recipe = common.recipe_of(one, wanted)
                assert recipes.setdefault(one.name, recipe) == recipe
    assert len({repr(recipe) for recipe in recipes.values()}) == len(recipes)


def test_prose_stays_when_generated_parts_change(studies: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    common = studies("common")
    monkeypatch.setattr(common, "PAGES", tmp_path)
    common.write_page("tea", {"made": "first", "table": "| a |"})
    page = tmp_path / "tea.md"
    page.write_text(page.read_text().replace("# Tea", "# Tea\n\nWritten by hand."))
    common.write_page("tea", {"made": r"second \1"})
    assert page.read_text() == (
        "# Tea\n\nWritten by hand.\n\n<!-- begin: made -->\nsecond \\1\n<!-- end: made -->\n\n"
        "<!-- begin: table -->\n| a |\n<!-- end: table -->\n"
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_bounded_search_finds_what_exhaustive_search_finds(studies: Any, seed: int) -> None:
    exact, tables = studies("exact"), studies("transition_table")
    table = tables.random_table(seed)
    request = tables.request_for(table, limit=5)
    [[best, *others]] = run(table, table.start(), Exhaustive(count=10, length_power=0.0), request)
    for known in (best, others[-1]):
        found = exact.most_probable(Walk(table, table.start(), request, minimum_length=0), known.log_prob)
        assert found.tokens.tolist() == best.tokens.tolist()


def test_slots_and_what_is_said_of_them_agree(studies: Any, tmp_path: Path) -> None:
    copying = studies("copying")
    copying.write_tables(tmp_path)
    rows = [line.split("\t") for line in (tmp_path / "test.tsv").read_text().splitlines()]
    assert len(rows) == copying.COUNTS["test"]
    assert all(sentence in copying.said_of(acts) for acts, sentence in rows)
    known = {acts.split()[2] for acts, _ in (line.split("\t") for line in (tmp_path / "train.tsv").read_text().splitlines())}
    assert not known & {acts.split()[2] for acts, _ in rows[len(rows) // 2 :]}


@pytest.mark.parametrize(("order", "distance"), [(lambda place: place, 0.0), (lambda place: 3 - place, 2 / 3)])
def test_the_distance_is_that_from_the_diagonal(studies: Any, order: Any, distance: float) -> None:
    weights = np.zeros((1, 5, 4), dtype=np.float32)
    weights[0, np.arange(4), [order(place) for place in range(4)]] = 1
    alignment = Alignment(weights, ("a", "b", "c", "d"), ((0, 1),) * 4, Tokens())
    best = Candidate(
        "w x y z", ("w", "x", "y", "z", "<end>"), 0.0, 0.0, (0.0,) * 5, finished=True, alignment={"source": alignment}
    )
    found = studies("orders").distances_of(Prediction({"source": "a b c d"}, best))
    assert float(np.mean(found)) == pytest.approx(distance, abs=1e-6)


def test_every_run_of_the_orders_is_valid(studies: Any) -> None:
    common, orders = studies("common"), studies("orders")
    wanted = common.Options(data=Path("data"), runs=Path("runs"), threads=1)
    recipes = [common.recipe_of(run, wanted) for run in orders.runs_of().values()]
    assert len({repr(recipe) for recipe in recipes}) == len(recipes) == 6


def test_stories_of_the_looks_hold_the_facts_that_answer(studies: Any) -> None:
    for told, asked in studies("looks").stories(20, seed=1):
        for (question, answer), steps in zip(asked, (0, 1, 2), strict=True):
            name = question.removeprefix("Where is ").removesuffix("?").removeprefix("the ")
            for _ in range(steps):  # from the thing to its box, from the box to who has it
                [fact] = (one for one in told if name in one and not one.endswith(f"is in the {name}."))
                name = fact.removesuffix(".").partition(" is in the ")[2] or fact.partition(" has ")[0]
            assert f"{name} is in the {answer}." in told


def test_every_run_of_the_looks_is_valid(studies: Any) -> None:
    common, looks = studies("common"), studies("looks")
    wanted = common.Options(data=Path("data"), runs=Path("runs"), threads=1)
    recipes = [common.recipe_of(run, wanted) for run in looks.runs_of().values()]
    assert [recipe.model.bridge.looks for recipe in recipes] == [1, 2, 3]


def test_every_way_to_listen_is_valid_and_has_a_folder_of_its_own(studies: Any) -> None:
    common, listening = studies("common"), studies("listening")
    wanted = common.Options(data=Path("data"), runs=Path("runs"), threads=1)
    runs = listening.runs_of()
    assert len({repr(common.recipe_of(run, wanted)) for run in runs.values()}) == len({run.name for run in runs.values()}) == 4


def test_a_step_is_how_far_the_place_went_on_that_was_listened_to_most(studies: Any) -> None:
    weights = np.zeros((1, 4, 6), dtype=np.float32)
    weights[0, np.arange(4), [1, 4, 3, 0]] = 1
    alignment = Alignment(weights, tuple("abcdef"), ((0, 1),) * 6, Frames(4, 0.01))
    best = Candidate(
        "c4 d4 e4", ("c4", "d4", "e4", "<end>"), 0.0, 0.0, (0.0,) * 4, finished=True, alignment={"sound": alignment}
    )
    assert studies("listening").steps_of(Prediction({"sound": "tones:1/3"}, best)) == [3, -1]
