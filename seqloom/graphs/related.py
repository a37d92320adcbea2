"""Sentences that are read together with a question, by the words that they have in common."""

import math

import numpy as np
from onnx import TensorProto

from seqloom.graphs.attention import head_scores, join_heads, masked_softmax, split_heads
from seqloom.graphs.graph import Array, Graph, Parameters, Value
from seqloom.graphs.sentences import Parting, first_words, parted, summed
from seqloom.graphs.symbols import known
from seqloom.graphs.transformers import feed_forward, normed
from seqloom.recipe import sections
from seqloom.symbols import END

_NOTHING = -1
"""Stands where a sentence has no further word."""


def read_related(
    graph: Graph,
    section: sections.RelatedEncoder,
    weights: Parameters,
    symbols: Value,
    lengths: Value,
    question: tuple[Value, Value],
) -> tuple[Value, Value, Value, tuple[Value, ...]]:
    """The sentences [B, N, D], their mask [B, N], what becomes of the question [B, D], and where each round looked.

    question: its symbols and their mask, [B, S'].
    """
    parting = parted(graph, symbols, lengths)
    asked = graph.op("And", question[1], graph.op("Not", graph.op("Equal", question[0], graph.constant(END, np.int64))))
    words = _compared(graph, section, (question[0], asked), first_words(graph, symbols, parting, section.places, _NOTHING))
    number = graph.positions(graph.size(words, 1))
    mask = graph.op("LessOrEqual", number, parting.counts)
    states = _vectors(graph, weights, (question[0], asked), symbols, parting)
    states = graph.add(states, _when(graph, weights["ages.weight"], number, parting.counts))
    states = graph.mul(states, graph.number(math.sqrt(section.size)))
    attention = weights.below("attention")
    relations = _relations(graph, section, attention, words)
    rounds = []
    for vector in weights["rounds"]:
        states = graph.add(states, graph.constant(vector, np.float32))
        read, looked = _attended(graph, section, attention, states, graph.unsqueeze(mask, 1, 2), relations)
        states = graph.add(states, read)
        states = graph.add(states, feed_forward(graph, weights.below("feed_forward"), states))
        rounds.append(looked)
    states = normed(graph, weights, states)
    summary = graph.op("Gather", states, graph.constant(0, np.int64), axis=1)
    return _without_question(graph, states), _without_question(graph, mask), summary, tuple(rounds)


def _compared(graph: Graph, section: sections.RelatedEncoder, question: tuple[Value, Value], said: Value) -> Value:
    """The first words of the question and of sentences [B, 1 + N, W], one below the other, as wide as the wider of them."""
    symbols = graph.where(question[1], question[0], graph.constant(_NOTHING, np.int64))
    most = graph.op("Min", graph.size(symbols, 1), graph.whole(section.places))
    asked = graph.unsqueeze(graph.op("Gather", symbols, graph.positions(most), axis=1), 1)
    width = graph.op("Max", graph.size(asked, 2), graph.size(said, 2))
    wide = []
    for one in (asked, said):
        shape = graph.concat(graph.op("Shape", one, start=0, end=2), graph.sub(width, graph.size(one, 2)))
        wide.append(graph.concat(one, graph.op("Expand", graph.whole(_NOTHING), shape)))
    return graph.concat(*wide, axis=1)


def _without_question(graph: Graph, value: Value) -> Value:
    behind = graph.positions(graph.sub(graph.size(value, 1), graph.whole(1)), graph.whole(1))
    return graph.op("Gather", value, behind, axis=1)


def _vectors(graph: Graph, weights: Parameters, question: tuple[Value, Value], symbols: Value, parting: Parting) -> Value:
    """The words of the question and of the sentences, summed up [B, 1 + N, D]."""
    own = graph.sub(graph.op("Cast", parting.places, to=TensorProto.INT64), graph.whole(1))
    said = summed(graph, _placed(graph, weights, symbols, parting.words, own), parting)
    placed = _placed(graph, weights, *question, graph.positions(graph.size(question[0], 1)))
    return graph.concat(graph.op("ReduceSum", placed, graph.whole(1), keepdims=1), said, axis=1)


def _placed(graph: Graph, weights: Parameters, symbols: Value, words: Value, places: Value) -> Value:
    """`p_k * e(w_k)` [B, S, D], 0 of all that is no word."""
    table, masks = weights["embedding.weight"], weights["places"]
    vectors = graph.rows_of(table, known(graph, symbols, len(table)))
    clamped = graph.op("Clip", places, graph.constant(0, np.int64), graph.constant(len(masks) - 1, np.int64))
    found = graph.mul(vectors, graph.rows_of(masks, clamped))
    return graph.mul(found, graph.unsqueeze(graph.to_float(words), -1))


def _when(graph: Graph, times: Array, number: Value, counts: Value) -> Value:
    """`t_a` of the question and the sentences [B, 1 + N, D]."""
    none = graph.constant(0, np.int64)
    ages = graph.sub(graph.add(counts, graph.whole(1)), number)
    ages = graph.op("Clip", ages, none, graph.constant(len(times) - 1, np.int64))
    return graph.rows_of(times, graph.where(graph.op("Greater", number, none), ages, none))


def _relations(graph: Graph, section: sections.RelatedEncoder, weights: Parameters, words: Value) -> tuple[Value, Value]:
    """What is added to scores [B, H, N, N] and to values of every head [B, N, N, D / H]."""
    there = graph.op("Less", graph.constant(_NOTHING, np.int64), words)
    equal = graph.op("Equal", graph.unsqueeze(words, 2, 4), graph.unsqueeze(words, 1, 3))
    same = graph.to_float(graph.op("And", equal, graph.unsqueeze(there, 2, 4)))  # [B, N, N, W, W]
    number = graph.op("ReduceSum", same, graph.whole(2, 4), keepdims=1)
    shares = graph.reshape(graph.op("Div", same, graph.op("Max", number, graph.number(1.0))), 0, 0, 0, -1)
    place = graph.positions(graph.size(words, 2))
    rows = graph.mul(graph.unsqueeze(place, 1), graph.constant(section.places, np.int64))
    pairs = graph.reshape(graph.add(rows, graph.unsqueeze(place, 0)), -1)
    found = graph.op("MatMul", shares, graph.rows_of(np.ascontiguousarray(weights["common.weight"].T), pairs))
    scores, values = graph.split(found, [section.heads, section.size // section.heads])
    return graph.transpose(scores, 0, 3, 1, 2), values


def _attended(
    graph: Graph,
    section: sections.RelatedEncoder,
    weights: Parameters,
    states: Value,
    seen: Value,
    relations: tuple[Value, Value],
) -> tuple[Value, Value]:
    """What states [B, N, D] read in one another, and with what weights [B, H, N, N]. seen: [B, 1, 1, N]."""
    own = normed(graph, weights, states)
    query, keys, values = (weights.linear(graph, f"to_{part}", own) for part in ("query", "key", "value"))
    scores = graph.add(head_scores(graph, query, keys, section.heads, section.size), relations[0])
    looked = masked_softmax(graph, scores, seen)
    related = graph.op("MatMul", graph.transpose(looked, 0, 2, 1, 3), relations[1])  # [B, N, H, D / H]
    heads = graph.op("MatMul", looked, split_heads(graph, values, section.heads))
    heads = graph.add(heads, graph.transpose(related, 0, 2, 1, 3))
    return weights.linear(graph, "to_context", join_heads(graph, heads, section.size)), looked
