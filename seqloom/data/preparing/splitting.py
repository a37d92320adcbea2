"""Which part of the data an example belongs to, where a recipe gives shares."""

import hashlib
from collections.abc import Callable
from typing import Literal

from seqloom.recipe.sections import Split

SplitName = Literal["train", "validation", "test"]


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
