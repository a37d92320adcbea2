"""What a search tells about each of its steps, for those who watch it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqloom.search.contracts import IntArray

BoolArray = npt.NDArray[np.bool_]
Sums = npt.NDArray[np.float64]
"""Sums of log-probabilities. Kept in double precision, so that the order of long outputs does not hang on rounding."""


@dataclass(frozen=True, eq=False)
class Trace:
    """One step of a search: per sentence, the W continuations that it chose, in no promised order.

    step: how many symbols each continuation has, 1 at first. sentences [B]: which sentences of the request are still going.
    parents [B, W]: the column, in this sentence's row of the previous trace, that each continues (0 at first).
    tokens [B, W]; log_probs [B, W]: sums over all symbols so far, fused ones under fusion; -inf marks an empty place, which has
    no meaning otherwise.
    finished [B, W]: those that ended here, with `end`.
    """

    step: int
    sentences: IntArray
    parents: IntArray
    tokens: IntArray
    log_probs: Sums
    finished: BoolArray
