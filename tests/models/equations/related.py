"""Sentences that are read together with a question, by the words that they have in common."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .attention import MultiHead
from .basics import Matrix, Vector, softmax
from .encoder import Encoded
from .transformers import FeedForward, Norm


@dataclass(frozen=True)
class RelatedEncoder:
    """E: embeddings of words; P: of their places; T: of ages; U: a vector for each round; R: a row for each pair of places."""

    E: Matrix
    P: Matrix
    T: Matrix
    U: Matrix
    R: Matrix
    looking: tuple[Norm, MultiHead]
    thinking: tuple[Norm, FeedForward]
    norm: Norm


def encode_related(encoder: RelatedEncoder, sentences: Sequence[Sequence[int]], question: Sequence[int]) -> Encoded:
    """Sentence a before the last is sqrt(D) (sum_k p_k * e(w_k) + t_(a + 1)); t_0 is the question's.

    In every round x_i + u, then x_i + attention, then x_i + feed-forward. In the place of h_T, the question.
    """
    texts = [question, *sentences]
    ages = [0, *range(len(sentences), 0, -1)]
    x = [vector_of(encoder, words, age) for words, age in zip(texts, ages, strict=True)]
    for u in encoder.U:
        x = [x_i + u for x_i in x]
        norm, attention = encoder.looking
        normed = [norm.applied(x_i) for x_i in x]
        x = [x_i + looked(encoder.R, attention, normed, texts, i) for i, x_i in enumerate(x)]
        norm, feed_forward = encoder.thinking
        x = [x_i + feed_forward.applied(norm.applied(x_i)) for x_i in x]
    asked, *h = [encoder.norm.applied(x_i) for x_i in x]
    return Encoded(h, [(asked,)])


def vector_of(encoder: RelatedEncoder, words: Sequence[int], age: int) -> Vector:
    total = encoder.T[min(age, len(encoder.T) - 1)]
    for k, word in enumerate(words):
        total = total + encoder.P[min(k, len(encoder.P) - 1)] * encoder.E[word]
    found: Vector = np.sqrt(encoder.E.shape[1]) * total
    return found


def relation(matrix: Matrix, texts: Sequence[Sequence[int]], i: int, j: int) -> Vector:
    """The sum of r_kl / n(w) over all k and l at which i and j have the same word w, which stands n(w) times in all.

    No places are compared but those for which there are rows.
    """
    places = int(np.sqrt(len(matrix)))
    texts = [words[:places] for words in texts]
    r = np.zeros(matrix.shape[1])
    for k, one in enumerate(texts[i]):
        for m, other in enumerate(texts[j]):
            if one == other:
                count = sum(list(words).count(one) for words in texts)
                r = r + matrix[k * places + m] / count
    return r


def looked(matrix: Matrix, attention: MultiHead, x: Sequence[Vector], texts: Sequence[Sequence[int]], i: int) -> Vector:
    """A9, in which r_ij adds its first H entries to the scores of heads, and the others to the values of each."""
    r = [relation(matrix, texts, i, j) for j in range(len(x))]
    number, contexts = len(attention.heads), []
    for h, head in enumerate(attention.heads):
        q = head.W_q @ x[i] + head.b_q
        scores = [q @ (head.W_k @ x_j + head.b_k) / np.sqrt(len(q)) + r_j[h] for x_j, r_j in zip(x, r, strict=True)]
        c = np.zeros(len(q))
        for a_j, x_j, r_j in zip(softmax([float(one) for one in scores]), x, r, strict=True):
            c = c + a_j * (head.W_v @ x_j + head.b_v + r_j[number:])
        contexts.append(c)
    found: Vector = attention.W_c @ np.concatenate(contexts) + attention.b_c
    return found
