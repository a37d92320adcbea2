"""Encodings as points of a plane: what lies close together, the encoder takes to be alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.errors import UsageError
from seqloom.results.predictions import FloatArray

Doubles = npt.NDArray[np.float64]

FEWEST = 3
"""Two points lie on a line, whatever they mean."""


@dataclass(frozen=True)
class Plane:
    """Texts, the group that each belongs to ("" for none), and where they lie.

    places [N, 2]: the two directions in which the encodings differ most; shares: how much of their variance each of the two
    has; distances [N, N]: one minus the cosine of two encodings, of all numbers in them, not of the two that are drawn.
    """

    texts: tuple[str, ...]
    groups: tuple[str, ...]
    places: Doubles
    shares: tuple[float, float]
    distances: Doubles

    @classmethod
    def of(cls, encodings: FloatArray, texts: Sequence[str], groups: Sequence[str]) -> "Plane":
        """The plane of encodings [N, D], by principal components."""
        if len(texts) < FEWEST:
            raise UsageError(f"a plane needs {FEWEST} texts or more, found {len(texts)}")
        places, shares = _principal(encodings.astype(np.float64))
        return cls(tuple(texts), tuple(groups), places, shares, cosine_distances(encodings))

    def neighbours(self, index: int, count: int) -> list[int]:
        """The texts closest to one, the closest first, itself left out."""
        order = np.argsort(self.distances[index], kind="stable")
        return [int(one) for one in order if one != index][:count]

    @cached_property
    def alike(self) -> tuple[int, int]:
        """How many texts have one of their own group as their nearest neighbour, of those that could have."""
        able = [index for index, group in enumerate(self.groups) if group and self.groups.count(group) > 1]
        return sum(self.groups[self.neighbours(index, 1)[0]] == self.groups[index] for index in able), len(able)

    def as_json(self, neighbours: int = 3) -> dict[str, Any]:
        """The plane as JSON-ready data, with so many neighbours of each text."""
        points = [
            {
                "text": text,
                "group": group or None,
                "place": np.round(place, 5).tolist(),
                "neighbours": [
                    {"text": self.texts[other], "distance": round(float(self.distances[index, other]), 5)}
                    for other in self.neighbours(index, neighbours)
                ],
            }
            for index, (text, group, place) in enumerate(zip(self.texts, self.groups, self.places, strict=True))
        ]
        nearest, able = self.alike
        return {"shares": list(self.shares), "nearest_in_group": nearest, "with_group": able, "points": points}


def cosine_distances(encodings: FloatArray) -> Doubles:
    """One minus the cosine of each pair of vectors [N, D]; a vector of zeros is at distance 1 of all others."""
    vectors = encodings.astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(lengths == 0.0, 1.0, lengths)
    distances: Doubles = np.clip(1.0 - directions @ directions.T, 0.0, 2.0)
    np.fill_diagonal(distances, 0.0)
    return distances


def _principal(vectors: Doubles) -> tuple[Doubles, tuple[float, float]]:
    """Coordinates [N, 2] along the first two principal components of [N, D], and their shares of the variance."""
    rotated, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    places = np.zeros((len(vectors), 2))
    drawn = min(2, len(sizes))
    places[:, :drawn] = rotated[:, :drawn] * sizes[:drawn]
    # A component's sign is the library's whim: the point farthest out lies to the right, and above.
    places *= np.where(places[np.abs(places).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    shares = sizes**2 / max(float((sizes**2).sum()), np.finfo(np.float64).tiny)
    first, second = (float(one) for one in np.append(shares, 0.0)[:2])
    return places, (first, second)
