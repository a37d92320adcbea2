"""The lectures' equations in plain NumPy, one sentence, one step and one position at a time: to read, and to test with.

Letters are the lectures': x source symbols, y target symbols, h encoder states, s decoder states, e energies (and e(y) an
embedding), a weights, c contexts. The ids, C1 to E5, are those of docs/equations.md. Nothing here knows the models.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

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


# --- cells ----------------------------------------------------------------------------------------------------------

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


# --- encoder --------------------------------------------------------------------------------------------------------


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
    inputs = [encoder.E[symbol] for symbol in source]
    finals = []
    for layer in encoder.layers:
        ahead = read(layer.forwards, inputs)
        if layer.backwards is None:
            inputs = [state[0] for state in ahead]
            finals.append(ahead[-1])
            continue
        back = read(layer.backwards, inputs[::-1])  # back[0] has read the last symbol only, back[-1] has read all
        last = len(inputs) - 1
        inputs = [np.concatenate([ahead[j][0], back[last - j][0]]) for j in range(len(inputs))]
        finals.append(tuple(np.concatenate(pair) for pair in zip(ahead[-1], back[-1], strict=True)))
    return Encoded(inputs, finals)


def side_by_side(sources: Sequence[Encoded], num_layers: int, num_parts: int) -> Encoded:
    """Several sources as one: positions one behind the other, and what each layer of the decoder starts from side by side."""
    finals = []
    for number in range(num_layers):
        ends = [one.finals[number] if len(one.finals) == num_layers else one.finals[-1] for one in sources]
        parts = [[end[part] if part < len(end) else end[0] for end in ends] for part in range(num_parts)]
        finals.append(tuple(np.concatenate(part) for part in parts))
    return Encoded([h_j for one in sources for h_j in one.h], finals)


# --- attention ------------------------------------------------------------------------------------------------------


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


# --- decoder --------------------------------------------------------------------------------------------------------


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


def decode(
    encoded: Encoded | None, decoder: "Decoder | TransformerDecoder", source: Sequence[int | None], inputs: Sequence[int]
) -> Written:
    """E1: P(y | x) = prod_t P(y_t | y_<t, x). inputs: y_0 = begin, y_1, ..: at each step the symbol before.

    source: the symbols at the positions of the source, None at those without any.
    """
    if isinstance(decoder, TransformerDecoder):
        return decode_looking_back(encoded, decoder, inputs)
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


# --- transformers ---------------------------------------------------------------------------------------------------


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
    x = [at_position(encoder.E[symbol], j) for j, symbol in enumerate(source)]
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
