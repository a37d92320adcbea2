"""Kinds of sources, each one object that says all there is to know about it: a file here, and an encoder that reads it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from seqloom.data.kinds.contract import SourceKind
from seqloom.recipe.sections import FileSource, SourceSection

if TYPE_CHECKING:
    from seqloom.data.kinds.files import FileKind

# Each kind is imported when it is first asked for: a model of text needs nothing of what reads pictures, sounds and videos.


def _text() -> type[SourceKind[Any]]:
    from seqloom.data.kinds.text import TextKind

    return TextKind


def _vector() -> type[SourceKind[Any]]:
    from seqloom.data.kinds.vector import VectorKind

    return VectorKind


def _image() -> type[SourceKind[Any]]:
    from seqloom.data.kinds.image import ImageKind

    return ImageKind


def _sound() -> type[SourceKind[Any]]:
    from seqloom.data.kinds.sound import SoundKind

    return SoundKind


def _video() -> type[SourceKind[Any]]:
    from seqloom.data.kinds.video import VideoKind

    return VideoKind


def _movement() -> type[SourceKind[Any]]:
    from seqloom.data.kinds.movement import MovementKind

    return MovementKind


def _features() -> type[SourceKind[Any]]:
    from seqloom.data.kinds.features import FeaturesKind

    return FeaturesKind


KINDS: dict[str, Callable[[], type[SourceKind[Any]]]] = {
    "text": _text,
    "vector": _vector,
    "image": _image,
    "sound": _sound,
    "video": _video,
    "movement": _movement,
    "features": _features,
}
"""By the word of a recipe."""


def kind_of(source: SourceSection) -> SourceKind[Any]:
    """What a source is."""
    return KINDS[source.kind]()(source)


def file_kind_of(source: FileSource) -> "FileKind[Any]":
    """What a source is that is a file."""
    from seqloom.data.kinds.files import FileKind

    kind = kind_of(source)
    if not isinstance(kind, FileKind):
        raise TypeError(source)
    return kind


def file_kinds() -> "dict[str, type[FileKind[Any]]]":
    """The kinds that are files."""
    from seqloom.data.kinds.files import FileKind

    found = {word: kind() for word, kind in KINDS.items()}
    return {word: kind for word, kind in found.items() if issubclass(kind, FileKind)}
