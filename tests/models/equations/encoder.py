"""Encoders that read symbol by symbol (E2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .basics import Matrix, Vector, softmax
from .cells import Cell, State


@dataclass(frozen=True)
class EncoderLayer:
    """A cell that reads from the first symbol to the last and, in two directions, one that reads from the last to the first."""

    forwards: Cell
    backwards: Cell | None


@dataclass(frozen=True)
class Encoder:
    """E: the embedding e(x) of symbol x is its row x."""

    E: Matrix
    layers: Sequence[EncoderLayer]


@dataclass(frozen=True)
class Encoded:
    """h: one vector per position; finals: the last state of each layer. The last layer's is h_T."""

    h: list[Vector]
    finals: list[State]


def read(cell: Cell, inputs: Sequence[Vector], first: State | None = None) -> list[State]:
    """E2: h_t = RNN(h_{t-1}, x_t), from a state of zeros or the first one."""
    states = []
    state = cell.zeros() if first is None else first
    for x in inputs:
        state = cell.step(x, state)
        states.append(state)
    return states


def encode(encoder: Encoder, source: Sequence[int], before: Encoded | None = None) -> Encoded:
    """E2, layer upon layer. before: what is read on from."""
    return encode_vectors(encoder.layers, [encoder.E[symbol] for symbol in source], before)


def encode_vectors(layers: Sequence[EncoderLayer], inputs: Sequence[Vector], before: Encoded | None = None) -> Encoded:
    """E2 of vectors. Two directions: states side by side, and h_T is the two end states side by side."""
    finals = []
    for number, layer in enumerate(layers):
        first, second = (None, None) if before is None else in_halves(before.finals[number], layer.backwards is not None)
        ahead = read(layer.forwards, inputs, first)
        if layer.backwards is None:
            inputs = [state[0] for state in ahead]
            finals.append(ahead[-1])
            continue
        back = read(layer.backwards, inputs[::-1], second)  # back[0] has read the last symbol only, back[-1] has read all
        last = len(inputs) - 1
        inputs = [np.concatenate([ahead[j][0], back[last - j][0]]) for j in range(len(inputs))]
        finals.append(tuple(np.concatenate(pair) for pair in zip(ahead[-1], back[-1], strict=True)))
    return Encoded(list(inputs), finals)


def in_halves(state: State, both: bool) -> tuple[State, State | None]:
    """The end states of two directions, which lie side by side; of one direction, its own."""
    if not both:
        return state, None
    halves = [np.split(part, 2) for part in state]
    return tuple(half[0] for half in halves), tuple(half[1] for half in halves)


def pooled(encoded: Encoded) -> Encoded:
    """In the place of h_T, the largest of what stands in each place of the h_j."""
    return Encoded(encoded.h, [(np.max(encoded.h, axis=0),)])


@dataclass(frozen=True)
class SentenceEncoder:
    """E: embeddings of words; T: of how many sentences came after one, the last row for all that are older."""

    E: Matrix
    T: Matrix


def encode_sentences(encoder: SentenceEncoder, sentences: Sequence[Sequence[int]]) -> Encoded:
    """Sukhbaatar: a sentence of J words, a before the last, is sqrt(D) (sum_k l_k * e(x_k) + t_a).

    l_kd = (1 - k/J) - (d/D) (1 - 2k/J), k and d from 1. In the place of h_T, their mean.
    """
    h, width = [], encoder.E.shape[1]
    for number, words in enumerate(sentences, start=1):
        age = encoder.T[min(len(sentences) - number, len(encoder.T) - 1)]
        h.append(np.sqrt(width) * (summed_words(encoder.E, words) + age))
    return Encoded(h, [(np.mean(h, axis=0),)])


def summed_words(table: Matrix, words: Sequence[int]) -> Vector:
    """sum_k l_k * e(x_k)."""
    width = table.shape[1]
    vector: Vector = np.zeros(width)
    for k, word in enumerate(words, start=1):
        for d in range(1, width + 1):
            weight = (1 - k / len(words)) - d / width * (1 - 2 * k / len(words))
            vector[d - 1] += weight * table[word][d - 1]
    return vector


@dataclass(frozen=True)
class AskedEncoder:
    """E: embeddings of words; W, b: what is made of the question."""

    E: Matrix
    W: Matrix
    b: Vector
    layers: Sequence[EncoderLayer]


def encode_asked(encoder: AskedEncoder, sentences: Sequence[Sequence[int]], question: Vector) -> Encoded:
    """u = tanh(W q + b); of each sentence f = sqrt(E) sum_k l_k * e(x_k), [f; f * u; u] is read (E2)."""
    u = np.tanh(encoder.W @ question + encoder.b)
    said = [np.sqrt(encoder.E.shape[1]) * summed_words(encoder.E, words) for words in sentences]
    return encode_vectors(encoder.layers, [np.concatenate([f, f * u, u]) for f in said])


@dataclass(frozen=True)
class Comparison:
    """relu(W [x; c; |x - c|; x * c] + b)."""

    W: Matrix
    b: Vector

    def of(self, x: Vector, c: Vector) -> Vector:
        found: Vector = np.maximum(self.W @ np.concatenate([x, c, np.abs(x - c), x * c]) + self.b, 0.0)
        return found


def compare(x: Sequence[Vector], y: Sequence[Vector], comparison: Comparison, layers: Sequence[EncoderLayer]) -> Encoded:
    """Chen: c_i = sum_j softmax_j(x_i^T y_j / sqrt(D)) y_j; the comparisons of x_i and c_i are read (E2).

    In the place of h_T, the largest of what stands in each place, and the mean.
    """
    compared = []
    for x_i in x:
        a = softmax([float(x_i @ y_j) / np.sqrt(len(x_i)) for y_j in y])
        c = np.zeros(len(x_i))
        for a_j, y_j in zip(a, y, strict=True):
            c = c + a_j * y_j
        compared.append(comparison.of(x_i, c))
    h = encode_vectors(layers, compared).h
    return Encoded(h, [(np.concatenate([np.max(h, axis=0), np.mean(h, axis=0)]),)])


def side_by_side(sources: Sequence[Encoded], num_layers: int, num_parts: int) -> Encoded:
    """Several sources as one: positions one behind the other, and what each layer of the decoder starts from side by side."""
    finals = []
    for number in range(num_layers):
        ends = [one.finals[number] if len(one.finals) == num_layers else one.finals[-1] for one in sources]
        parts = [[end[part] if part < len(end) else end[0] for end in ends] for part in range(num_parts)]
        finals.append(tuple(np.concatenate(part) for part in parts))
    return Encoded([h_j for one in sources for h_j in one.h], finals)
