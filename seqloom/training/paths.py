"""Whole paths in a recipe, so that a run means the same files from wherever it is used."""

from pathlib import Path
from typing import Any

from seqloom.recipe import Recipe
from seqloom.recipe.sections import Aligned, AnySource, AnyVocabulary, Files, FileSource, Named, TextSource, VocabularyFile


def with_absolute_paths(recipe: Recipe) -> Recipe:
    """The recipe with whole paths of its files, so that a run can be resumed and evaluated from any folder."""
    data = recipe.data
    files: dict[str, Any] = {
        split: _absolute(getattr(data, split)) for split in ("train", "validation", "test") if getattr(data, split)
    }
    own = {side: _with_absolute_file(getattr(data.vocabularies, side)) for side in ("source", "target")}
    files["vocabularies"] = data.vocabularies.model_copy(update=own)
    files["sources"] = Named({name: _with_absolute_root(source) for name, source in data.sources.items()})
    return recipe.model_copy(update={"data": data.model_copy(update=files)})


def _with_absolute_file(vocabulary: AnyVocabulary) -> AnyVocabulary:
    if isinstance(vocabulary, VocabularyFile):
        return vocabulary.model_copy(update={"file": _absolute(vocabulary.file)})
    return vocabulary


def _with_absolute_root(source: AnySource) -> AnySource:
    match source:
        case FileSource(root=str(root)):
            return source.model_copy(update={"root": _absolute(root)})
        case TextSource(vocabulary=VocabularyFile() as vocabulary):
            return source.model_copy(update={"vocabulary": _with_absolute_file(vocabulary)})
        case _:
            return source


def _absolute(files: Files) -> Files:
    match files:
        case Aligned(source=source, target=target):
            return Aligned.model_validate({"source": _absolute(source), "target": _absolute(target)})
        case str():
            return str(Path(files).resolve())
        case _:
            return tuple(str(Path(one).resolve()) for one in files)
