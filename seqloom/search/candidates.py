"""The best symbols of each row, for steps that have the scores of all symbols at hand."""

import numpy as np

from seqloom.search.contracts import FloatArray, IntArray


def best_candidates(scores: FloatArray, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
    """Give the k best of all symbols, scores [B, K, V], as `Step.top` does; equal symbols come in the order of their ids."""
    size = scores.shape[2]
    scores = scores.copy()
    scores[:, :, forbid[forbid < size]] = -np.inf
    if k < size:
        # Sorted ids, so that equal symbols come in the order of their ids.
        best = np.sort(np.argpartition(scores, size - k, axis=2)[:, :, size - k :], axis=2)
        scores = np.take_along_axis(scores, best, axis=2)
    else:
        best = np.broadcast_to(np.arange(size), scores.shape)
    order = np.argsort(-scores, axis=2, kind="stable")
    filling = ((0, 0), (0, 0), (0, max(0, k - size)))
    ids = np.pad(np.take_along_axis(best, order, axis=2), filling)
    return ids, np.pad(np.take_along_axis(scores, order, axis=2), filling, constant_values=-np.inf)
