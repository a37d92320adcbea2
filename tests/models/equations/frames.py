"""Encoders of frames: convolutions, and neighbours that are joined (Chan et al. 2016)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .basics import Matrix, Vector
from .encoder import Encoded, EncoderLayer, encode_vectors
from .transformers import TransformerEncoder, at_position, attend_at_once


@dataclass(frozen=True)
class Convolution:
    """K [out, in, frames, bands], b [out]: relu(K * x + b) at every stride-th frame, and band if there are several."""

    K: npt.NDArray[np.float64]
    b: Vector
    stride: int

    def applied(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """x [channels, frames, bands]. Beyond the edges there are zeros."""
        _, _, high, wide = self.K.shape
        band_stride = self.stride if wide > 1 or x.shape[2] > 1 else 1
        y = np.zeros((len(self.K), -(-x.shape[1] // self.stride), -(-x.shape[2] // band_stride)))
        for (out, t, f), _ in np.ndenumerate(y):
            total = self.b[out]
            for (channel, i, j), weight in np.ndenumerate(self.K[out]):
                frame, band = t * self.stride + i - high // 2, f * band_stride + j - wide // 2
                if 0 <= frame < x.shape[1] and 0 <= band < x.shape[2]:
                    total += weight * x[channel, frame, band]
            y[out, t, f] = max(0.0, total)
        return y


def look(convolutions: Sequence[Convolution], frames: Matrix, *, over_bands: bool) -> list[Vector]:
    """Frames [S, F] through all convolutions. Over time alone, a frame's numbers are channels of one band."""
    if not convolutions:
        return list(frames)
    x = frames[None] if over_bands else frames.T[:, :, None]
    for one in convolutions:
        x = one.applied(x)
    return [x[:, t].reshape(-1) for t in range(x.shape[1])]


def read_with(frames: Sequence[Vector], others: Sequence[Vector]) -> list[Vector]:
    """[x_j; y_k], k = floor((2 j + 1) N / 2 S) of N others and S frames, counted from 0: both last as long."""
    return [np.concatenate([x, others[(2 * j + 1) * len(others) // (2 * len(frames))]]) for j, x in enumerate(frames)]


def join(inputs: Sequence[Vector]) -> list[Vector]:
    """[h_2j; h_2j+1], with zeros for a neighbour that is not there."""
    whole = [*inputs, np.zeros_like(inputs[0])] if len(inputs) % 2 else inputs
    return [np.concatenate(whole[j : j + 2]) for j in range(0, len(whole), 2)]


def encode_pyramid(layers: Sequence[EncoderLayer], joins: Sequence[bool], frames: Sequence[Vector]) -> Encoded:
    """E2, layer upon layer, some of which read two neighbours as one. The last layer's last state is h_T."""
    inputs, last = list(frames), None
    for layer, joining in zip(layers, joins, strict=True):
        last = encode_vectors([layer], join(inputs) if joining else inputs)
        inputs = last.h
    assert last is not None
    return Encoded(last.h, [(last.finals[-1][0],)])


def encode_frames_at_once(encoder: TransformerEncoder, matrix: Matrix, b: Vector, frames: Sequence[Vector]) -> Encoded:
    """W x + b stands for an embedding, as large as it is."""
    return attend_at_once(encoder, [matrix @ x + b + at_position(np.zeros(len(b)), j) for j, x in enumerate(frames)])
