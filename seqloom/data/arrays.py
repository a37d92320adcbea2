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
        """Pad sequences of ids [L], or of rows [L, ...], to the longest of them."""
        ends = np.cumsum([len(one) for one in sequences], dtype=np.int64)
        starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        return cls.of_parts(np.concatenate(sequences) if len(sequences) else ends, starts, ends)

    @classmethod
    def of_parts(cls, flat: npt.NDArray[Any], starts: IntArray, ends: IntArray) -> "Padded":
        """Pad some parts of one long array of ids [N], or of rows [N, ...], to the longest of them."""
        lengths = ends - starts
        real = np.arange(max(1, int(lengths.max(initial=1)))) < lengths[:, None]
        kind = _as_read(flat)
        if not len(flat):
            return cls(np.zeros((*real.shape, *flat.shape[1:]), dtype=kind), lengths)
        places = np.where(real, starts[:, None] + np.arange(real.shape[1]), 0)
        values = flat[places].astype(kind, copy=False)
        values[~real] = 0
        return cls(values, lengths)


def _as_read(flat: npt.NDArray[Any]) -> type[np.generic]:
    """The type that models read: ids are integers, bytes are pixels, and all other rows are float32."""
    return np.int64 if flat.ndim == 1 else np.uint8 if flat.dtype == np.uint8 else np.float32
