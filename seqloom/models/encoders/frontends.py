"""What makes arrays of the files that a recipe's sources name, for encoders to read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from seqloom.data.kinds import file_kind_of, kind_of
from seqloom.data.kinds.contract import InputSize
from seqloom.data.media.files import Frontend
from seqloom.data.media.images import ImagePixels
from seqloom.data.media.movement import MovementRows
from seqloom.data.media.sounds import SoundRows
from seqloom.data.media.videos import VideoFrames
from seqloom.models.encoders.frozen_features import FrozenFeatures, FrozenFrames
from seqloom.recipe import sections


def build_frontends(recipe: sections.Recipe) -> dict[str, Frontend]:
    """A frontend for each source that is a file, by the source's name."""
    return {name: build_frontend(source, recipe.encoders[name]) for name, source in recipe.data.file_sources.items()}


def frontend_variants(recipe: sections.Recipe) -> dict[str, Sequence[Frontend]]:
    """What makes rows of files to learn from, where it is one of several, each of which is drawn as often as another.

    Sounds are heard at the speeds that the recipe names, and what moves is mirrored. Frames that a frozen network sees are
    moved and mirrored before it sees them; those that a model learns to see are, when it does.
    """
    augment = recipe.training.augment
    speeds, flips = ((), False) if augment is None else (augment.speeds, augment.flip)
    several: dict[str, Sequence[Frontend]] = {}
    for name, frontend in build_frontends(recipe).items():
        if isinstance(frontend, SoundRows):
            several[name] = [replace(frontend, speed=speed) for speed in speeds]
        elif isinstance(frontend, MovementRows):
            several[name] = [frontend, replace(frontend, mirrored=True)] if flips else []
        elif isinstance(frontend, FrozenFrames):
            several[name] = frontend.forms()
    return {name: forms for name, forms in several.items() if forms}


def build_frontend(source: sections.FileSource, encoder: sections.AnyEncoder, *, threads: int | None = None) -> Frontend:
    """What makes rows of files for an encoder: those of their kind, or what a frozen network sees of them.

    threads: how many files are read at once; None means as many as torch computes with.
    """
    frontend = file_kind_of(source).frontend(torch.get_num_threads() if threads is None else threads)
    if isinstance(encoder, sections.EfficientNetLite0Encoder) and not encoder.tuned and isinstance(frontend, ImagePixels):
        return FrozenFeatures(encoder, frontend)
    if isinstance(encoder, sections.VideoEncoder) and encoder.is_frozen and isinstance(frontend, VideoFrames):
        return FrozenFrames(encoder, frontend)
    return frontend


def input_sizes(recipe: sections.Recipe, vocabulary_sizes: Mapping[str, int]) -> dict[str, InputSize]:
    """The sizes of all sources, in their order, and of the target's vocabulary."""
    sizes = {name: kind_of(recipe.data.sources[name]).input_size(vocabulary_sizes.get(name, 0)) for name in recipe.encoders}
    return {**sizes, sections.TARGET: vocabulary_sizes[sections.TARGET]}
