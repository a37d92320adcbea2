"""Texts that consist of sentences: which symbols belong to which, and what their words sum up to."""

from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from seqloom.graphs.frames import real_positions
from seqloom.graphs.graph import Array, Graph, Value
from seqloom.graphs.symbols import known
from seqloom.symbols import END


@dataclass(frozen=True)
class Parting:
    """Symbols [B, S], parted into sentences: how many there are in each text [B, 1] and at most [1].

    numbers [B, S]: of the sentences to which symbols belong; words [B, S]: which symbols are words; places [B, S]: of words in
    their sentence, from 1, and out of how many [B, S].
    """

    counts: Value
    most: Value
    numbers: Value
    words: Value
    places: Value
    out_of: Value


def parted(graph: Graph, symbols: Value, lengths: Value) -> Parting:
    """Part texts of the given lengths [B] where the symbol `end` stands."""
    real = real_positions(graph, symbols, lengths)
    last = graph.op("Equal", graph.positions(graph.size(symbols, 1)), graph.unsqueeze(graph.sub(lengths, graph.whole(1)), 1))
    closing = graph.op("And", real, graph.op("Equal", symbols, graph.constant(END, np.int64)))
    ends = graph.op("Cast", graph.op("Or", closing, last), to=TensorProto.INT64)
    numbers = graph.sub(graph.op("CumSum", ends, graph.constant(1, np.int64)), ends)
    counts = graph.op("ReduceSum", ends, graph.whole(1), keepdims=1)  # [B, 1]
    most = graph.op("Max", graph.op("ReduceMax", counts, graph.whole(0), keepdims=0), graph.whole(1))
    words = graph.op("And", real, graph.op("Not", closing))
    there = graph.unsqueeze(graph.to_float(words), -1)
    same = graph.to_float(graph.op("Equal", graph.unsqueeze(numbers, 1), graph.unsqueeze(numbers, 2)))
    places = graph.positions(graph.size(numbers, 1))
    before = graph.to_float(graph.op("LessOrEqual", graph.unsqueeze(places, 0), graph.unsqueeze(places, 1)))
    so_far = graph.squeeze(graph.op("MatMul", graph.mul(same, before), there), -1)
    every = graph.squeeze(graph.op("MatMul", same, there), -1)
    return Parting(counts, most, numbers, words, so_far, every)


def first_words(graph: Graph, symbols: Value, parting: Parting, most: int, nothing: int) -> Value:
    """The first words of each sentence [B, N, W], `most` of them at most, `nothing` behind them."""
    one = graph.whole(1)
    wanted = graph.op("And", parting.words, graph.op("LessOrEqual", parting.places, graph.number(most)))
    places = graph.where(wanted, graph.op("Cast", parting.places, to=TensorProto.INT64), graph.whole(0))
    width = graph.op("Max", graph.reshape(graph.op("ReduceMax", places, keepdims=0), 1), one)
    slots = graph.mul(parting.most, width)
    own = graph.sub(graph.add(graph.mul(parting.numbers, width), places), one)
    slot = graph.where(wanted, own, slots)  # all else goes behind the last
    shape = graph.concat(graph.size(symbols, 0), graph.add(slots, one))
    empty = graph.op("Expand", graph.whole(nothing), shape)
    table = graph.op("ScatterElements", empty, slot, symbols, axis=1)
    table = graph.op("Gather", table, graph.positions(slots), axis=1)
    return graph.op("Reshape", table, graph.concat(graph.whole(0), parting.most, width))


@dataclass(frozen=True)
class SentenceSums:
    """The words of each sentence, summed up [B, N, D]; how many sentences there are [B, 1]; which [N] are real [B, N]."""

    sums: Value
    counts: Value
    places: Value
    mask: Value


def sentence_sums(graph: Graph, table: Array, symbols: Value, lengths: Value) -> SentenceSums:
    """`sum_k l_k * e(x_k)` of each sentence."""
    parting = parted(graph, symbols, lengths)
    places = graph.positions(parting.most)
    vectors = graph.rows_of(table, known(graph, symbols, len(table)))
    sums = summed(graph, graph.mul(vectors, _word_weights(graph, parting, table.shape[1])), parting)
    return SentenceSums(sums, parting.counts, places, graph.op("Less", places, parting.counts))


def summed(graph: Graph, words: Value, parting: Parting) -> Value:
    """Vectors [B, S, D], which are zeros where no word is, summed up for each sentence [B, N, D]."""
    places = graph.unsqueeze(graph.positions(parting.most), 0, 2)
    within = graph.op("Equal", places, graph.unsqueeze(parting.numbers, 1))  # [B, N, S]
    return graph.op("MatMul", graph.to_float(within), words)


def _word_weights(graph: Graph, parting: Parting, size: int) -> Value:
    """`l_kd = (1 - k/J) - (d/D) (1 - 2k/J)` of the k-th of J words of a sentence [B, S, D]; 0 of all that is no word."""
    one = graph.number(1.0)
    share = graph.unsqueeze(graph.op("Div", parting.places, graph.op("Max", parting.out_of, one)), -1)
    width = graph.constant(np.arange(1, size + 1, dtype=np.float32) / np.float32(size), np.float32)
    falling = graph.sub(one, share)
    weights = graph.sub(falling, graph.mul(width, graph.sub(falling, share)))
    return graph.mul(weights, graph.unsqueeze(graph.to_float(parting.words), -1))
