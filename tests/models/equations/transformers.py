"""Transformers: encoders and decoders that read all positions at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .attention import Attention, MultiHead
from .basics import Matrix, Vector, softmax
from .decoder import Dense, Written, started
from .encoder import Encoded


@dataclass(frozen=True)
class Norm:
    """g * (x - mean) / sqrt(variance + 1e-5) + b, mean and variance over the entries of x."""

    g: Vector
    b: Vector

    def applied(self, x: Vector) -> Vector:
        normed: Vector = self.g * (x - x.mean()) / np.sqrt(x.var() + 1e-5) + self.b
        return normed


@dataclass(frozen=True)
class FeedForward:
    """W_2 max(0, W_1 x + b_1) + b_2."""

    W_1: Matrix
    b_1: Vector
    W_2: Matrix
    b_2: Vector

    def applied(self, x: Vector) -> Vector:
        return self.W_2 @ np.maximum(self.W_1 @ x + self.b_1, 0.0) + self.b_2


@dataclass(frozen=True)
class TransformerLayer:
    """Attention to positions of the same sequence, attention to the sources if there are any, the feed-forward part; each
    has a norm before it and is added to what it was given.
    """

    looking_back: tuple[Norm, MultiHead]
    reading: tuple[Norm, Attention] | None
    thinking: tuple[Norm, FeedForward]


@dataclass(frozen=True)
class TransformerEncoder:
    """E: embeddings."""

    E: Matrix
    layers: Sequence[TransformerLayer]
    norm: Norm


@dataclass(frozen=True)
class TransformerDecoder:
    """E: embeddings. start: as in `Decoder`. W: what the summary of the source adds to every input. V, b: output layer.

    shown: the layers whose weights over the source come back, as a mean.
    """

    E: Matrix
    layers: Sequence[TransformerLayer]
    norm: Norm
    start: Sequence[Sequence[Sequence[Dense]]]
    W: Matrix | None
    V: Matrix
    b: Vector
    shown: Sequence[int]


def at_position(e: Vector, t: int) -> Vector:
    """sqrt(D) e + p_t, with sin(t / 10000^(2i / D)) in the first half of p_t and cos in the second."""
    width = len(e)
    angles = [t / 10_000 ** (2 * i / width) for i in range((width + 1) // 2)]
    p = [np.sin(angle) for angle in angles] + [np.cos(angle) for angle in angles]
    placed: Vector = np.sqrt(width) * e + np.asarray(p[:width])
    return placed


def encode_at_once(encoder: TransformerEncoder, source: Sequence[int]) -> Encoded:
    """In every layer, every position attends to all. The mean over positions takes the place of h_T."""
    return attend_at_once(encoder, [at_position(encoder.E[symbol], j) for j, symbol in enumerate(source)])


def attend_at_once(encoder: TransformerEncoder, x: Sequence[Vector]) -> Encoded:
    """The layers, from vectors that know where they stand."""
    for layer in encoder.layers:
        norm, attention = layer.looking_back
        normed = [norm.applied(x_j) for x_j in x]
        x = [x_j + attention.attend(q, normed, [])[0] for x_j, q in zip(x, normed, strict=True)]
        norm, feed_forward = layer.thinking
        x = [x_j + feed_forward.applied(norm.applied(x_j)) for x_j in x]
    h = [encoder.norm.applied(x_j) for x_j in x]
    return Encoded(h, [(sum(h, np.zeros(len(h[0]))) / len(h),)])


def decode_looking_back(encoded: Encoded | None, decoder: TransformerDecoder, inputs: Sequence[int]) -> Written:
    """E1, symbol by symbol: in every layer, a position attends to itself and those before it."""
    first = started(decoder.start, encoded) if encoded is not None else []
    # What each layer can look back at: with a first state from the source, that before the first symbol.
    seen = [[layer.looking_back[0].applied(first[number][0])] if first else [] for number, layer in enumerate(decoder.layers)]
    log_probs: list[Vector] = []
    weights: list[list[Vector]] = []
    for y_before in inputs:
        x = at_position(decoder.E[y_before], len(seen[0]))
        if decoder.W is not None and encoded is not None:
            x = x + decoder.W @ encoded.finals[-1][0]  # E4: the same at every step
        looks = []
        for layer, before in zip(decoder.layers, seen, strict=True):
            norm, attention = layer.looking_back
            before.append(norm.applied(x))
            x = x + attention.attend(before[-1], before, [])[0]
            if layer.reading is not None and encoded is not None:
                norm, reading = layer.reading
                c, a = reading.attend(norm.applied(x), encoded.h, [])  # A9, in every layer
                x = x + c
                looks.append(a)
            norm, feed_forward = layer.thinking
            x = x + feed_forward.applied(norm.applied(x))
        log_probs.append(np.log(softmax(decoder.V @ decoder.norm.applied(x) + decoder.b)))
        if looks:
            shown = [looks[number] for number in decoder.shown]
            weights.append([np.mean(heads, axis=0) for heads in zip(*shown, strict=True)])
    return Written(np.stack(log_probs), np.asarray(weights).swapaxes(0, 1) if weights else np.zeros((0, len(inputs), 0)))
