from seqloom.recipe import recipe_from
from seqloom.suggest.reasons import reasons


def test_what_was_chosen_is_said_with_its_reason() -> None:
    data = {"train": "w.tsv", "vocabularies": {"target": {"kind": "symbols"}}}
    recipe = recipe_from({"data": data, "training": {"epochs": 40, "validation": {"metric": "cer"}}})
    said = reasons(recipe)
    assert "the source is characters, as texts of a few words are written letter by letter" in said
    assert "the target is what stands between spaces" in said
    assert "at most 40 epochs" in said
    assert "judged by cer" in said
    assert "epochs" not in reasons(recipe, timed=True)


def test_sides_that_are_alike_are_said_once() -> None:
    assert "both sides are characters" in reasons(recipe_from({"data": {"builtin": "dates"}}))
    text = {"data": {"train": "b.txt", "text": "lines"}, "model": {"encoder": None, "bridge": {"kind": "none"}}}
    assert reasons(recipe_from(text)).startswith("the recipe text, fitted to the data: characters")
