"""Vectors, matrices and what squashes them."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Squash = Callable[[Vector], Vector]


def logistic(z: Vector) -> Vector:
    share: Vector = 1.0 / (1.0 + np.exp(-z))
    return share


def tanh(z: Vector) -> Vector:
    up, down = np.exp(z), np.exp(-z)
    squashed: Vector = (up - down) / (up + down)
    return squashed


def softmax(energies: Sequence[float] | Vector) -> Vector:
    powers = np.exp(np.asarray(energies) - np.max(energies))
    shares: Vector = powers / powers.sum()
    return shares
