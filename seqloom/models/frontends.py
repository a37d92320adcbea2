"""What makes arrays of the files that a recipe's sources name: pixels, which encoders read."""

from collections.abc import Mapping
from typing import assert_never

from seqloom.data.images import ImagePixels
from seqloom.data.media import Frontend
from seqloom.recipe import sections


def build_frontends(recipe: sections.Recipe) -> dict[str, Frontend]:
    """A frontend for each source that is a file, by the source's name."""
    return {name: _pixels(source) for name, source in recipe.data.file_sources.items()}


def _pixels(source: sections.ImageSource) -> ImagePixels:
    return ImagePixels(*source.height_and_width, source.fit)


InputSize = int | tuple[int, ...]
"""What an encoder must know of its source: the size of a vocabulary or of vectors, or the shape of a frontend's arrays."""


def input_sizes(recipe: sections.Recipe, vocabulary_sizes: Mapping[str, int]) -> dict[str, InputSize]:
    """The sizes of all sources, in their order, and of the target's vocabulary."""
    sizes: dict[str, InputSize] = {}
    for name in recipe.encoders:
        source = recipe.data.sources[name]
        match source:
            case sections.TextSource():
                sizes[name] = vocabulary_sizes[name]
            case sections.VectorSource(size=size):
                sizes[name] = size
            case sections.ImageSource():
                sizes[name] = _pixels(source).shape
            case _:
                assert_never(source)
    return {**sizes, sections.TARGET: vocabulary_sizes[sections.TARGET]}
