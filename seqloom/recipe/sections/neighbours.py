"""Encoders that read a source beside another one: what must be so of both."""

from collections.abc import Mapping

from seqloom.recipe.sections.base import Section
from seqloom.recipe.sections.frames import FrameEncoder
from seqloom.recipe.sections.recurrent import ComparingEncoder, SameEncoder, TextEncoder
from seqloom.recipe.sections.sentences import AskedEncoder, RelatedEncoder
from seqloom.recipe.sections.transformer import TransformerEncoder
from seqloom.recipe.sections.video import VideoEncoder


def neighbour_of(encoder: Section | None) -> tuple[str, str] | None:
    """The key and the name of the source that an encoder needs beside its own; None if it needs none."""
    match encoder:
        case SameEncoder(source=name) | ComparingEncoder(source=name) | AskedEncoder(source=name) | RelatedEncoder(source=name):
            return "source", name
        case TextEncoder(after=str(name)):
            return "after", name
        case FrameEncoder() | VideoEncoder() if encoder.beside is not None:
            return "beside", encoder.beside
        case _:
            return None


def in_reading_order(encoders: Mapping[str, Section]) -> list[str]:
    """The names of sources in the order in which they are read: those that others build on come first."""
    return sorted(encoders, key=lambda name: neighbour_of(encoders[name]) is not None)


def check_neighbours(lone: Section | None, encoders: Mapping[str, Section]) -> None:
    """Check that encoders that need another source find one, read in a way that they can build on."""
    if (found := neighbour_of(lone)) is not None:
        key, other = found
        raise ValueError(f"`encoder: {{{key}: {other}}}` needs a second source. Write `encoders`, with one for each source")
    for name, encoder in encoders.items():
        if (found := neighbour_of(encoder)) is None:
            continue
        key, other = found
        if other == name or other not in encoders:
            others = ", ".join(one for one in encoders if one != name) or "none"
            raise ValueError(
                f"`encoders: {{{name}: {{{key}: {other}}}}}` needs another source than {name}; these are: {others}. "
                "Name one of them"
            )
        _check_pair(name, encoder, other, encoders[other])


def _check_pair(name: str, encoder: Section, other: str, first: Section) -> None:
    if neighbour_of(first) is not None:
        raise ValueError(f"encoders.{name}: {other} is itself read beside another source. Name a source that stands alone")
    match encoder:
        case ComparingEncoder() | RelatedEncoder() if not isinstance(first, TextEncoder | TransformerEncoder):
            raise ValueError(f"encoders.{name}: it compares words, and {other} is not read by words. Use `kind: text` there")
        case FrameEncoder() | VideoEncoder() if not isinstance(first, FrameEncoder | VideoEncoder):
            raise ValueError(
                f"encoders.{name}: the states of {other} stand beside its frames, moment by moment, and {other} is not read as "
                "frames. Use `kind: pyramid` there, or remove `beside`"
            )
        case FrameEncoder() | VideoEncoder() if isinstance(first, VideoEncoder) and first.memory == "grid":
            raise ValueError(
                f"encoders.{name}: the states of {other} stand beside its frames, moment by moment, and {other} has one for "
                "every place of a frame. Write `memory: frames` there, or remove `beside`"
            )
        case TextEncoder():
            _check_reading_on(name, encoder, other, first)
        case _:
            pass


def _check_reading_on(name: str, encoder: TextEncoder, other: str, first: Section) -> None:
    if not isinstance(first, TextEncoder) or first.summary != "last":
        raise ValueError(f"encoders.{name}: it reads on from the last state of {other}, which has none. Use `kind: text` there")
    keys = ("cell", "size", "layers", "bidirectional", "embedding")
    if odd := [key for key in keys if getattr(encoder, key) != getattr(first, key)]:
        raise ValueError(
            f"encoders.{name}: to read on from the last state of {other} it must be built as that one is; `{odd[0]}` differs. "
            f"Write `{odd[0]}: {getattr(first, odd[0])}`"
        )
