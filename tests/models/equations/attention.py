"""Attention (A1 to A9): scores, weights, contexts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .basics import Matrix, Squash, Vector, logistic, softmax, tanh


class Attention(Protocol):
    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        """The context, and the weights of each head. past: the weights of each head at all steps before."""
        ...


class Score(Protocol):
    def energy(self, s: Vector, h_j: Vector) -> float: ...


@dataclass(frozen=True)
class Soft:
    """A1: e_jt = score(s, h_j); a_jt = softmax_j(e_jt); c_t = sum_j a_jt h_j."""

    score: Score

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        a = softmax([self.score.energy(s, h_j) for h_j in h])
        return averaged(a, h), [a]


def averaged(a: Vector, h: Sequence[Vector]) -> Vector:
    """A1: c_t = sum_j a_jt h_j."""
    c = np.zeros(len(h[0]))
    for a_j, h_j in zip(a, h, strict=True):
        c = c + a_j * h_j
    return c


@dataclass(frozen=True)
class Dot:
    """A4: s^T h_j, divided by the root of the width if scaled."""

    scaled: bool

    def energy(self, s: Vector, h_j: Vector) -> float:
        return float(s @ h_j) / (np.sqrt(len(s)) if self.scaled else 1.0)


@dataclass(frozen=True)
class Bilinear:
    """A4: s^T W h_j."""

    W: Matrix

    def energy(self, s: Vector, h_j: Vector) -> float:
        return float(s @ self.W @ h_j)


@dataclass(frozen=True)
class Additive:
    """A2: V_att^T tanh(U_att s + W_att h_j)."""

    V: Vector
    U: Matrix
    W: Matrix

    def energy(self, s: Vector, h_j: Vector) -> float:
        return float(self.V @ tanh(self.U @ s + self.W @ h_j))


@dataclass(frozen=True)
class Concat:
    """A4: w_2^T tanh(W_1 [s; h_j])."""

    w_2: Vector
    W_1: Matrix

    def energy(self, s: Vector, h_j: Vector) -> float:
        return float(self.w_2 @ tanh(self.W_1 @ np.concatenate([s, h_j])))


@dataclass(frozen=True)
class Projected:
    """A6: k_j^T q with k_j = sigma(W_k h_j) and q = sigma(W_q s), layer upon layer.

    scaled: divided by the root of the width.
    """

    W_q: Sequence[Matrix]
    W_k: Sequence[Matrix]
    sigma: Squash
    scaled: bool

    def energy(self, s: Vector, h_j: Vector) -> float:
        q, k_j = s, h_j
        for matrix in self.W_q:
            q = self.sigma(matrix @ q)
        for matrix in self.W_k:
            k_j = self.sigma(matrix @ k_j)
        return float(k_j @ q) / (np.sqrt(len(q)) if self.scaled else 1.0)


@dataclass(frozen=True)
class Covering:
    """A2 that sees the coverage: V^T tanh(U s + W h_j + w g_jt), g_jt the sum of the weights that j had before (Tu 2016)."""

    V: Vector
    U: Matrix
    W: Matrix
    w: Vector

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        g = np.zeros(len(h))
        for (before,) in past:
            g = g + before
        a = softmax([float(self.V @ tanh(self.U @ s + self.W @ h[j] + self.w * g[j])) for j in range(len(h))])
        return averaged(a, h), [a]


@dataclass(frozen=True)
class Locating:
    """V^T tanh(U s + W h_j + F f_jt), f_t = K * a_{t-1} (Chorowski 2015); only j near the centre of a_{t-1}, with a window."""

    V: Vector
    U: Matrix
    W: Matrix
    F: Matrix
    K: Matrix
    window: int | None = None

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        before = past[-1][0] if past else np.zeros(len(h))
        centre = max(1.0, sum((j + 1) * before[j] for j in range(len(h))))
        inside = [j for j in range(len(h)) if self.window is None or abs(j + 1 - centre) <= self.window]
        energies = []
        for j in inside:
            f = np.zeros(len(self.K))
            for k in range(self.K.shape[1]):
                place = j + k - self.K.shape[1] // 2
                f = f + self.K[:, k] * (before[place] if 0 <= place < len(h) else 0.0)
            energies.append(float(self.V @ tanh(self.U @ s + self.W @ h[j] + self.F @ f)))
        a = np.zeros(len(h))
        a[inside] = softmax(energies)
        return averaged(a, h), [a]


@dataclass(frozen=True)
class Following:
    """Only |j - p_t| <= D is looked at, where p_t = sum_j j a_{j,t-1}, counted from 1, and p_1 = 1."""

    score: Score
    D: int

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        p = sum((j + 1) * past[-1][0][j] for j in range(len(h))) if past else 1.0
        inside = [j for j in range(len(h)) if abs(j + 1 - p) <= self.D]
        a = np.zeros(len(h))
        a[inside] = softmax([self.score.energy(s, h[j]) for j in inside])
        return averaged(a, h), [a]


@dataclass(frozen=True)
class Local:
    """Only |j - p_t| <= D is looked at (Luong 2015), where j and t count from 1 and p_t = t.

    Or p_t = S sigmoid(v^T tanh(W s)), and then the energies are e_jt - (j - p_t)^2 / (2 (D/2)^2).
    """

    score: Score
    D: int
    W: Matrix | None = None
    v: Vector | None = None

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        predicts = self.W is not None and self.v is not None
        p: float = min(len(past) + 1, len(h))
        if self.W is not None and self.v is not None:
            p = float(len(h) * logistic(self.v @ tanh(self.W @ s)))
        inside = [j for j in range(1, len(h) + 1) if abs(j - p) <= self.D]
        energies = []
        for j in inside:
            gaussian = -((j - p) ** 2) / (2 * (self.D / 2) ** 2) if predicts else 0.0
            energies.append(self.score.energy(s, h[j - 1]) + gaussian)
        a = np.zeros(len(h))
        a[[j - 1 for j in inside]] = softmax(energies)
        return averaged(a, h), [a]


@dataclass(frozen=True)
class InStep:
    """a_jt = 1 where j = t, both counted from 1; nothing is looked at once there is no such j."""

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        a = np.array([float(j == len(past) + 1) for j in range(1, len(h) + 1)])
        return averaged(a, h), [a]


@dataclass(frozen=True)
class Hard:
    """One position, the best (Xu 2015)."""

    score: Score

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        best = int(np.argmax([self.score.energy(s, h_j) for h_j in h]))
        a = np.zeros(len(h))
        a[best] = 1.0
        return h[best], [a]


@dataclass(frozen=True)
class Head:
    """One head of A9: q = W_q s + b_q, k_j = W_k h_j + b_k, v_j = W_v h_j + b_v."""

    W_q: Matrix
    b_q: Vector
    W_k: Matrix
    b_k: Vector
    W_v: Matrix
    b_v: Vector


@dataclass(frozen=True)
class MultiHead:
    """A9: each head averages its values by softmax_j(q^T k_j / sqrt(d)), d its width; c = W_c [c^1; ..; c^H] + b_c."""

    heads: Sequence[Head]
    W_c: Matrix
    b_c: Vector

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        contexts, weights = [], []
        for head in self.heads:
            q = head.W_q @ s + head.b_q
            a = softmax([float(q @ (head.W_k @ h_j + head.b_k)) / np.sqrt(len(q)) for h_j in h])
            c = np.zeros(len(head.b_v))
            for a_j, h_j in zip(a, h, strict=True):
                c = c + a_j * (head.W_v @ h_j + head.b_v)
            contexts.append(c)
            weights.append(a)
        return self.W_c @ np.concatenate(contexts) + self.b_c, weights


@dataclass(frozen=True)
class Gated:
    """How much of a context counts is up to the query (Xu 2015): c_t = beta_t sum_j a_jt h_j, beta_t = sigma(w^T s + b)."""

    attention: Attention
    w: Vector
    b: float

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        c, a = self.attention.attend(s, h, past)
        return logistic(self.w @ s + self.b) * c, a


@dataclass(frozen=True)
class Again:
    """q_{k+1} = tanh(W [q_k; c_k] + b)."""

    W: Matrix
    b: Vector

    def asked(self, q: Vector, c: Vector) -> Vector:
        return tanh(self.W @ np.concatenate([q, c]) + self.b)


@dataclass(frozen=True)
class Looking:
    """Looks one after the other: q_1 = s, each next query from the last and what it read; contexts and weights side by side."""

    attention: Attention
    again: Sequence["Again"]

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        c, a = self.attention.attend(s, h, past)
        contexts, weights = [c], list(a)
        for one in self.again:
            s = one.asked(s, contexts[-1])
            c, a = self.attention.attend(s, h, past)
            contexts.append(c)
            weights += a
        return np.concatenate(contexts), weights


@dataclass(frozen=True)
class Several:
    """An attention for each source, which has so many positions; contexts side by side or, if summed, added."""

    attentions: Sequence[Attention]
    counts: Sequence[int]
    summed: bool = False

    def attend(self, s: Vector, h: Sequence[Vector], past: Sequence[Sequence[Vector]]) -> tuple[Vector, list[Vector]]:
        contexts, weights, start = [], [], 0
        for attention, count in zip(self.attentions, self.counts, strict=True):
            own = slice(start, start + count)
            c, a = attention.attend(s, h[own], [[head[own] for head in heads] for heads in past])
            contexts.append(c)
            weights.append(a)
            start += count
        context = np.sum(contexts, axis=0) if self.summed else np.concatenate(contexts)
        return context, [np.concatenate(heads) for heads in zip(*weights, strict=True)]
