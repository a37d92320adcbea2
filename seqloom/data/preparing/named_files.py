"""The files that the examples of a prepared corpus name: `<name>.media.json` in its folder, and their arrays in the store."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from seqloom.data.examples import Origin
from seqloom.data.kinds import file_kind_of
from seqloom.data.kinds.files import raise_first_problem
from seqloom.data.media.catalogue import Catalogue
from seqloom.data.media.files import Frontend, Media
from seqloom.data.media.store import MediaSide, MediaStore
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.spool import Progress
from seqloom.errors import DataError
from seqloom.system.files import LARGEST_VOCABULARY, read_regular
from seqloom.system.json_parsing import parse_object


def write_list(folder: Path, name: str, side: Catalogue) -> None:
    """Write down the files of a side: each with its first place, size and stamp; and all distinct contents."""
    files = [[one.media.name, one.origin.file, one.origin.line, one.media.size, one.media.stamp] for one in side.files]
    body = {"files": files, "numbers": [one.content for one in side.files], "contents": side.contents}
    (folder / f"{name}.media.json").write_text(json.dumps(body), encoding="utf-8")


def with_contents(fingerprint: str, media: Mapping[str, Catalogue]) -> str:
    """The fingerprint of tables and of the files that they name."""
    if not media:
        return fingerprint
    contents = [content for side in media.values() for content in side.contents]
    return hashlib.sha256("\n".join([fingerprint, *contents]).encode()).hexdigest()


def are_unchanged(folder: Path, corpus: Corpus) -> bool:
    """Whether the files that a prepared corpus names are as they were. Raises `DataError` if one is gone."""
    for name, source in corpus.data.file_sources.items():
        kind = file_kind_of(source)
        for media, origin, size, stamp in _named_files(folder, name):
            try:
                found = kind.find(media, origin)
            except DataError as problem:
                raise DataError(f"{origin}: {problem}") from problem
            if (found.size, found.stamp) != (size, stamp):
                return False
    return True


def stored_sides(folder: Path, corpus: Corpus, frontends: Mapping[str, Frontend], progress: Progress) -> dict[str, MediaSide]:
    """The arrays of all files, by side, without the numbers of any split; those that nobody made yet are made now."""
    return {
        name: replace(
            _stored(folder, name, file_kind_of(source).find, frontends[name], progress), in_time=source.content == "frames"
        )
        for name, source in corpus.data.file_sources.items()
        if name in frontends
    }


def _named_files(folder: Path, side: str) -> list[tuple[str, Origin, int, int]]:
    body = _media_list(folder, side)
    return [(name, Origin(file, line), size, stamp) for name, file, line, size, stamp in body["files"]]


def _stored(folder: Path, side: str, find: Callable[[str, Origin], Media], frontend: Frontend, progress: Progress) -> MediaSide:
    """The arrays of all files of a side, without the numbers of any split."""
    body, store = _media_list(folder, side), MediaStore(frontend)
    if not all(content in store for content in body["contents"]):
        origins: dict[str, tuple[str, Origin]] = {}
        for (name, origin, _, _), number in zip(_named_files(folder, side), body["numbers"], strict=True):
            origins.setdefault(body["contents"][number], (name, origin))
        files = {content: find(name, origin) for content, (name, origin) in origins.items()}
        try:
            store.fill(files, lambda count: progress(f"reading the files of {side}", count))
        except DataError:
            raise_first_problem(
                frontend, [(media, origins[content][1]) for content, media in files.items() if content not in store]
            )
            raise
    return MediaSide(np.zeros(0, dtype=np.int64), store.spans(body["contents"]), store.rows())


def _media_list(folder: Path, side: str) -> dict[str, Any]:
    try:
        return parse_object(read_inside(folder, f"{side}.media.json"), {"files": list, "numbers": list, "contents": list})
    except (OSError, ValueError) as problem:
        raise damaged(folder, problem) from problem


def read_inside(folder: Path, name: str) -> bytes:
    """A file of a prepared corpus."""
    return read_regular(folder / name, limit=LARGEST_VOCABULARY, inside=folder)


def damaged(folder: Path, problem: Exception) -> DataError:
    """Say that a prepared corpus cannot be read."""
    return DataError(f"{folder}: the prepared data is damaged ({problem}). Delete this folder; it will be made again")
