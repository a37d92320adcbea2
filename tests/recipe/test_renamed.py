"""Keys that had other names once."""

import warnings

import pytest

from seqloom.errors import RecipeError
from seqloom.recipe import parse_recipe, recipe_from, to_yaml
from seqloom.recipe.renamed import OldKeyWarning

OLD = "data: {builtin: dates}\ntraining: {average: sequences, averaging: {decay: 0.9}, stretch: 9}\n"


def test_old_names_mean_the_new_ones_and_are_advised_against() -> None:
    with pytest.warns(OldKeyWarning) as advice:
        recipe = parse_recipe(OLD, where="r.yaml")
    assert recipe.training.loss_per == "sequences"
    assert recipe.training.ema is not None
    assert (recipe.training.ema.decay, recipe.training.bptt) == (0.9, 9)
    assert [str(one.message) for one in advice] == [
        "r.yaml: training.average is called training.loss_per now. The old name still works; write the new one",
        "r.yaml: training.averaging is called training.ema now. The old name still works; write the new one",
        "r.yaml: training.stretch is called training.bptt now. The old name still works; write the new one",
    ]
    assert "averag" not in to_yaml(recipe)


def test_what_a_run_folder_holds_is_read_without_advice() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_recipe(OLD, by_hand=False).training.loss_per == "sequences"


def test_old_names_work_in_overrides_and_from_python() -> None:
    with pytest.warns(OldKeyWarning, match=r"--set: training\.averaging\.decay is called training\.ema\.decay"):
        recipe = parse_recipe("data: {builtin: dates}\n", overrides=["training.averaging.decay=0.5"])
    assert recipe.training.ema is not None
    with pytest.warns(OldKeyWarning, match=r"^training\.average is called"):
        assert recipe_from({"data": {"builtin": "dates"}, "training": {"average": "tokens"}}).training.loss_per == "tokens"


def test_a_mistake_under_an_old_name_has_its_line_and_both_names_together_are_refused() -> None:
    with pytest.warns(OldKeyWarning), pytest.raises(RecipeError, match=r"^r\.yaml:3: training\.loss_per: expected one of"):
        parse_recipe("data: {builtin: dates}\ntraining:\n  average: words\n", where="r.yaml")
    with pytest.raises(RecipeError, match=r"training\.average: unknown key"):
        parse_recipe("data: {builtin: dates}\ntraining: {average: tokens, loss_per: tokens}\n")


def test_names_of_parts_keep_their_dots_in_overrides() -> None:
    recipe = parse_recipe(
        "data: {builtin: dates}\n", overrides=["training.rates.decoder.embedding=0", "training.rates.encoder=2"]
    )
    assert recipe.training.rates == {"decoder.embedding": 0, "encoder": 2}
    with pytest.raises(RecipeError, match=r"training\.rates\.encoder: expected a number of at least 0; got -1"):
        parse_recipe("data: {builtin: dates}\n", overrides=["training.rates.encoder=-1"])


def test_to_keep_nothing_is_refused() -> None:
    with pytest.raises(RecipeError, match="nothing would be kept"):
        recipe_from({"data": {"builtin": "dates"}, "training": {"keep": {}}})
