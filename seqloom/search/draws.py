"""Random numbers by counting: each is a function of its address alone, so nothing depends on order or on neighbours."""

import numpy as np
import numpy.typing as npt

from seqloom.search.contracts import IntArray
from seqloom.search.traces import Sums

Stream = npt.NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def streams(seed: int, keys: IntArray, count: int) -> Stream:
    """One stream for each sentence key and sample number, [B, count]."""
    start = _mixed(np.array([[seed % 2**64]], np.uint64) + _GOLDEN)
    of_sentence = _mixed(start ^ _mixed(keys.astype(np.uint64)[:, None] + _GOLDEN))
    return _mixed(of_sentence ^ _mixed(np.arange(count, dtype=np.uint64)[None] + _GOLDEN))


def uniform(streams: Stream, step: int) -> Sums:
    """Draw the number of each stream for this step, in [0, 1)."""
    # The 53 high bits are as many as a double holds.
    bits = _mixed(streams ^ _mixed(np.full((1, 1), step, np.uint64) + _GOLDEN)) >> np.uint64(11)
    return bits.astype(np.float64) * np.float64(2.0**-53)


def _mixed(values: Stream) -> Stream:
    """Mix as splitmix64 does in the end: one-to-one, and every bit of the input moves about half of the output's."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
