"""What makes arrays of the files that a recipe's sources name, for encoders to read."""

from collections.abc import Mapping
from typing import assert_never

import torch

from seqloom.data.media.files import Frontend
from seqloom.data.media.images import ImagePixels
from seqloom.models.encoders.frozen_features import FrozenFeatures
from seqloom.recipe import sections


def build_frontends(recipe: sections.Recipe) -> dict[str, Frontend]:
    """A frontend for each source that is a file, by the source's name."""
    return {name: build_frontend(source, recipe.encoders[name]) for name, source in recipe.data.file_sources.items()}


def build_frontend(source: sections.ImageSource, encoder: sections.AnyEncoder, *, threads: int | None = None) -> Frontend:
    """What makes arrays of images for an encoder: pixels, or what a frozen network sees of them.

    threads: how many images are read at once; None means as many as torch computes with.
    """
    pixels = ImagePixels(*source.height_and_width, source.fit, torch.get_num_threads() if threads is None else threads)
    if isinstance(encoder, sections.EfficientNetLite0Encoder) and not encoder.tuned:
        return FrozenFeatures(encoder, pixels)
    return pixels


InputSize = int | tuple[int, ...]
"""What an encoder must know of its source: the size of a vocabulary or of vectors, or the shape of images."""


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
                sizes[name] = (*source.height_and_width, 3)
            case _:
                assert_never(source)
    return {**sizes, sections.TARGET: vocabulary_sizes[sections.TARGET]}
