"""Sequences of different lengths in one array. Letters: B sequences, L positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Padded:
    """Sequences of different lengths in one array. values [B, L, ...], lengths [B]; what lies beyond a length means nothing."""

    values: npt.NDArray[np.generic]
    lengths: IntArray

    @property
    def mask(self) -> BoolArray:
        """[B, L], True where real: the only mask polarity in this package."""
        positions = np.arange(self.values.shape[1])
        real: BoolArray = positions[None, :] < self.lengths[:, None]
        return real

    @classmethod
    def of(cls, sequences: Sequence[npt.NDArray[Any]]) -> "Padded":
        """Pad sequences of ids [L], or of vectors [L, D], to the longest of them."""
        lengths = np.asarray([len(one) for one in sequences], dtype=np.int64)
        vectors = bool(len(sequences)) and sequences[0].ndim > 1
        shape = (len(sequences), max(1, int(lengths.max(initial=1))), *(sequences[0].shape[1:] if vectors else ()))
        values = np.zeros(shape, dtype=np.float32 if vectors else np.int64)
        values[np.arange(values.shape[1])[None, :] < lengths[:, None]] = np.concatenate(sequences) if len(sequences) else []
        return cls(values, lengths)
