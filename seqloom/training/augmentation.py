"""Sources that are changed while a model learns: frames are covered (SpecAugment, Park et al. 2019), symbols are hidden."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import BoolArray, IntArray, Padded
from seqloom.data.preparing.batches import Batch
from seqloom.recipe.sections import Augment
from seqloom.symbols import UNKNOWN

_LARGEST_SHARE = 0.2
"""No stretch of time that is covered is a larger part of its recording: a short word must not vanish whole."""


def masked(frames: Padded, augment: Augment, random: np.random.Generator) -> Padded:
    """Frames [B, L, F] with stretches of time and bands covered, each time others: they get the mean of their recording."""
    values: npt.NDArray[np.float32] = np.array(frames.values, dtype=np.float32)
    bands = values.shape[-1]
    for one, length in zip(values, frames.lengths.tolist(), strict=True):
        mean = one[:length].mean(axis=0) if length else np.zeros(bands, np.float32)
        longest = min(augment.time_width, int(_LARGEST_SHARE * length))
        for _ in range(augment.time_masks):
            start, end = _stretch(length, longest, random)
            one[start:end] = mean
        for _ in range(augment.band_masks):
            start, end = _stretch(bands, min(augment.band_width, bands // 2), random)
            one[:length, start:end] = mean[start:end]
    return Padded(values, frames.lengths)


def hidden(
    batch: Batch, share: float, sizes: Mapping[str, int], random: np.random.Generator, *, copied: str | None = None
) -> Batch:
    """A batch in whose texts a share of the different symbols is hidden, each time others: they are read as unknown.

    sizes: of the texts' vocabularies, by the name of the source. copied: the source whose symbols can be copied. A symbol that
    is hidden there is hidden in the target, too, and has the id that an unknown one of its place would have; so it can only be
    copied, and which symbols a model knows matters less.
    """
    sources, target = dict(batch.sources), batch.target
    for name, size in sizes.items():
        values, firsts, which = _drawn(sources[name], size, share, random)
        if name == copied:
            target = _as_in_the_source(target, values, np.where(which, size + firsts, values))
        sources[name] = replace(sources[name], values=np.where(which, size + firsts if name == copied else UNKNOWN, values))
    return replace(batch, sources=sources, target=target)


def _drawn(text: Padded, size: int, share: float, random: np.random.Generator) -> tuple[IntArray, IntArray, BoolArray]:
    """Symbols, where each comes first, and which are hidden, all [B, S]: of a symbol that comes twice, both or none."""
    values: IntArray = np.asarray(text.values, dtype=np.int64)
    firsts: IntArray = (values[:, :, None] == values[:, None]).argmax(axis=2)
    chosen = np.take_along_axis(random.random(values.shape) < share, firsts, axis=1)
    which: BoolArray = chosen & text.mask & (values > UNKNOWN) & (values < size)
    return values, firsts, which


def _as_in_the_source(target: Padded, before: IntArray, after: IntArray) -> Padded:
    """A target [B, T] whose symbols change as those of its source [B, S] do."""
    values: IntArray = np.asarray(target.values, dtype=np.int64)
    changed = (values[:, :, None] == before[:, None]) & (before != after)[:, None]
    new = np.take_along_axis(after, changed.argmax(axis=2), axis=1)
    return replace(target, values=np.where(changed.any(axis=2), new, values))


def _stretch(size: int, longest: int, random: np.random.Generator) -> tuple[int, int]:
    """A stretch of up to so many among `size` places."""
    width = int(random.integers(longest + 1))
    start = int(random.integers(size - width + 1))
    return start, start + width
