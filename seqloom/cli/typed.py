"""Texts that are typed where a command takes files: what is no file, and does not look like one, is the text itself."""

from pathlib import PurePath
from typing import TYPE_CHECKING

import typer

from seqloom.cli.options import is_there, named_sources
from seqloom.errors import DataError, UsageError
from seqloom.system.terminals import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seqloom.data.examples import Example
    from seqloom.recipe.sections import Data

_OTHERS = (".wav", ".flac", ".mp3", ".ogg", ".mp4", ".avi", ".mov", ".mkv", ".zip", ".tar", ".yaml", ".yml", ".md", ".html")
"""Of files that people have beside tables of text."""

_LONGEST_SHOWN = 60


def typed_texts(data: "Data", given: "Sequence[str]", reading: str | None) -> "Iterator[Example] | None":
    """The texts that were typed, as examples; None if files were named, or standard input.

    reading: what was said of how a file is to be read, which goes with files only.
    """
    absent = [place for place in given if place != "-" and not is_there(place) and not _is_made_from_its_name(place)]
    if not absent:
        return None
    if data.file_sources and len(data.sources) == 1:
        raise DataError(f"{absent[0]}: expected a file to read or a run folder, found nothing there. Check the path")
    named = [place for place in absent if _looks_like_a_file(place)]
    if named or len(absent) < len(given):
        raise DataError(
            f"{(named or absent)[0]}: expected a file to read, a run folder or a text, found nothing of that name. "
            "Check the path; a text that looks like one goes through standard input: echo TEXT | seqloom predict RUN"
        )
    if reading is not None:
        raise UsageError(f"--columns and --format say how to read a file, and there is no file {absent[0]!r}. Check the path")
    for text in absent:
        if not any(character.isspace() for character in text):  # what has a space in it is hardly meant as a name
            shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
            typer.echo(f"seqloom: no file is called {visible(shown)}: it is read as a text", err=True)
    return _examples(data, absent)


def _is_made_from_its_name(place: str) -> bool:
    """Whether it is a picture, a sound or a film such as `scene:12`."""
    if ":" not in place:  # most texts: to ask the kinds takes longer than to answer many a text
        return False
    from seqloom.data.kinds import file_kinds

    return any(kind.is_named(place) for kind in file_kinds().values())


def _looks_like_a_file(place: str) -> bool:
    """Whether it has the ending of a file, or, without any space, folders before it."""
    ending = PurePath(place).suffix.lower()
    if ending and _is_known(ending, place):
        return True
    return "/" in place and not any(character.isspace() for character in place)


def _is_known(ending: str, place: str) -> bool:
    from seqloom.data.kinds import file_kinds
    from seqloom.data.reading.endings import ending_format

    return ending_format(place) is not None or ending in _OTHERS or any(ending in one.endings for one in file_kinds().values())


def _examples(data: "Data", texts: "Sequence[str]") -> "Iterator[Example]":
    from seqloom.data.examples import INPUT, Example, Origin
    from seqloom.prediction.inputs import around

    names = list(data.sources)
    for number, text in enumerate(texts, start=1):
        given = named_sources(names, text)
        if set(given) - {"preceding", "features"} != set(names):
            raise UsageError(f"expected the keys {', '.join(names)}, found {', '.join(given)}: {text}")
        sources, features = around(data.form, {name: str(given[name]) for name in names}, given)
        yield Example(sources, None, Origin(INPUT, number), features=features)
