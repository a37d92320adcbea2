"""Examples as memory-mapped symbol ids: made once per corpus and kept in a cache, so that 5 million pairs need little memory.

One folder per corpus: a vocabulary `<name>.json` per side, and per split the ids of each side with offsets, weights, origins.
A side that names files has, for the whole corpus, the files and their contents (`<name>.media.json`), and per example a number
in the place of ids; the arrays of the files are kept elsewhere (`media.store`), since many corpora may share them.
"""

import hashlib
import json
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from seqloom.data.cache import cache_folder
from seqloom.data.examples import Example
from seqloom.data.media.files import Frontend
from seqloom.data.media.store import MediaSide
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.encoding import write_splits
from seqloom.data.preparing.example_lines import VALIDATION, from_lines
from seqloom.data.preparing.named_files import are_unchanged, damaged, read_inside, stored_sides, with_contents, write_list
from seqloom.data.preparing.splits import PreparedSplit, open_split
from seqloom.data.preparing.splitting import SplitName
from seqloom.data.preparing.spool import Progress, Spool
from seqloom.data.vocabulary import MergeDropout, Vocabulary
from seqloom.errors import DataError, RunError, WriteError
from seqloom.recipe.sections import Bpe, VocabularyFile
from seqloom.system.files import LARGEST_VOCABULARY, open_regular, read_regular
from seqloom.system.json_parsing import parse_object

_VERSION = 9
_DRAFT_SECONDS = 24 * 3600.0
"""A half-made preparation that nobody has touched for so long belongs to a process that was killed."""


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training."""

    vocabularies: Mapping[str, Vocabulary]
    splits: Mapping[SplitName, PreparedSplit]
    fingerprint: str
    folder: Path

    def validation_examples(self) -> Iterator[Example]:
        """The examples of validation as they were read."""
        return from_lines(self.folder / VALIDATION)

    @cached_property
    def unknown_targets(self) -> int:
        """How many symbols of training targets are not in the vocabulary."""
        return self.splits["train"].unknown if "train" in self.splits else 0

    @property
    def sizes(self) -> dict[str, int]:
        """How many symbols each vocabulary has, by name."""
        return {name: vocabulary.size for name, vocabulary in self.vocabularies.items()}


def prepare(
    corpus: Corpus,
    progress: Progress = lambda what, count: None,
    *,
    vocabularies: Mapping[str, Vocabulary] | None = None,
    grow: bool = False,
    frontends: Mapping[str, Frontend] | None = None,
    variants: Mapping[str, Sequence[Frontend]] | None = None,
    tell_apart: str | None = None,
) -> Prepared:
    """Open the prepared form of a corpus, making it first if its files or the way they are read have changed.

    vocabularies: those of a run that goes on. Building them anew would not do: no two trainings of unigram pieces agree.
    grow: they are those of another run, and take in what this corpus has and they lack.
    frontends: what makes arrays of the sources that are files, by the source's name. variants: what makes arrays of them to
    learn from, where that is something else: one of several each time. tell_apart: the source whose unknown symbols
    have ids of their own, and so have they in its target: for models that copy.
    """
    base, stamp = cache_folder() / "prepared", corpus.stamp()[:32] + _copying(corpus, tell_apart)
    folder = base / f"{stamp}-{_VERSION}"
    try:
        if vocabularies is not None:
            if not grow and _is_there(folder, corpus) and _same(vocabularies, (opened := _open(folder)).vocabularies):
                return _recut(_with_media(opened, corpus, frontends or {}, variants or {}, progress), corpus)
            folder = base / f"{stamp}-{_key(vocabularies)}{'-grown' if grow else ''}-{_VERSION}"
        if not _is_there(folder, corpus):
            _make(corpus, folder, vocabularies, progress, grow=grow, tell_apart=tell_apart)
        return _recut(_with_media(_open(folder), corpus, frontends or {}, variants or {}, progress), corpus)
    except OSError as problem:
        raise WriteError(
            f"{folder}: could not write the prepared data ({problem.strerror}). "
            "Free some space, or name another folder in SEQLOOM_CACHE"
        ) from problem


def _copying(corpus: Corpus, tell_apart: str | None) -> str:
    """What the name of a folder says of a source whose unknown symbols are told apart: nothing more if it is the first text."""
    if tell_apart is None:
        return ""
    return "-copying" if tell_apart == corpus.data.text_sources[0] else f"-copying-{tell_apart}"


def _is_there(folder: Path, corpus: Corpus) -> bool:
    """Whether a corpus is prepared, and the files that it names are as they were. If they are not, it is forgotten."""
    if not (folder / "prepared.json").exists():
        return False
    if are_unchanged(folder, corpus):
        return True
    shutil.rmtree(folder)
    return False


def _recut(prepared: Prepared, corpus: Corpus) -> Prepared:
    """Let the words of training come in other pieces each time, if a vocabulary wants it."""
    own = {name: corpus.data.vocabulary_of(name) for name in corpus.data.symbol_sides}
    rates = {name: section.dropout for name, section in own.items() if isinstance(section, Bpe) and section.dropout > 0.0}
    if not rates or "train" not in prepared.splits:
        return prepared
    recut = {name: MergeDropout(prepared.vocabularies[name], rate) for name, rate in rates.items()}
    return replace(prepared, splits={**prepared.splits, "train": replace(prepared.splits["train"], recut=recut)})


def _with_media(
    prepared: Prepared,
    corpus: Corpus,
    frontends: Mapping[str, Frontend],
    variants: Mapping[str, Sequence[Frontend]],
    progress: Progress,
) -> Prepared:
    """Put the arrays of files behind the numbers that stand for them."""
    sides = stored_sides(prepared.folder, corpus, frontends, progress)
    if not sides:
        return prepared
    forms: dict[str, list[MediaSide]] = {name: [] for name in sides}
    for name, several in variants.items():
        forms[name] = [stored_sides(prepared.folder, corpus, {name: one}, progress)[name] for one in several]
    splits = {}
    for split_name, split in prepared.splits.items():
        media = {
            name: replace(side, numbers=split.sides[name][0], variants=forms[name] if split_name == "train" else ())
            for name, side in sides.items()
        }
        symbols = {name: side for name, side in split.sides.items() if name not in media}
        splits[split_name] = replace(split, sides=symbols, media=media)
    return replace(prepared, splits=splits)


def _same(some: Mapping[str, Vocabulary], others: Mapping[str, Vocabulary]) -> bool:
    return _key(some) == _key(others)


def _key(vocabularies: Mapping[str, Vocabulary]) -> str:
    texts = [vocabularies[name].to_json() for name in sorted(vocabularies)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _make(
    corpus: Corpus,
    folder: Path,
    given: Mapping[str, Vocabulary] | None,
    progress: Progress,
    *,
    grow: bool,
    tell_apart: str | None,
) -> None:
    """Write into a folder beside the final one and rename it, so that a kill leaves nothing half-made under the final name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for old in folder.parent.glob("draft-*"):  # what a kill left behind
        if time.time() - old.stat().st_mtime > _DRAFT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix="draft-"))
    try:
        fingerprint = corpus.fingerprint()
        with closing(Spool(corpus, draft / "spool", given or _from_files(corpus), grow=grow)) as spool:
            spool.read(progress)
            fingerprint = with_contents(fingerprint, spool.catalogues)
            for name, side in spool.catalogues.items():
                write_list(draft, name, side)
            vocabularies = spool.vocabularies()
            for name, vocabulary in vocabularies.items():
                (draft / f"{name}.json").write_text(vocabulary.to_json(), encoding="utf-8")
            facts = write_splits(corpus, spool, vocabularies, draft, progress, tell_apart=tell_apart)
        (draft / "spool" / VALIDATION).rename(draft / VALIDATION)
        shutil.rmtree(draft / "spool")
        checksums = {
            str(path.relative_to(draft)): _checksum(path, inside=draft) for path in sorted(draft.rglob("*")) if path.is_file()
        }
        body = {"fingerprint": fingerprint, "sides": list(vocabularies), "splits": facts, "checksums": checksums}
        (draft / "prepared.json").write_text(json.dumps({**body, "sha256": _seal(body)}), encoding="utf-8")
        if not folder.exists():  # else another process was faster with the same content
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _from_files(corpus: Corpus) -> dict[str, Vocabulary]:
    """The vocabularies that the recipe takes from files."""
    own = {name: corpus.data.vocabulary_of(name) for name in corpus.data.symbol_sides}
    return {
        name: Vocabulary.from_json(_text_of(section.file), where=section.file)
        for name, section in own.items()
        if isinstance(section, VocabularyFile)
    }


def _text_of(file: str) -> str:
    try:
        return read_regular(file, limit=LARGEST_VOCABULARY).decode()
    except (OSError, ValueError) as problem:
        raise DataError(f"{file}: expected a vocabulary that seqloom wrote, but it cannot be read ({problem})") from problem


def _open(folder: Path) -> Prepared:
    try:
        types = {"fingerprint": str, "sides": list, "splits": dict, "checksums": dict, "sha256": str}
        body = parse_object(read_inside(folder, "prepared.json"), types)
        if body.pop("sha256") != _seal(body):
            raise ValueError("prepared.json is not as it was written")
        # Before any of them is parsed: of what damage makes of a document, only some is a ValueError.
        for name, checksum in body["checksums"].items():
            if _checksum(folder / name, inside=folder) != checksum:
                raise ValueError(f"{name} is not as it was written")
        vocabularies = {
            name: Vocabulary.from_json(read_inside(folder, f"{name}.json").decode(), where=str(folder / f"{name}.json"))
            for name in body["sides"]
        }
        sizes = {name: vocabulary.size for name, vocabulary in vocabularies.items()}
        splits = {split: replace(open_split(folder / split, facts), sizes=sizes) for split, facts in body["splits"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RunError) as problem:
        raise damaged(folder, problem) from problem
    return Prepared(vocabularies, splits, str(body["fingerprint"]), folder)


def _seal(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _checksum(path: Path, *, inside: Path) -> int:
    """Tells a damaged file, not a forged one; a gigabyte a second, so that all files can be read at every start."""
    checksum = 0
    with open_regular(path, inside=inside) as stream:
        while block := stream.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum
