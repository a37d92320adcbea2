"""Examples from files: the one door through which pairs and text enter. Sources to predict from come in by `sources.py`.

Everything streams: no file is ever held in memory. Nothing is dropped: what cannot be read is an error with file and line.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from seqloom.data.formats import Format, stream_examples, stream_text
from seqloom.data.records import Example, GroupedExample, Origin, Problem
from seqloom.data.tables import FIRST_TWO
from seqloom.data.vectors import ONE_TEXT
from seqloom.errors import DataError
from seqloom.recipe.sections import Columns, Files, Source, Split

__all__ = ["Example", "Format", "Origin", "SplitName", "grouped", "read_examples", "read_text", "split_of", "splitter"]

SplitName = Literal["train", "validation", "test"]


def read_examples(
    files: Files,
    *,
    format: Format = "auto",
    columns: Columns = FIRST_TWO,
    sources: Mapping[str, Source] = ONE_TEXT,
    empty_targets: bool = False,
) -> Iterator[Example]:
    """Read pairs from one or many files, one after the other, each with where it came from. sources: what they are, by name.

    Files that are missing are refused at once, all else when it is reached. An empty side is an error, as is a blank line,
    except at the very end of a file. empty_targets: an empty target is none, as models may write one.
    """
    return stream_examples(files, format=format, columns=columns, report=_refuse, sources=sources, empty_targets=empty_targets)


def read_text(files: Files, *, blank: bool) -> Iterator[Example]:
    """Read plain text, an example without a source for each line. blank: whether lines without text count as lines."""
    return stream_text(files, blank=blank, report=_refuse)


def _refuse(problem: Problem) -> None:
    raise DataError(str(problem))


def split_of(source_text: str, seed: int, split: Split) -> SplitName:
    """Say to which part of the data a source belongs: the same on every machine and in every version.

    A hash of the source decides, so equal sources stay together, whatever their targets and however often they occur.
    Changing the share of validation leaves the test part as it is.
    """
    return splitter(seed, split)(source_text)


def splitter(seed: int, split: Split) -> Callable[[str], SplitName]:
    """`split_of` for many sources: what they have in common is computed once."""
    begun = hashlib.blake2b(f"{seed}\t".encode(), digest_size=8, person=b"seqloom split")
    end_of_test, end_of_validation = split.test, split.test + split.validation

    def place(source_text: str) -> SplitName:
        digest = begun.copy()
        digest.update(source_text.encode())
        share = int.from_bytes(digest.digest(), "big") / 2**64
        if share < end_of_test:
            return "test"
        return "validation" if share < end_of_validation else "train"

    return place


def grouped(examples: Iterable[Example]) -> list[Example]:
    """Examples with the same sources and features as one, in the order in which they begin: all their targets are right.

    One target that is there several times is one; beside others, each time counts.
    """
    found: dict[tuple[object, ...], list[Example]] = {}
    for example in examples:
        found.setdefault((*example.sources.items(), *example.features), []).append(example)
    return [_with_others(*several) for several in found.values()]


def _with_others(one: Example, *further: Example) -> GroupedExample:
    others = tuple(example.target or "" for example in further)
    different = others if set(others) != {one.target} else ()
    return GroupedExample(one.sources, one.target, one.origin, one.weight, one.features, different)
