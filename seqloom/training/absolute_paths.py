"""Whole paths in a recipe, so that a run means the same files from wherever it is used."""

from pathlib import Path
from typing import Any

from seqloom.recipe import Recipe
from seqloom.recipe.sections import Aligned, AnyVocabulary, Files, Named, VocabularyFile


def with_absolute_paths(recipe: Recipe) -> Recipe:
    """The recipe with whole paths of its files, so that a run can be resumed and evaluated from any folder."""
    data = recipe.data
    files: dict[str, Any] = {
        split: _absolute(getattr(data, split)) for split in ("train", "validation", "test") if getattr(data, split)
    }
    own = {side: _with_absolute_file(getattr(data.vocabularies, side)) for side in ("source", "target")}
    files["vocabularies"] = data.vocabularies.model_copy(update=own)
    files["sources"] = Named({name: source.with_paths(_absolute_path) for name, source in data.sources.items()})
    return recipe.model_copy(update={"data": data.model_copy(update=files)})


def _with_absolute_file(vocabulary: AnyVocabulary) -> AnyVocabulary:
    if isinstance(vocabulary, VocabularyFile):
        return vocabulary.model_copy(update={"file": _absolute(vocabulary.file)})
    return vocabulary


def _absolute(files: Files) -> Files:
    match files:
        case Aligned(source=source, target=target):
            return Aligned.model_validate({"source": _absolute(source), "target": _absolute(target)})
        case str():
            return _absolute_path(files)
        case _:
            return tuple(map(_absolute_path, files))


def _absolute_path(file: str) -> str:
    return str(Path(file).resolve())
