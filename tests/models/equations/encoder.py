"""Encoders that read symbol by symbol (E2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .basics import Matrix, Vector
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


def read(cell: Cell, inputs: Sequence[Vector]) -> list[State]:
    """E2: h_t = RNN(h_{t-1}, x_t), from a state of zeros."""
    states = []
    state = cell.zeros()
    for x in inputs:
        state = cell.step(x, state)
        states.append(state)
    return states


def encode(encoder: Encoder, source: Sequence[int]) -> Encoded:
    """E2, layer upon layer. Two directions: states side by side, and h_T is the two end states side by side."""
    return encode_vectors(encoder.layers, [encoder.E[symbol] for symbol in source])


def encode_vectors(layers: Sequence[EncoderLayer], inputs: Sequence[Vector]) -> Encoded:
    """E2, layer upon layer, of vectors one after the other."""
    finals = []
    for layer in layers:
        ahead = read(layer.forwards, inputs)
        if layer.backwards is None:
            inputs = [state[0] for state in ahead]
            finals.append(ahead[-1])
            continue
        back = read(layer.backwards, inputs[::-1])  # back[0] has read the last symbol only, back[-1] has read all
        last = len(inputs) - 1
        inputs = [np.concatenate([ahead[j][0], back[last - j][0]]) for j in range(len(inputs))]
        finals.append(tuple(np.concatenate(pair) for pair in zip(ahead[-1], back[-1], strict=True)))
    return Encoded(list(inputs), finals)


def side_by_side(sources: Sequence[Encoded], num_layers: int, num_parts: int) -> Encoded:
    """Several sources as one: positions one behind the other, and what each layer of the decoder starts from side by side."""
    finals = []
    for number in range(num_layers):
        ends = [one.finals[number] if len(one.finals) == num_layers else one.finals[-1] for one in sources]
        parts = [[end[part] if part < len(end) else end[0] for end in ends] for part in range(num_parts)]
        finals.append(tuple(np.concatenate(part) for part in parts))
    return Encoded([h_j for one in sources for h_j in one.h], finals)
