"""Decoders that write symbol by symbol (E1, E3 and on)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .attention import Attention
from .basics import Matrix, Vector, logistic, softmax, tanh
from .cells import Cell, State
from .encoder import Encoded


@dataclass(frozen=True)
class Dense:
    """tanh(W z + b)."""

    W: Matrix
    b: Vector

    def applied(self, z: Vector) -> Vector:
        return tanh(self.W @ z + self.b)


Given = Literal["symbols", "distribution", "nothing"]
"""What a step reads of the step before (E7)."""


@dataclass(frozen=True)
class Decoder:
    """What writes the target.

    E: embeddings. layers: cells. start: for each layer and each part of its state, the dense layers that make it from the
    encoder's (none: the identity). attention: for option `attention`; its query is the state before or the current one; the
    context goes into the cell's input, the output (W_att), or a combined vector (W_c), which may be fed to the next step; or it
    becomes the state, or is concatenated to it. V, b: output layer. given: what a step reads of the step before. gate: w and b
    of a decoder that copies.
    """

    option: Literal["none", "initial", "every_step", "attention"]
    E: Matrix
    layers: Sequence[Cell]
    start: Sequence[Sequence[Sequence[Dense]]]
    V: Matrix
    b: Vector
    attention: Attention | None = None
    query: Literal["previous", "current"] = "previous"
    into_input: bool = False
    W_att: Matrix | None = None
    W_c: Matrix | None = None
    feed: bool = False
    into_state: bool = False
    concatenated: bool = False
    given: Given = "symbols"
    gate: tuple[Vector, float] | None = None


@dataclass(frozen=True)
class Written:
    """log_probs [T, V]: log P(y_t = . | y_<t, x) for each t; weights [H][T][S]: a_jt."""

    log_probs: Matrix
    weights: npt.NDArray[np.float64]


def first_states(decoder: Decoder, encoded: Encoded | None) -> list[State]:
    """E3 or, without a source, zeros."""
    return [cell.zeros() for cell in decoder.layers] if encoded is None else started(decoder.start, encoded)


def started(start: Sequence[Sequence[Sequence[Dense]]], encoded: Encoded) -> list[State]:
    """E3: s_0 = f(h_T), layer for layer if there are equally many, else all from the last; C3: both h and s cross."""
    states = []
    for number, parts in enumerate(start):
        final = encoded.finals[number] if len(encoded.finals) == len(start) else encoded.finals[-1]
        made = []
        for part, layers in enumerate(parts):
            z = final[part] if part < len(final) else final[0]
            for dense in layers:
                z = dense.applied(z)
            made.append(z)
        states.append(tuple(made))
    return states


def given_to(decoder: Decoder, y_before: int, log_probs: Sequence[Vector]) -> Vector:
    """E7: e(y_{t-1}), after `begin` perhaps the mean of all embeddings under the distribution before, or nothing."""
    given: Vector = np.zeros(decoder.E.shape[1])
    if decoder.given == "symbols" or not log_probs:
        given = decoder.E[y_before]
    elif decoder.given == "distribution":
        for y, log_prob in enumerate(log_probs[-1]):
            given = given + np.exp(log_prob) * decoder.E[y]
    return given


def decode(encoded: Encoded | None, decoder: Decoder, source: Sequence[int | None], inputs: Sequence[int]) -> Written:
    """E1: P(y | x) = prod_t P(y_t | y_<t, x). inputs: y_0 = begin, y_1, ..: at each step the symbol before.

    source: the symbols at the positions of the source, None at those without any.
    """
    states = first_states(decoder, encoded)
    fed = np.zeros(len(states[-1][0]))
    c_before = np.zeros(0 if decoder.W_att is None else decoder.W_att.shape[1])
    log_probs: list[Vector] = []
    weights: list[list[Vector]] = []
    for y_before in inputs:
        c: Vector | None = None
        if decoder.attention is not None and encoded is not None and decoder.query == "previous":
            c, a = decoder.attention.attend(states[-1][0], encoded.h, weights)  # A1: s_{t-1} asks
            weights.append(a)

        parts = [given_to(decoder, y_before, log_probs)]
        if decoder.option == "every_step" and encoded is not None:
            parts.append(encoded.finals[-1][0])  # E4: s_t = RNN(s_{t-1}, [e(y_{t-1}), h_T])
        if decoder.into_input and c is not None:
            parts.append(c)  # A3: s_t = RNN(s_{t-1}, [e(y_{t-1}), c_t])
        if decoder.feed:
            parts.append(fed)  # Luong: the combined vector of the step before
        if decoder.concatenated:
            parts.append(c_before)  # A7: the state is [s; c], and W [s; c] = W_s s + W_c c
        x = np.concatenate(parts)
        for number, cell in enumerate(decoder.layers):
            states[number] = cell.step(x, states[number])
            x = states[number][0]
        s = states[-1][0]

        if decoder.attention is not None and encoded is not None and decoder.query == "current":
            c, a = decoder.attention.attend(s, encoded.h, weights)  # A5: s_t asks
            weights.append(a)
        if decoder.into_state and c is not None:
            states[-1] = (c, *states[-1][1:])  # A7: the context is the new state
            s = c
        if decoder.concatenated and c is not None:
            c_before = c

        seen = s
        if decoder.W_c is not None and c is not None:
            fed = tanh(decoder.W_c @ np.concatenate([s, c]))  # Luong: tanh(W [s; c]) is what the output sees
            logits = decoder.V @ fed + decoder.b
            seen = fed
        elif decoder.W_att is not None and c is not None:
            logits = decoder.V @ s + decoder.W_att @ c + decoder.b  # A7: W_out s + W_att c
            seen = np.concatenate([s, c])
        else:
            logits = decoder.V @ s + decoder.b  # E5
        p = softmax(logits)
        if decoder.gate is not None:
            g = logistic(decoder.gate[0] @ seen + decoder.gate[1])
            p = g * p
            for j, x_j in enumerate(source):  # See: p(y) = g P(y) + (1 - g) sum of a_j over all j with x_j = y
                if x_j is not None:
                    p[x_j] += (1 - g) * np.mean([head[j] for head in weights[-1]])
        log_probs.append(np.log(p))
    return Written(np.stack(log_probs), np.asarray(weights).swapaxes(0, 1) if weights else np.zeros((0, len(inputs), 0)))
