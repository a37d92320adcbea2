"""Recipes from YAML and from Python."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from seqloom.errors import RecipeError
from seqloom.recipe.documents import HALF_PAIR, Document, has_half_pair, kind_of_value, read_text
from seqloom.recipe.overrides import drop_keys_of_other_kinds, override
from seqloom.recipe.problems import Origins, problems_of, report
from seqloom.recipe.renamed import advise, current, rename_old_keys
from seqloom.recipe.schema import fill_kinds, slots_of
from seqloom.recipe.sections import Recipe, Section
from seqloom.wording import listed


def read_recipe(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe from a YAML file; each override is what follows `--set`, as in `training.epochs=3`."""
    return parse_recipe(read_text(Path(path)), where=os.fspath(path), overrides=overrides)


def parse_recipe(text: str, *, where: str = "recipe", overrides: Sequence[str] = (), by_hand: bool = True) -> Recipe:
    """Read a recipe from YAML text; `where` is what messages call it.

    by_hand: a person wrote it, who may want to know of keys that have other names now.
    """
    document = Document(where)
    data = document.read(text, quickly=not by_hand)
    if data is None:
        raise RecipeError(f"{where}: expected a recipe, but there is nothing in it. Begin with `data: {{train: pairs.tsv}}`.")
    if not isinstance(data, dict):
        raise RecipeError(f"{where}: expected a recipe with the keys {listed(slots_of(Recipe))}; got {kind_of_value(data)}.")
    old = rename_old_keys(data)
    if by_hand:
        advise(where, old)
    changed = override(data, overrides)
    lines = {current(place) if current(place) not in document.lines else place: at for place, at in document.lines.items()}
    return _validated(data, Origins(where, lines, changed))


def recipe_from(mapping: Mapping[str, object]) -> Recipe:
    """Make a recipe from plain Python data, with the same defaults, checks and messages as from YAML."""
    data = _plain(mapping)
    advise(None, rename_old_keys(data))
    return _validated(data, Origins())


def _validated(data: Any, origins: Origins) -> Recipe:
    fill_kinds(data)
    for place in origins.overridden:
        drop_keys_of_other_kinds(data, place, origins)
    try:
        # Strict, so that `epochs: true` is not 1 and `epochs: "3"` is not 3.
        return Recipe.model_validate(data, strict=True)
    except ValidationError as error:
        raise RecipeError(report(problems_of(data, error), origins)) from None


def _plain(value: object) -> Any:
    """Turn what Python callers pass into what YAML gives: dictionaries with text as keys, tuples, text for paths."""
    match value:
        case Section():
            return _plain(value.model_dump())
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return tuple(_plain(item) for item in value)
        case os.PathLike():
            return _plain(os.fspath(value))
        case str() if has_half_pair(value):
            raise RecipeError(f"{value!r}: {HALF_PAIR}.")
        case _:
            return value
