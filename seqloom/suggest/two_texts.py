"""Recipes for two texts whose relation is plain from the table: a story and a question, a premise and a hypothesis."""

from collections.abc import Sequence
from typing import Any

from seqloom.data.reading.stories import STORY_SOURCES
from seqloom.recipe.shipped import shipped_recipe
from seqloom.suggest.recognition import Recognised
from seqloom.suggest.recognition.entailment import ENTAILMENT_SOURCES

_RECIPES: dict[tuple[str, ...], str] = {ENTAILMENT_SOURCES: "entailment", STORY_SOURCES: "reasoning"}


def body_for_two_texts(table: Recognised, train: Sequence[str], share: float) -> dict[str, Any] | None:
    """The shipped recipe for the sources of a table, with its files and columns; None if there is none for them."""
    name = _RECIPES.get(tuple(table.sources))
    if name is None or not table.classes:
        return None
    base = shipped_recipe(name)
    body = base.model_dump(exclude={"seed", "device"})
    sources = {key: {**body["data"]["sources"][key], "column": one.column} for key, one in table.sources.items()}
    body["data"] |= {
        "train": list(train),
        "validation": None,
        "test": None,
        "format": table.format,
        "sources": sources,
        "columns": table.columns.model_dump(),
        "split": {"validation": share, "test": share},
    }
    return body
