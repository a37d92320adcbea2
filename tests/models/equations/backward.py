"""A8: the pass back through an RNN that attends to the states of another, written out by hand.

h[0] and s[0] are the states before the first symbol: position t of the source has h[t + 1], symbol i of the target s[i + 1].
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from .basics import Matrix, Vector, softmax, tanh


@dataclass(frozen=True)
class Attending:
    """An encoder of C1, `s_0 = h_T` (E3), a decoder of C1, scores of A6, output `softmax(W_out s + W_att a + b)` (A7).

    Rows of x and y are embedded symbols. The gradients of all of it have the same form.
    """

    x: Matrix
    y: Matrix
    U_h: Matrix
    W_h: Matrix
    b_h: Vector
    U_s: Matrix
    W_s: Matrix
    b_s: Vector
    W_q: Matrix
    W_k: Matrix
    W_out: Matrix
    W_att: Matrix
    b_out: Vector


@dataclass(frozen=True)
class Passed:
    """What the pass forward leaves behind. asking: which of s asks at each step, s[i + 1] (A5), or s[i] (A1)."""

    h: list[Vector]
    s: list[Vector]
    k: list[Vector]
    asking: list[int]
    q: list[Vector]
    alpha: list[Vector]
    a: list[Vector]
    p: list[Vector]


def forward(m: Attending, *, previous: bool) -> Passed:
    h = [np.zeros(len(m.b_h))]
    for x in m.x:
        h.append(tanh(m.U_h @ x + m.W_h @ h[-1] + m.b_h))
    s = [h[-1]]
    for y in m.y:
        s.append(tanh(m.U_s @ y + m.W_s @ s[-1] + m.b_s))
    k = [tanh(m.W_k @ state) for state in h[1:]]
    asking = [i if previous else i + 1 for i in range(len(m.y))]
    q = [tanh(m.W_q @ s[i]) for i in asking]
    alpha = [softmax(np.stack(k) @ query) for query in q]
    a = [shares @ np.stack(h[1:]) for shares in alpha]
    p = [softmax(m.W_out @ state + m.W_att @ features + m.b_out) for state, features in zip(s[1:], a, strict=True)]
    return Passed(h, s, k, asking, q, alpha, a, p)


def gradients(m: Attending, labels: Sequence[int], *, previous: bool) -> tuple[float, Attending]:
    """The sum of `-log p` of the labels, and its gradients. previous: the query is the state before (A1), not this one (A5)."""
    f = forward(m, previous=previous)
    g = Attending(*(np.zeros_like(getattr(m, field.name)) for field in fields(m)))
    of_s, of_h, of_k = ([np.zeros_like(vector) for vector in vectors] for vectors in (f.s, f.h, f.k))
    for i in reversed(range(len(labels))):
        of_logits = f.p[i] - np.eye(len(m.b_out))[labels[i]]
        g.W_out[:] += np.outer(of_logits, f.s[i + 1])
        g.W_att[:] += np.outer(of_logits, f.a[i])
        g.b_out[:] += of_logits
        of_a = m.W_att.T @ of_logits
        of_q = back_through_attention(f, i, of_a, of_h, of_k)
        g.W_q[:] += np.outer(of_q, f.s[f.asking[i]])
        # grad s: through the output + through the query + through the next state.
        of_s[i + 1] += m.W_out.T @ of_logits
        of_s[f.asking[i]] += m.W_q.T @ of_q
        inner = of_s[i + 1] * (1.0 - f.s[i + 1] ** 2)
        add_step((g.U_s, g.W_s, g.b_s), inner, m.y[i], f.s[i])
        g.y[i] += m.U_s.T @ inner
        of_s[i] += m.W_s.T @ inner
    of_h[-1] += of_s[0]  # s_0 = h_T
    for t in reversed(range(len(m.x))):
        of_key = of_k[t] * (1.0 - f.k[t] ** 2)
        g.W_k[:] += np.outer(of_key, f.h[t + 1])
        # grad h: through the key + through all contexts, which is there already + through the next state.
        of_h[t + 1] += m.W_k.T @ of_key
        inner = of_h[t + 1] * (1.0 - f.h[t + 1] ** 2)
        add_step((g.U_h, g.W_h, g.b_h), inner, m.x[t], f.h[t])
        g.x[t] += m.U_h.T @ inner
        of_h[t] += m.W_h.T @ inner
    return -float(sum(np.log(shares[label]) for shares, label in zip(f.p, labels, strict=True))), g


def back_through_attention(f: Passed, i: int, of_a: Vector, of_h: list[Vector], of_k: list[Vector]) -> Vector:
    """Add what step i contributes to grad h, `alpha_t grad a`, and to grad k; returns the gradient of what q squashes."""
    of_alpha = np.array([of_a @ state for state in f.h[1:]])
    of_scores = f.alpha[i] * (of_alpha - f.alpha[i] @ of_alpha)
    for t, share in enumerate(f.alpha[i]):
        of_h[t + 1] += share * of_a
        of_k[t] += of_scores[t] * f.q[i]
    of_q: Vector = (of_scores @ np.stack(f.k)) * (1.0 - f.q[i] ** 2)
    return of_q


def add_step(matrices: tuple[Matrix, Matrix, Vector], inner: Vector, x: Vector, before: Vector) -> None:
    """Gradients of U, W and b of one step of C1; inner: that of what it squashes."""
    u, w, b = matrices
    u += np.outer(inner, x)
    w += np.outer(inner, before)
    b += inner
