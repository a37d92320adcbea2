"""Kinds of sources, each one object that says all there is to know about it: a file here, and an encoder that reads it."""

from typing import Any

from seqloom.data.kinds.contract import SourceKind
from seqloom.data.kinds.features import FeaturesKind
from seqloom.data.kinds.files import FileKind
from seqloom.data.kinds.image import ImageKind
from seqloom.data.kinds.sound import SoundKind
from seqloom.data.kinds.text import TextKind
from seqloom.data.kinds.vector import VectorKind
from seqloom.data.kinds.video import VideoKind
from seqloom.recipe.sections import FileSource, SourceSection

KINDS: dict[str, type[SourceKind[Any]]] = {
    "text": TextKind,
    "vector": VectorKind,
    "image": ImageKind,
    "sound": SoundKind,
    "video": VideoKind,
    "features": FeaturesKind,
}
"""By the word of a recipe."""


def kind_of(source: SourceSection) -> SourceKind[Any]:
    """What a source is."""
    return KINDS[source.kind](source)


def file_kind_of(source: FileSource) -> FileKind[Any]:
    """What a source is that is a file."""
    kind = kind_of(source)
    if not isinstance(kind, FileKind):
        raise TypeError(source)
    return kind


def file_kinds() -> dict[str, type[FileKind[Any]]]:
    """The kinds that are files."""
    return {word: kind for word, kind in KINDS.items() if issubclass(kind, FileKind)}
