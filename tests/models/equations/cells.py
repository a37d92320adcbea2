"""Cells (C1 to C3)."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .basics import Matrix, Squash, Vector, logistic

State = tuple[Vector, ...]
"""(s,) of an RNN or a GRU, (h, s) of an LSTM: what the rest of the model sees comes first."""


class Cell(Protocol):
    def zeros(self) -> State: ...

    def step(self, x: Vector, before: State) -> State: ...


@dataclass(frozen=True)
class Rnn:
    """C1: s_t = sigma(U x_t + W s_{t-1} + b)."""

    U: Matrix
    W: Matrix
    b: Vector
    sigma: Squash

    def zeros(self) -> State:
        return (np.zeros(len(self.b)),)

    def step(self, x: Vector, before: State) -> State:
        (s,) = before
        return (self.sigma(self.U @ x + self.W @ s + self.b),)


@dataclass(frozen=True)
class Gate:
    """A gate opens between 0 and 1, by the state before and the input."""

    U: Matrix
    W: Matrix
    b: Vector

    def opening(self, x: Vector, s: Vector) -> Vector:
        return logistic(self.U @ x + self.W @ s + self.b)


@dataclass(frozen=True)
class Gru:
    """C2: s~_t = sigma(W (o_t * s_{t-1}) + U x_t + b); s_t = i_t * s_{t-1} + (1 - i_t) * s~_t."""

    o: Gate
    i: Gate
    U: Matrix
    W: Matrix
    b: Vector
    sigma: Squash

    def zeros(self) -> State:
        return (np.zeros(len(self.b)),)

    def step(self, x: Vector, before: State) -> State:
        (s,) = before
        o = self.o.opening(x, s)
        i = self.i.opening(x, s)
        candidate = self.sigma(self.W @ (o * s) + self.U @ x + self.b)
        return (i * s + (1 - i) * candidate,)


@dataclass(frozen=True)
class GruResetAfter:
    """C2 as torch computes it, the state reset after the matrix: s~_t = sigma(o_t * (W s_{t-1} + c) + U x_t + b)."""

    o: Gate
    i: Gate
    U: Matrix
    W: Matrix
    b: Vector
    c: Vector
    sigma: Squash

    def zeros(self) -> State:
        return (np.zeros(len(self.b)),)

    def step(self, x: Vector, before: State) -> State:
        (s,) = before
        o = self.o.opening(x, s)
        i = self.i.opening(x, s)
        candidate = self.sigma(o * (self.W @ s + self.c) + self.U @ x + self.b)
        return (i * s + (1 - i) * candidate,)


@dataclass(frozen=True)
class Lstm:
    """C3: s~_t = sigma(W h_{t-1} + U x_t + b); s_t = f_t * s_{t-1} + i_t * s~_t; h_t = o_t * sigma(s_t)."""

    f: Gate
    i: Gate
    o: Gate
    U: Matrix
    W: Matrix
    b: Vector
    sigma: Squash

    def zeros(self) -> State:
        return np.zeros(len(self.b)), np.zeros(len(self.b))

    def step(self, x: Vector, before: State) -> State:
        h, s = before
        f = self.f.opening(x, h)
        i = self.i.opening(x, h)
        o = self.o.opening(x, h)
        candidate = self.sigma(self.W @ h + self.U @ x + self.b)
        s = f * s + i * candidate
        return o * self.sigma(s), s
