"""Attention (A1-A4, A6, A9): what is prepared once for a source, and where a query looks."""

import math
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from seqloom.graphs.graph import Graph, Parameters, Value
from seqloom.recipe import sections

Carry = tuple[Value, ...]
LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class AttendedSource:
    """A source made ready for queries: keys [B, S, A], values [B, S, C], mask [B, S]."""

    keys: Value
    values: Value
    mask: Value


@dataclass(frozen=True)
class Looked:
    """Where queries look: weights [B, H, Q, S], what is carried to the next step; and the scores behind the weights."""

    weights: Value
    carry: Carry
    scores: Value | None = None


def key_size(section: sections.Attention, query_size: int, memory_size: int) -> int:
    """The width of keys."""
    match section:
        case sections.Dot() | sections.InStep():
            return memory_size
        case sections.Bilinear():
            return query_size
        case sections.Local(score=score) | sections.Hard(score=score):
            return key_size(score, query_size, memory_size)
        case sections.Additive() | sections.Concat() | sections.Projected() | sections.MultiHead() | sections.Location():
            return section.size
        case _:
            assert_never(section)


def prepared(
    graph: Graph, section: sections.Attention, weights: Parameters, states: Value, query_size: int
) -> tuple[Value, Value]:
    """AttendedSource and values of a source's states [B, S, D]."""
    match section:
        case sections.Dot() | sections.InStep():
            return states, states
        case sections.Bilinear():
            return weights.linear(graph, "matrix", states), states
        case sections.Additive() | sections.Location():
            return weights.linear(graph, "from_memory", states), states
        case sections.Concat():
            return graph.linear(states, weights["hidden.weight"][:, query_size:]), states
        case sections.Projected():
            return _projected(graph, section, weights.below("to_key"), states), states
        case sections.MultiHead():
            return weights.linear(graph, "to_key", states), weights.linear(graph, "to_value", states)
        case sections.Local(score=score) | sections.Hard(score=score):
            return prepared(graph, score, weights.below("score"), states, query_size)
        case _:
            assert_never(section)


def first_carry(graph: Graph, section: sections.Attention, mask: Value) -> Carry:
    """What is carried before the first step; mask [B, S]."""
    match section:
        case sections.Additive(coverage=True) | sections.Location():
            return (graph.zeros(graph.size(mask, 0), graph.whole(1), graph.size(mask, 1)),)
        case sections.Local(centre="monotonic" | "previous") | sections.InStep():
            return (graph.add(graph.zeros(graph.size(mask, 0), graph.whole(1)), graph.number(1.0)),)
        case _:
            return ()


def look(
    graph: Graph,
    section: sections.Attention,
    weights: Parameters,
    query: Value,
    keys: AttendedSource,
    carry: Carry,
    query_size: int,
) -> Looked:
    """The weights of queries [B, Q, D]."""
    seen = graph.unsqueeze(keys.mask, 1, 2)
    match section:
        case sections.Additive(coverage=True):
            return _with_coverage(graph, weights, query, keys, carry[0])
        case sections.Location():
            return _with_location(graph, section, weights, query, keys, carry[0])
        case sections.Local(centre="previous", window=window, score=score):
            scores = scores_of(graph, score, weights.below("score"), query, keys, query_size)
            inside = _in_window(graph, _distances(graph, carry[0], keys.mask), window, seen)
            found = masked_softmax(graph, scores, inside)
            return Looked(found, (_centres(graph, found),))
        case sections.Local(centre="monotonic", window=window, score=score):
            (time,) = carry
            distances = _distances(graph, graph.op("Min", time, _lengths(graph, keys.mask)), keys.mask)
            scores = scores_of(graph, score, weights.below("score"), query, keys, query_size)
            found = masked_softmax(graph, scores, _in_window(graph, distances, window, seen))
            return Looked(found, (graph.add(time, graph.number(1.0)),))
        case sections.InStep():
            (time,) = carry
            here = graph.op("Equal", _distances(graph, time, keys.mask), graph.number(0.0))
            there = graph.op("And", graph.unsqueeze(here, 1), seen)
            return Looked(graph.to_float(there), (graph.add(time, graph.number(1.0)),))
        case sections.Local(window=window, score=score):
            hidden = graph.tanh(weights.linear(graph, "to_hidden", query))
            place = graph.squeeze(graph.sigmoid(weights.linear(graph, "to_place", hidden)), -1)
            distances = _distances(graph, graph.mul(_lengths(graph, keys.mask), place), keys.mask)
            spread = graph.number(-1.0 / (2.0 * (window / 2.0) ** 2))
            gaussian = graph.unsqueeze(graph.mul(graph.mul(distances, distances), spread), 1)
            scores = graph.add(scores_of(graph, score, weights.below("score"), query, keys, query_size), gaussian)
            return Looked(masked_softmax(graph, scores, _in_window(graph, distances, window, seen)), carry)
        case sections.Hard(score=score):
            soft = masked_softmax(graph, scores_of(graph, score, weights.below("score"), query, keys, query_size), seen)
            best = graph.op("ArgMax", soft, axis=-1, keepdims=1)
            there = graph.op("Equal", graph.positions(graph.size(keys.mask, 1)), best)
            only = graph.to_float(graph.op("And", there, seen))
            return Looked(only, carry)
        case _:
            scores = scores_of(graph, section, weights, query, keys, query_size)
            return Looked(masked_softmax(graph, scores, seen), carry, scores)


def context(graph: Graph, section: sections.Attention, weights: Parameters, looked: Value, keys: AttendedSource) -> Value:
    """What weights [B, H, Q, S] read, [B, Q, C]."""
    if isinstance(section, sections.MultiHead):
        heads = graph.op("MatMul", looked, split_heads(graph, keys.values, section.heads))
        return weights.linear(graph, "to_context", join_heads(graph, heads, section.size))
    return graph.op("MatMul", graph.squeeze(looked, 1), keys.values)


def redirected_carry(graph: Graph, section: sections.Attention, given: Value, before: Carry, carry: Carry) -> Carry:
    """What is carried if the weights of a step were others than its own."""
    if isinstance(section, sections.Additive) and section.coverage:
        return (graph.add(before[0], graph.squeeze(given, 1)),)
    if isinstance(section, sections.Location):
        return (graph.squeeze(given, 1),)
    if isinstance(section, sections.Local) and section.centre == "previous":
        return (_centres(graph, given),)
    return carry


def masked_softmax(graph: Graph, scores: Value, seen: Value) -> Value:
    """Weights over the positions that are seen; nothing where a source has none."""
    masked = graph.where(seen, scores, graph.number(LOWEST))
    return graph.where(seen, graph.op("Softmax", masked, axis=-1), graph.number(0.0))


def split_heads(graph: Graph, value: Value, heads: int) -> Value:
    """[B, S, D] -> [B, H, S, D / H]."""
    return graph.transpose(graph.reshape(value, 0, 0, heads, -1), 0, 2, 1, 3)


def join_heads(graph: Graph, heads: Value, size: int) -> Value:
    """[B, H, Q, D / H] -> [B, Q, D]."""
    return graph.reshape(graph.transpose(heads, 0, 2, 1, 3), 0, 0, size)


def scores_of(
    graph: Graph, section: sections.Attention, weights: Parameters, query: Value, keys: AttendedSource, query_size: int
) -> Value:
    """`e_jt`, [B, H, Q, S]."""
    match section:
        case sections.Dot(scaled=scaled):
            size = query_size
            return _dots(graph, query, keys.keys, 1.0 / math.sqrt(size) if scaled else 1.0)
        case sections.Bilinear():
            return _dots(graph, query, keys.keys, 1.0)
        case sections.Additive():
            return _energies(graph, weights, weights.linear(graph, "from_query", query), keys.keys)
        case sections.Concat():
            return _energies(graph, weights, graph.linear(query, weights["hidden.weight"][:, :query_size]), keys.keys)
        case sections.Projected(size=size, scaled=scaled):
            queries = _projected(graph, section, weights.below("to_query"), query)
            return _dots(graph, queries, keys.keys, 1.0 / math.sqrt(size) if scaled else 1.0)
        case sections.MultiHead(heads=heads, size=size):
            return head_scores(graph, weights.linear(graph, "to_query", query), keys.keys, heads, size)
        case _:
            raise TypeError(f"{section.kind} attention has no scores of its own")


def head_scores(graph: Graph, queries: Value, keys: Value, heads: int, size: int) -> Value:
    """Scaled dot products per head, [B, H, Q, S]."""
    scaled = graph.mul(split_heads(graph, queries, heads), graph.number(1.0 / math.sqrt(size // heads)))
    turned = graph.transpose(graph.reshape(keys, 0, 0, heads, -1), 0, 2, 3, 1)
    return graph.op("MatMul", scaled, turned)


def _dots(graph: Graph, query: Value, keys: Value, scale: float) -> Value:
    scaled = query if scale == 1.0 else graph.mul(query, graph.number(scale))
    return graph.unsqueeze(graph.op("MatMul", scaled, graph.transpose(keys, 0, 2, 1)), 1)


def _energies(graph: Graph, weights: Parameters, queries: Value, keys: Value, more: Value | None = None) -> Value:
    """`v^T tanh(q + k_j)`."""
    total = graph.add(graph.unsqueeze(queries, 2), graph.unsqueeze(keys, 1), *([] if more is None else [more]))
    vector = graph.constant(weights["energy.weight"].T, np.float32)  # in fp32: one number for each position is little work
    return graph.unsqueeze(graph.squeeze(graph.op("MatMul", graph.tanh(total), vector), -1), 1)


def _with_coverage(graph: Graph, weights: Parameters, query: Value, keys: AttendedSource, coverage: Value) -> Looked:
    """Energies that know where was looked before; coverage [B, K, S]."""
    seen = graph.unsqueeze(keys.mask, 1, 2)
    covered = graph.mul(graph.unsqueeze(coverage, -1), graph.constant(weights["from_coverage"], np.float32))
    scores = _energies(graph, weights, weights.linear(graph, "from_query", query), keys.keys, covered)
    found = masked_softmax(graph, scores, seen)
    return Looked(found, (graph.add(coverage, graph.squeeze(found, 1)),))


def _with_location(
    graph: Graph, section: sections.Location, weights: Parameters, query: Value, keys: AttendedSource, before: Value
) -> Looked:
    """Energies that see where the step before looked; before [B, K, S]."""
    inside = graph.unsqueeze(keys.mask, 1, 2)
    if section.window is not None:
        centres = graph.op("Max", _centres(graph, graph.unsqueeze(before, 1)), graph.number(1.0))
        inside = _in_window(graph, _distances(graph, centres, keys.mask), section.window, inside)
    rows = graph.op("Reshape", before, graph.concat(graph.whole(-1, 1), graph.size(before, 2), axis=0))  # [B * K, 1, S]
    middle = section.width // 2
    seen = graph.op("Conv", rows, graph.constant(weights["filters.weight"], np.float32), pads=[middle, middle])
    shape = graph.concat(graph.op("Shape", before), graph.whole(section.filters), axis=0)
    located = graph.op("Reshape", graph.transpose(seen, 0, 2, 1), shape)  # [B, K, S, F]
    more = weights.linear(graph, "from_location", located)
    scores = _energies(graph, weights, weights.linear(graph, "from_query", query), keys.keys, more)
    found = masked_softmax(graph, scores, inside)
    return Looked(found, (graph.squeeze(found, 1),))


def _centres(graph: Graph, weights: Value) -> Value:
    """The mean position, counted from 1, by weights [B, 1, K, S]: [B, K]."""
    single = graph.squeeze(weights, 1)
    places = graph.add(graph.to_float(graph.positions(graph.size(single, 2))), graph.number(1.0))
    return graph.op("ReduceSum", graph.mul(single, places), graph.whole(-1), keepdims=0)


def _projected(graph: Graph, section: sections.Projected, weights: Parameters, value: Value) -> Value:
    squash = {"tanh": "Tanh", "logistic": "Sigmoid", "relu": "Relu", "none": "Identity"}[section.nonlinearity]
    for index in range(section.layers):
        value = graph.op(squash, weights.linear(graph, str(2 * index), value))
    return value


def _lengths(graph: Graph, mask: Value) -> Value:
    """Real positions of every sentence, [B, 1]."""
    return graph.op("ReduceSum", graph.to_float(mask), graph.whole(1), keepdims=1)


def _distances(graph: Graph, centres: Value, mask: Value) -> Value:
    """How far every position, counted from 1, is from the centres [B, Q]: [B, Q, S]."""
    places = graph.add(graph.to_float(graph.positions(graph.size(mask, 1))), graph.number(1.0))
    return graph.sub(places, graph.unsqueeze(centres, -1))


def _in_window(graph: Graph, distances: Value, window: int, seen: Value) -> Value:
    """Which positions are looked at, [B, 1, Q, S]."""
    near = graph.op("LessOrEqual", graph.op("Abs", distances), graph.number(float(window)))
    return graph.op("And", graph.unsqueeze(near, 1), seen)
