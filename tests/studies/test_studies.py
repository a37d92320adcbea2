"""What the studies are made of, without training anything."""

from pathlib import Path
from typing import Any

import pytest

from seqloom.recipe import read_recipe
from seqloom.recipe.sections import Exhaustive
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
