"""Recipes: plain validated data that decides a run."""

from seqloom.recipe.reading import choices, differences, jars, parse_recipe, read_recipe, recipe_from, to_yaml
from seqloom.recipe.sections import Recipe

__all__ = ["Recipe", "choices", "differences", "jars", "parse_recipe", "read_recipe", "recipe_from", "to_yaml"]
