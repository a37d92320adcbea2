"""What moves before a camera that stands still: where it is in every frame, so that it can be cut out and seen large.

The median of all frames is what stands still. Around what differs from it lies a box, which has one size for the whole clip, so
that things do not grow and shrink with it, and goes along smoothly, so that what hops within it is seen to hop.
"""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

LOOKED_AT = 96
"""How many pixels the longer side of a frame needs for a search of what moves. Means of many pixels have little noise."""

_DIFFERENT = 15.0
"""So much darker or brighter than what stands still, of 255, is a pixel of something that moves."""
_STRAY = 0.02
"""This share of all differences may lie beyond each edge of a box: noise, and shadows."""
_LARGEST = 90
"""The percentile of a clip's boxes that is as large as what moves: limbs are stretched out in a few frames only."""
_MARGIN = 1.2
_SMALLEST = 0.2
"""A box is this share of the frame at least, in each direction."""
_SECONDS = 0.4
"""The deviation of the bell curve that says how far from a moment boxes count for where it is then."""
_FOR_MEDIAN = 200


def boxes(frames: npt.NDArray[np.uint8], times: Numbers, ratio: float) -> Numbers | None:
    """Top, left, bottom and right in every frame, as shares of its sides, [L, 4]; None if nothing moves.

    frames [L, H, W]: grey; times [L]: when they are, in seconds. ratio: of a box's height to its width, in pixels, wherever
    the frame has room for it.
    """
    weights = differences(frames)
    moving = weights.sum(axis=(1, 2))
    seen = moving > 0.1 * np.median(moving[moving > 0]) if moving.any() else moving > 0
    if not seen.any():
        return None
    spans = np.stack([_spans(weights.sum(axis=axis)) for axis in (2, 1)])  # [2, L, 2]: down and across
    sides = np.percentile(np.diff(spans[:, seen], axis=2)[..., 0], _LARGEST, axis=1) * _MARGIN
    limits = np.array(frames.shape[1:], dtype=np.float64)
    sides = np.maximum(sides, _SMALLEST * limits)
    sides = np.minimum(np.maximum(sides, sides[::-1] * np.array([ratio, 1 / ratio])), limits)
    centres = np.stack([_smoothed(one.mean(axis=1), times, seen) for one in spans])  # [2, L]
    starts = np.clip(centres - sides[:, None] / 2, 0.0, (limits - sides)[:, None])
    found: Numbers = np.stack([*starts, *(starts + sides[:, None])], axis=1) / np.tile(limits, 2)
    return found


def differences(frames: npt.NDArray[np.uint8]) -> Numbers:
    """By how much more than noise each pixel differs from what stands still."""
    some = frames[:: max(1, -(-len(frames) // _FOR_MEDIAN))]
    further = np.abs(frames - np.median(some, axis=0)) - _DIFFERENT
    weights: Numbers = np.maximum(further, 0.0)
    return weights


def _spans(weights: Numbers) -> Numbers:
    """Where most of the weights of each row begin and end, [L, N] -> [L, 2]."""
    sums = np.cumsum(weights, axis=1)
    total = sums[:, -1:]
    first = (sums < _STRAY * total).sum(axis=1)
    last = (sums < (1 - _STRAY) * total).sum(axis=1)
    return np.stack([first, last + 1], axis=1).astype(np.float64)


def _smoothed(places: Numbers, times: Numbers, seen: npt.NDArray[np.bool_]) -> Numbers:
    """At each moment, the line through the places around it: one that goes at a steady pace is followed without a delay."""
    reach = 3 * _SECONDS
    firsts, lasts = np.searchsorted(times, times - reach), np.searchsorted(times, times + reach, side="right")
    near = [slice(first, last) for first, last in zip(firsts, lasts, strict=True)]
    counts = np.where(seen, 1.0, 1e-6)
    return np.array([_line(places[some], times[some] - now, counts[some]) for some, now in zip(near, times, strict=True)])


def _line(places: Numbers, away: Numbers, counts: Numbers) -> float:
    """Where a line through places that are `away` seconds from now is now."""
    weights = counts * np.exp(-0.5 * np.square(away / _SECONDS))
    weights /= weights.sum()
    mean, place = weights @ away, weights @ places
    variance = weights @ np.square(away - mean)
    slope = weights @ ((away - mean) * (places - place)) / variance if variance > 1e-6 else 0.0
    return float(place - slope * mean)
