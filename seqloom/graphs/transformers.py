"""What the layers of transformers share: norms, positions, attention to a sequence itself, and the feed-forward part (A9)."""

import math

import numpy as np

from seqloom.graphs.attention import head_scores, join_heads, masked_softmax, split_heads
from seqloom.graphs.graph import Graph, Parameters, Value
from seqloom.recipe import sections


def normed(graph: Graph, weights: Parameters, states: Value) -> Value:
    """The part's own layer normalisation."""
    return graph.norm(states, weights["norm.weight"], weights["norm.bias"])


def at_positions(graph: Graph, vectors: Value, count: Value, size: int, first: Value | None = None) -> Value:
    """`sqrt(D) e_t + p_t` for embeddings [..., T, D] at the positions from `first` on; sizes as lists of one number."""
    return graph.add(graph.mul(vectors, graph.number(math.sqrt(size))), waves(graph, count, size, first))


def waves(graph: Graph, count: Value, size: int, first: Value | None = None) -> Value:
    """The vectors [T, D] of positions from `first` on: sines, then cosines."""
    rates = 10_000.0 ** (-2.0 / size * np.arange((size + 1) // 2))
    places = graph.unsqueeze(graph.to_float(graph.positions(count, first)), -1)
    angles = graph.mul(places, graph.constant(rates, np.float32))
    found = graph.concat(graph.op("Sin", angles), graph.op("Cos", angles))
    return graph.split(found, [size, 1])[0] if size % 2 else found


def remembered(graph: Graph, weights: Parameters, states: Value) -> tuple[Value, Value]:
    """Keys and values of states [..., D] for later positions; weights: of the self-attention."""
    own = normed(graph, weights, states)
    return weights.linear(graph, "attention.to_key", own), weights.linear(graph, "attention.to_value", own)


def self_attention(
    graph: Graph, section: sections.Transformer, weights: Parameters, states: Value, seen: Value | None
) -> Value:
    """What states [B, S, D] read in one another. seen: [B, 1, 1, S], None for all."""
    query = weights.linear(graph, "attention.to_query", normed(graph, weights, states))
    keys, values = remembered(graph, weights, states)
    return attended(graph, section, weights.below("attention"), query, keys, values, seen)


def attended(
    graph: Graph,
    section: sections.Transformer,
    weights: Parameters,
    query: Value,
    keys: Value,
    values: Value,
    seen: Value | None,
) -> Value:
    """What queries [B, Q, D], multiplied already, read of keys and values [B, S, D]."""
    scores = head_scores(graph, query, keys, section.heads, section.size)
    looked = graph.op("Softmax", scores, axis=-1) if seen is None else masked_softmax(graph, scores, seen)
    heads = graph.op("MatMul", looked, split_heads(graph, values, section.heads))
    return weights.linear(graph, "to_context", join_heads(graph, heads, section.size))


def feed_forward(graph: Graph, weights: Parameters, states: Value) -> Value:
    """`W_2 relu(W_1 norm(x) + b_1) + b_2`."""
    inner = graph.op("Relu", weights.linear(graph, "inner", normed(graph, weights, states)))
    return weights.linear(graph, "outer", inner)


def encoder_layers(graph: Graph, section: sections.Transformer, weights: Parameters, states: Value, mask: Value) -> Value:
    """All layers of an encoder and its last norm, states [B, S, D]; mask [B, S]."""
    seen = graph.unsqueeze(mask, 1, 2)
    for layer in range(section.layers):
        part = weights.below(f"layers.{layer}")
        states = graph.add(states, self_attention(graph, section, part.below("self_attention"), states, seen))
        states = graph.add(states, feed_forward(graph, part.below("feed_forward"), states))
    return normed(graph, weights, states)
