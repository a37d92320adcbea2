"""Encoders: each reads one source into a memory, all positions at once or with a node that runs over them."""

import math
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from onnx import TensorProto

from seqloom.graphs.cells import CellState, run_layer
from seqloom.graphs.frames import Beside, read_frames_at_once, read_pyramid, real_positions
from seqloom.graphs.graph import Array, Graph, Parameters, Shape, Value
from seqloom.graphs.related import read_related
from seqloom.graphs.sentences import sentence_sums
from seqloom.graphs.symbols import known
from seqloom.graphs.transformers import at_positions, encoder_layers
from seqloom.graphs.video import mask_of_places, read_video
from seqloom.graphs.vision import read_image
from seqloom.recipe import sections

_LEAST = float(np.finfo(np.float32).min)
"""Smaller than all that a state has in it."""


@dataclass(frozen=True)
class Memory:
    """One source as its encoder wrote it: states [B, S, D], mask [B, S], summary [B, D'], last states of the layers [B, D'].

    symbols [B, S]: what was read, if it was symbols.
    """

    states: Value
    mask: Value
    summary: Value
    finals: tuple[CellState, ...]
    symbols: Value | None = None
    looked: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Neighbour:
    """The source beside another one: its encoder's section and weights, and what it wrote."""

    section: sections.AnyEncoder
    weights: Parameters
    memory: Memory

    @property
    def beside(self) -> Beside:
        """What of it can stand beside frames."""
        return Beside(self.memory.states, self.memory.mask, self.section.memory_size)


def read_source(
    graph: Graph,
    name: str,
    section: sections.AnyEncoder,
    weights: Parameters,
    shape: Shape,
    neighbour: Neighbour | None = None,
) -> Memory:
    """The memory of a source. shape: of what stands at a position; nothing for symbols."""
    lengths = graph.input(f"{name}.lengths", "int64", ["B"])
    if isinstance(section, sections.SymbolEncoder):
        return _read_symbols(graph, section, weights, graph.input(name, "int64", ["B", f"S.{name}"]), lengths, neighbour)
    beside = None if neighbour is None else neighbour.beside
    match section:
        case sections.DenseEncoder():
            return _read_vector(graph, section, weights, graph.input(name, "float", ["B", 1, *shape]), lengths)
        case sections.PyramidEncoder():
            frames = graph.input(name, "float", ["B", f"S.{name}", *shape])
            states, lengths, ends = read_pyramid(graph, section, weights, frames, lengths, beside)
            return Memory(states, real_positions(graph, states, lengths), ends[0], (ends,))
        case sections.FrameTransformerEncoder():
            frames = graph.input(name, "float", ["B", f"S.{name}", *shape])
            states, lengths = read_frames_at_once(graph, section, weights, frames, lengths, beside)
            mask = real_positions(graph, states, lengths)
            summary = _mean(graph, states, mask)
            return Memory(states, mask, summary, ((summary,),))
        case sections.ConvolutionalEncoder() | sections.EfficientNetLite0Encoder():
            states, summary = read_image(graph, name, section, weights, shape)
            there = graph.op("Greater", graph.unsqueeze(lengths, 1), graph.whole(0))
            mask = graph.op("Expand", there, graph.op("Shape", states, start=0, end=2))
            summary = graph.where(there, summary, graph.number(0.0))
            return Memory(states, mask, summary, ((summary,),))
        case sections.VideoEncoder():
            states, frames, lengths, last = read_video(graph, name, section, weights, shape, lengths, beside)
            real = real_positions(graph, frames, lengths)
            summary = _mean(graph, frames, real) if last is None else last[0]
            mask = real if section.memory == "frames" else mask_of_places(graph, frames, lengths, states)
            return Memory(states, mask, summary, (last or (summary,),))
        case _:
            assert_never(section)


def _read_symbols(
    graph: Graph,
    section: sections.SymbolEncoder,
    weights: Parameters,
    symbols: Value,
    lengths: Value,
    neighbour: Neighbour | None,
) -> Memory:
    match section:
        case sections.TextEncoder():
            return _read_text(graph, section, weights, symbols, lengths, neighbour)
        case sections.TransformerEncoder():
            return _read_at_once(graph, section, weights, symbols, lengths)
        case sections.SentenceEncoder():
            return _read_sentences(graph, weights, symbols, lengths)
        case sections.ComparingEncoder() if neighbour is not None:
            return _read_comparing(graph, section, weights, symbols, lengths, neighbour)
        case sections.AskedEncoder() if neighbour is not None:
            return _read_asked(graph, section, weights, symbols, lengths, neighbour)
        case sections.RelatedEncoder() if neighbour is not None:
            return _read_related(graph, section, weights, symbols, lengths, neighbour)
        case sections.ComparingEncoder() | sections.AskedEncoder() | sections.RelatedEncoder():
            raise TypeError("a text that is read beside another source needs that one")
        case _:
            assert_never(section)


def _read_text(
    graph: Graph,
    section: sections.TextEncoder,
    weights: Parameters,
    symbols: Value,
    lengths: Value,
    neighbour: Neighbour | None = None,
) -> Memory:
    table = (weights if neighbour is None else neighbour.weights)["embedding.weight"]
    vectors = graph.rows_of(table, known(graph, symbols, len(table)))
    first = None if neighbour is None else neighbour.memory.finals
    states, finals = _read_vectors(graph, section, weights, vectors, lengths, first)
    mask = real_positions(graph, symbols, lengths)
    if section.summary == "max":
        summary = _largest(graph, states, mask)
        return Memory(states, mask, summary, ((summary,),), symbols)
    return Memory(states, mask, finals[-1][0], finals, symbols)


def _read_vectors(
    graph: Graph,
    section: sections.TextEncoder | sections.ComparingEncoder | sections.AskedEncoder,
    weights: Parameters,
    vectors: Value,
    lengths: Value,
    first: tuple[CellState, ...] | None = None,
) -> tuple[Value, tuple[CellState, ...]]:
    """What recurrent layers make of vectors [B, S, I]: states [B, S, D], and the last state of each layer."""
    states = graph.transpose(vectors, 1, 0, 2)
    short = graph.op("Cast", lengths, to=TensorProto.INT32)
    names = ["forwards", "backwards"] if section.bidirectional else ["forwards"]
    finals = []
    for layer in range(section.layers):
        directions = [weights.below(f"{name}.{layer}") for name in names]
        states, ends = run_layer(graph, section, directions, states, short, first[layer] if first else ())
        finals.append(ends)
    return graph.transpose(states, 1, 0, 2), tuple(finals)


def _largest(graph: Graph, states: Value, mask: Value) -> Value:
    real = graph.where(graph.unsqueeze(mask, -1), states, graph.number(_LEAST))
    found = graph.op("ReduceMax", real, graph.whole(1), keepdims=0)
    return graph.where(graph.op("Equal", found, graph.number(_LEAST)), graph.number(0.0), found)


def _mean(graph: Graph, states: Value, mask: Value) -> Value:
    real = graph.where(graph.unsqueeze(mask, -1), states, graph.number(0.0))
    count = graph.op("ReduceSum", graph.to_float(mask), graph.whole(1), keepdims=1)
    total = graph.op("ReduceSum", real, graph.whole(1), keepdims=0)
    return graph.op("Div", total, graph.op("Max", count, graph.number(1.0)))


def _read_comparing(
    graph: Graph,
    section: sections.ComparingEncoder,
    weights: Parameters,
    symbols: Value,
    lengths: Value,
    neighbour: Neighbour,
) -> Memory:
    if isinstance(neighbour.section, sections.TransformerEncoder):
        own = _read_at_once(graph, neighbour.section, neighbour.weights, symbols, lengths)
    elif isinstance(neighbour.section, sections.TextEncoder):
        own = _read_text(graph, neighbour.section, neighbour.weights, symbols, lengths)
    else:
        raise TypeError(neighbour.section)
    mine, others = (_words(graph, one, neighbour.weights["embedding.weight"]) for one in (own, neighbour.memory))
    width = weights["compare.weight"].shape[1] // 4
    scores = graph.op("Div", graph.op("MatMul", mine, graph.transpose(others, 0, 2, 1)), graph.number(math.sqrt(width)))
    seen = graph.unsqueeze(neighbour.memory.mask, 1)
    looked = graph.op("Softmax", graph.where(seen, scores, graph.number(_LEAST)), axis=-1)
    looked = graph.where(seen, looked, graph.number(0.0))
    found = graph.op("MatMul", looked, others)
    apart, alike = graph.op("Abs", graph.sub(mine, found)), graph.mul(mine, found)
    compared = graph.op("Relu", weights.linear(graph, "compare", graph.concat(mine, found, apart, alike)))
    states, _ = _read_vectors(graph, section, weights, compared, lengths)
    summary = graph.concat(_largest(graph, states, own.mask), _mean(graph, states, own.mask))
    return Memory(states, own.mask, summary, ((summary,),), symbols, (graph.unsqueeze(looked, 1),))


def _words(graph: Graph, memory: Memory, table: Array) -> Value:
    """[h; sqrt(E) e] of every word."""
    if memory.symbols is None:
        raise TypeError("words are compared, and the other source has none")
    vectors = graph.rows_of(table, known(graph, memory.symbols, len(table)))
    return graph.concat(memory.states, graph.mul(vectors, graph.number(math.sqrt(table.shape[1]))))


def _read_sentences(graph: Graph, weights: Parameters, symbols: Value, lengths: Value) -> Memory:
    table, times = weights["embedding.weight"], weights["ages.weight"]
    said = sentence_sums(graph, table, symbols, lengths)
    ages = graph.sub(graph.sub(said.counts, graph.whole(1)), said.places)
    ages = graph.op("Clip", ages, graph.constant(0, np.int64), graph.constant(len(times) - 1, np.int64))
    scaled = graph.mul(graph.add(said.sums, graph.rows_of(times, ages)), graph.number(math.sqrt(table.shape[1])))
    states = graph.where(graph.unsqueeze(said.mask, -1), scaled, graph.number(0.0))
    summary = _mean(graph, states, said.mask)
    return Memory(states, said.mask, summary, ((summary,),))


def _read_asked(
    graph: Graph, section: sections.AskedEncoder, weights: Parameters, symbols: Value, lengths: Value, neighbour: Neighbour
) -> Memory:
    table = weights["embedding.weight"]
    said = sentence_sums(graph, table, symbols, lengths)
    scaled = graph.mul(said.sums, graph.number(math.sqrt(table.shape[1])))
    asked = graph.unsqueeze(graph.op("Tanh", weights.linear(graph, "question", neighbour.memory.summary)), 1)
    everywhere = graph.op("Expand", asked, graph.op("Shape", scaled))
    vectors = graph.concat(scaled, graph.mul(scaled, asked), everywhere)
    states, finals = _read_vectors(graph, section, weights, vectors, graph.squeeze(said.counts, 1))
    return Memory(states, said.mask, finals[-1][0], finals)


def _read_related(
    graph: Graph, section: sections.RelatedEncoder, weights: Parameters, symbols: Value, lengths: Value, neighbour: Neighbour
) -> Memory:
    if neighbour.memory.symbols is None:
        raise TypeError("a text is read together with another source, which has words")
    question = neighbour.memory.symbols, neighbour.memory.mask
    states, mask, summary, looked = read_related(graph, section, weights, symbols, lengths, question)
    return Memory(states, mask, summary, ((summary,),), looked=looked)


def _read_at_once(
    graph: Graph, section: sections.TransformerEncoder, weights: Parameters, symbols: Value, lengths: Value
) -> Memory:
    table = weights["embedding.weight"]
    mask = real_positions(graph, symbols, lengths)
    states = at_positions(graph, graph.rows_of(table, known(graph, symbols, len(table))), graph.size(symbols, 1), section.size)
    states = encoder_layers(graph, section, weights, states, mask)
    summary = _mean(graph, states, mask)
    return Memory(states, mask, summary, ((summary,),), symbols)


def _read_vector(graph: Graph, section: sections.DenseEncoder, weights: Parameters, vectors: Value, lengths: Value) -> Memory:
    squash = {"tanh": "Tanh", "logistic": "Sigmoid", "relu": "Relu"}[section.activation]
    states = vectors
    for layer in range(section.layers):
        states = graph.op(squash, weights.linear(graph, f"layers.{layer}", states))
    there = graph.op("Greater", graph.unsqueeze(lengths, 1), graph.whole(0))
    summary = graph.squeeze(states, 1)
    return Memory(states, there, summary, ((summary,),))
