"""Encoders: each reads one source into a memory, all positions at once or with a node that runs over them."""

from dataclasses import dataclass
from typing import assert_never

import numpy as np
from onnx import TensorProto

from seqloom.graphs.cells import CellState, run_layer
from seqloom.graphs.frames import read_frames_at_once, read_pyramid, real_positions
from seqloom.graphs.graph import Graph, Parameters, Shape, Value
from seqloom.graphs.transformers import at_positions, encoder_layers
from seqloom.graphs.video import mask_of_places, read_video
from seqloom.graphs.vision import read_image
from seqloom.recipe import sections
from seqloom.symbols import UNKNOWN


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


def read_source(graph: Graph, name: str, section: sections.AnyEncoder, weights: Parameters, shape: Shape) -> Memory:
    """The memory of a source. shape: of what stands at a position; nothing for symbols."""
    lengths = graph.input(f"{name}.lengths", "int64", ["B"])
    match section:
        case sections.TextEncoder():
            return _read_text(graph, section, weights, graph.input(name, "int64", ["B", "S"]), lengths)
        case sections.TransformerEncoder():
            return _read_at_once(graph, section, weights, graph.input(name, "int64", ["B", "S"]), lengths)
        case sections.DenseEncoder():
            return _read_vector(graph, section, weights, graph.input(name, "float", ["B", 1, *shape]), lengths)
        case sections.PyramidEncoder():
            frames = graph.input(name, "float", ["B", "S", *shape])
            states, lengths, ends = read_pyramid(graph, section, weights, frames, lengths)
            return Memory(states, real_positions(graph, states, lengths), ends[0], (ends,))
        case sections.FrameTransformerEncoder():
            frames = graph.input(name, "float", ["B", "S", *shape])
            states, lengths = read_frames_at_once(graph, section, weights, frames, lengths)
            mask = real_positions(graph, states, lengths)
            summary = _mean(graph, states, mask, lengths)
            return Memory(states, mask, summary, ((summary,),))
        case sections.ConvolutionalEncoder() | sections.EfficientNetLite0Encoder():
            states, summary = read_image(graph, name, section, weights, shape)
            there = graph.op("Greater", graph.unsqueeze(lengths, 1), graph.whole(0))
            mask = graph.op("Expand", there, graph.op("Shape", states, start=0, end=2))
            summary = graph.where(there, summary, graph.number(0.0))
            return Memory(states, mask, summary, ((summary,),))
        case sections.VideoEncoder():
            states, frames, lengths, last = read_video(graph, name, section, weights, shape, lengths)
            real = real_positions(graph, frames, lengths)
            summary = _mean(graph, frames, real, lengths) if last is None else last[0]
            mask = real if section.memory == "frames" else mask_of_places(graph, frames, lengths, states)
            return Memory(states, mask, summary, (last or (summary,),))
        case _:
            assert_never(section)


def _known(graph: Graph, symbols: Value, vocabulary_size: int) -> Value:
    """All that lies outside the vocabulary is unknown alike."""
    inside = graph.op("Less", symbols, graph.constant(vocabulary_size, np.int64))
    return graph.where(inside, symbols, graph.constant(UNKNOWN, np.int64))


def _read_text(graph: Graph, section: sections.TextEncoder, weights: Parameters, symbols: Value, lengths: Value) -> Memory:
    table = weights["embedding.weight"]
    states = graph.transpose(graph.rows_of(table, _known(graph, symbols, len(table))), 1, 0, 2)
    short = graph.op("Cast", lengths, to=TensorProto.INT32)
    names = ["forwards", "backwards"] if section.bidirectional else ["forwards"]
    finals = []
    for layer in range(section.layers):
        directions = [weights.below(f"{name}.{layer}") for name in names]
        states, ends = run_layer(graph, section, directions, states, short)
        finals.append(ends)
    mask = real_positions(graph, symbols, lengths)
    return Memory(graph.transpose(states, 1, 0, 2), mask, finals[-1][0], tuple(finals), symbols)


def _read_at_once(
    graph: Graph, section: sections.TransformerEncoder, weights: Parameters, symbols: Value, lengths: Value
) -> Memory:
    table = weights["embedding.weight"]
    mask = real_positions(graph, symbols, lengths)
    states = at_positions(graph, graph.rows_of(table, _known(graph, symbols, len(table))), graph.size(symbols, 1), section.size)
    states = encoder_layers(graph, section, weights, states, mask)
    summary = _mean(graph, states, mask, lengths)
    return Memory(states, mask, summary, ((summary,),), symbols)


def _mean(graph: Graph, states: Value, mask: Value, lengths: Value) -> Value:
    """Over real positions."""
    real = graph.where(graph.unsqueeze(mask, -1), states, graph.number(0.0))
    count = graph.op("Max", graph.to_float(graph.unsqueeze(lengths, 1)), graph.number(1.0))
    return graph.op("Div", graph.op("ReduceSum", real, graph.whole(1), keepdims=0), count)


def _read_vector(graph: Graph, section: sections.DenseEncoder, weights: Parameters, vectors: Value, lengths: Value) -> Memory:
    squash = {"tanh": "Tanh", "logistic": "Sigmoid", "relu": "Relu"}[section.activation]
    states = vectors
    for layer in range(section.layers):
        states = graph.op(squash, weights.linear(graph, f"layers.{layer}", states))
    there = graph.op("Greater", graph.unsqueeze(lengths, 1), graph.whole(0))
    summary = graph.squeeze(states, 1)
    return Memory(states, there, summary, ((summary,),))
