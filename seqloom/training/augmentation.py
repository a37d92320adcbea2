"""Frames that are changed while a model learns: parts of them are covered (SpecAugment, Park et al. 2019)."""

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import Padded
from seqloom.recipe.sections import Augment

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


def _stretch(size: int, longest: int, random: np.random.Generator) -> tuple[int, int]:
    """A stretch of up to so many among `size` places."""
    width = int(random.integers(longest + 1))
    start = int(random.integers(size - width + 1))
    return start, start + width
