"""Positions that never go back (Wu and Cotterell 2019): the sum over all paths along the source, path by path."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from .attention import Score
from .basics import Matrix, Vector, softmax, tanh
from .cells import Cell
from .decoder import Written
from .encoder import Encoded


@dataclass(frozen=True)
class MonotonicDecoder:
    """E: embeddings. layers: cells. score, d: how well a position fits, and what its distance from the one before counts.

    W_s, b_s, W_h: a symbol is read off position j by softmax(V tanh(W_s s_t + b_s + W_h h_j) + b).
    """

    E: Matrix
    layers: Sequence[Cell]
    score: Score
    d: Vector
    W_s: Matrix
    b_s: Vector
    W_h: Matrix
    V: Matrix
    b: Vector

    def move(self, s: Vector, h: Sequence[Vector], i: int) -> Vector:
        """p(i -> j | s_t) of all j; nothing before i."""
        fits = [self.score.energy(s, h[j]) + self.d[min(j - i, len(self.d) - 1)] for j in range(i, len(h))]
        return np.concatenate([np.zeros(i), softmax(fits)])

    def said(self, s: Vector, h_j: Vector) -> Vector:
        """p(y | s_t, h_j) of all y."""
        return softmax(self.V @ tanh(self.W_s @ s + self.b_s + self.W_h @ h_j) + self.b)


def decode_walking(encoded: Encoded, decoder: MonotonicDecoder, inputs: Sequence[int]) -> Written:
    """P(y_t | y_<t, x): that of all paths whose first t symbols are y_1 .. y_t, divided by that of all with y_1 .. y_{t-1}."""
    states = [cell.zeros() for cell in decoder.layers]
    moves: list[list[Vector]] = []
    said: list[list[Vector]] = []
    log_probs, weights = [], []
    for t, y_before in enumerate(inputs):
        x = decoder.E[y_before]
        for number, cell in enumerate(decoder.layers):
            states[number] = cell.step(x, states[number])
            x = states[number][0]
        moves.append([decoder.move(x, encoded.h, i) for i in range(len(encoded.h))])
        said.append([decoder.said(x, h_j) for h_j in encoded.h])
        ending = np.zeros(len(encoded.h))  # at which position paths with the symbols so far stand now
        for path in combinations_with_replacement(range(len(encoded.h)), t + 1):
            chance = 1.0
            for step, (i, j) in enumerate(zip((0, *path[:-1]), path, strict=True)):
                chance *= moves[step][i][j] * (said[step][j][inputs[step + 1]] if step < t else 1.0)
            ending[path[-1]] += chance
        weights.append(ending / ending.sum())
        log_probs.append(np.log(sum(a_j * p_j for a_j, p_j in zip(weights[-1], said[-1], strict=True))))
    return Written(np.stack(log_probs), np.stack(weights)[None])
