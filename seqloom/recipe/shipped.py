"""Recipes that come with seqloom."""

from importlib.resources import files
from pathlib import Path

from seqloom.recipe.reading import read_recipe
from seqloom.recipe.sections import Recipe


def shipped() -> dict[str, Path]:
    """The recipes inside the package, by name."""
    folder = Path(str(files("seqloom") / "recipes"))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def shipped_recipe(name: str) -> Recipe:
    """A recipe inside the package."""
    return read_recipe(shipped()[name])
