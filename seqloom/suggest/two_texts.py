"""Recipes for two texts whose relation is plain from the table: a text and a question, a premise and a hypothesis."""

from collections.abc import Sequence
from typing import Any

from seqloom.data.reading.stories import STORY_SOURCES
from seqloom.recipe.shipped import shipped_recipe
from seqloom.suggest.recognition import Recognised
from seqloom.suggest.recognition.entailment import ENTAILMENT_SOURCES
from seqloom.suggest.recognition.naming import ANSWER_SOURCES

ANSWERS = "answers"
_RECIPES: dict[tuple[frozenset[str], bool], str] = {
    (frozenset(ENTAILMENT_SOURCES), True): "entailment",
    (frozenset(STORY_SOURCES), True): "reasoning",
    (frozenset(ANSWER_SOURCES), False): ANSWERS,
}
"""By the names of the sources, in any order, and whether targets are classes."""


def recipe_of_two_texts(table: Recognised) -> str | None:
    """The name of the shipped recipe for the sources of a table; None if there is none for them."""
    return _RECIPES.get((frozenset(table.sources), table.classes))


def body_for_two_texts(name: str, table: Recognised, train: Sequence[str], share: float) -> dict[str, Any]:
    """A shipped recipe, with the files and columns of a table."""
    body = shipped_recipe(name).model_dump(exclude={"seed", "device"})
    read, places = body["data"]["sources"], columns_of(table)
    body["data"] |= {
        "train": list(train),
        "validation": None,
        "test": None,
        "format": table.format,
        "sources": {key: {**read[key], "column": places[key]} for key in read},
        "columns": table.columns.model_dump(),
        "split": {**body["data"]["split"], "validation": share, "test": share},
    }
    return body


def columns_of(table: Recognised) -> dict[str, int | str]:
    """The column of each source, said also where it is the usual one: the recipe may have its sources in another order."""
    return {key: table.places[key] + 1 if one.column is None else one.column for key, one in table.sources.items()}
