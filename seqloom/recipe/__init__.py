"""Recipes: plain validated data that decides a run."""

from seqloom.recipe.reading import parse_recipe, read_recipe, recipe_from
from seqloom.recipe.sections import Recipe
from seqloom.recipe.words import bridge_words, choices, jars
from seqloom.recipe.writing import differences, to_yaml

__all__ = ["Recipe", "bridge_words", "choices", "differences", "jars", "parse_recipe", "read_recipe", "recipe_from", "to_yaml"]
