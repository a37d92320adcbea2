"""Encoders of frames: convolutions in front, layers that join neighbours, and a transformer over what is left."""

from dataclasses import dataclass
from itertools import count

import numpy as np
from onnx import TensorProto

from seqloom.graphs.cells import CellState, run_layer
from seqloom.graphs.graph import Graph, Parameters, Value
from seqloom.graphs.transformers import encoder_layers, waves
from seqloom.recipe import sections


@dataclass(frozen=True)
class Beside:
    """Another source whose states stand beside frames: states [B, S, D], their mask [B, S], and their width."""

    states: Value
    mask: Value
    width: int


def read_pyramid(
    graph: Graph,
    section: sections.PyramidEncoder,
    weights: Parameters,
    frames: Value,
    lengths: Value,
    beside: Beside | None = None,
) -> tuple[Value, Value, CellState]:
    """States [B, S', D] of frames [B, S, F], how many there are of each sequence, and the last ones."""
    states, lengths = _front(graph, section, weights, frames, lengths, beside)
    names = ["forwards", "backwards"] if section.bidirectional else ["forwards"]
    ends: CellState = ()
    for layer in range(section.layers):
        if layer >= section.layers - section.joining_layers:
            states, lengths = _joined(graph, states, lengths)
        directions = [weights.below(f"{name}.{layer}") for name in names]
        short = graph.op("Cast", lengths, to=TensorProto.INT32)
        states, ends = run_layer(graph, section, directions, graph.transpose(states, 1, 0, 2), short)
        states = graph.transpose(states, 1, 0, 2)
    return states, lengths, ends[:1]


def read_frames_at_once(
    graph: Graph,
    section: sections.FrameTransformerEncoder,
    weights: Parameters,
    frames: Value,
    lengths: Value,
    beside: Beside | None = None,
) -> tuple[Value, Value]:
    """States [B, S', D] of frames [B, S, F], and how many there are of each sequence."""
    frames, lengths = _front(graph, section, weights, frames, lengths, beside)
    states = weights.linear(graph, "project", frames)
    states = graph.add(states, waves(graph, graph.size(frames, 1), section.size))
    return encoder_layers(graph, section, weights, states, real_positions(graph, states, lengths)), lengths


def real_positions(graph: Graph, states: Value, lengths: Value) -> Value:
    """The mask [B, S] of states or symbols [B, S, ...]: True where real."""
    return graph.op("Less", graph.positions(graph.size(states, 1)), graph.unsqueeze(lengths, 1))


def _front(
    graph: Graph,
    section: sections.FrameEncoder,
    weights: Parameters,
    frames: Value,
    lengths: Value,
    beside: Beside | None,
) -> tuple[Value, Value]:
    width = _width(weights, section) - (0 if beside is None else beside.width)
    frames, lengths = _convolved(graph, section.convolution, weights, frames, lengths, width)
    if beside is None:
        return frames, lengths
    return graph.concat(frames, _at_the_same_moments(graph, beside, frames, lengths)), lengths


def _at_the_same_moments(graph: Graph, beside: Beside, frames: Value, lengths: Value) -> Value:
    """The states of another source at the moments of frames [B, S, D], both lasting as long; where it has none, zeros."""
    there = graph.op("ReduceSum", graph.op("Cast", beside.mask, to=TensorProto.INT64), graph.whole(1), keepdims=1)
    middles = graph.add(graph.mul(graph.positions(graph.size(frames, 1)), graph.whole(2)), graph.whole(1))
    halves = graph.mul(graph.op("Max", lengths, graph.whole(1)), graph.whole(2))
    moments = graph.op("Div", graph.mul(middles, there), graph.unsqueeze(halves, 1))
    within = graph.unsqueeze(graph.op("Min", moments, graph.sub(there, graph.whole(1))), 2)
    chosen = graph.to_float(graph.op("Equal", within, graph.positions(graph.size(beside.states, 1))))  # of none, there is none
    return graph.op("MatMul", chosen, graph.where(graph.unsqueeze(beside.mask, 2), beside.states, graph.number(0.0)))


def _convolved(
    graph: Graph, convolution: sections.Convolution | None, weights: Parameters, frames: Value, lengths: Value, width: int
) -> tuple[Value, Value]:
    """Frames behind the convolutions, so many numbers wide, if there are any, and how many there are of each sequence."""
    if convolution is None:
        return frames, lengths
    over_bands = convolution.over == "bands"
    images = graph.unsqueeze(frames, 1) if over_bands else graph.unsqueeze(graph.transpose(frames, 0, 2, 1), 3)
    steps, middle = convolution.stride, convolution.width // 2
    strides, pads = ([steps, steps], [middle] * 4) if over_bands else ([steps, 1], [middle, 0, middle, 0])
    for layer, _ in zip(count(), convolution.channels, strict=False):
        part = weights.below(f"convolutions.layers.{layer}")
        rows = graph.transpose(images, 0, 2, 1, 3)
        real = graph.unsqueeze(real_positions(graph, rows, lengths), 1, 3)
        images = graph.where(real, images, graph.number(0.0))
        kernel, bias = (graph.constant(part[name], np.float32) for name in ("weight", "bias"))
        images = graph.op("Relu", graph.op("Conv", images, kernel, bias, strides=strides, pads=pads))
        lengths = _shortened(graph, lengths, steps)
    return graph.reshape(graph.transpose(images, 0, 2, 1, 3), 0, 0, width), lengths


def _width(weights: Parameters, section: sections.FrameEncoder) -> int:
    """How many numbers a frame has behind the convolutions, with what stands beside it, as the layer after them knows."""
    if isinstance(section, sections.FrameTransformerEncoder):
        return int(weights["project.weight"].shape[1])
    first_joins = isinstance(section, sections.PyramidEncoder) and section.joining_layers == section.layers
    return int(weights["forwards.0.inputs.0.weight"].shape[1]) // (2 if first_joins else 1)


def _shortened(graph: Graph, lengths: Value, stride: int) -> Value:
    """How many are left where so many become one; a rest counts as one, too."""
    return graph.op("Div", graph.add(lengths, graph.constant(stride - 1, np.int64)), graph.constant(stride, np.int64))


def _joined(graph: Graph, states: Value, lengths: Value) -> tuple[Value, Value]:
    """Two neighbours side by side; a last one without a neighbour has zeros."""
    real = graph.unsqueeze(real_positions(graph, states, lengths), 2)
    whole = graph.where(real, states, graph.number(0.0))
    odd = graph.op("Mod", graph.size(states, 1), graph.whole(2))
    pads = graph.concat(graph.whole(0, 0, 0, 0), odd, graph.whole(0), axis=0)
    even = graph.op("Pad", whole, pads, graph.number(0.0))
    batch, width = graph.size(states, 0), graph.size(states, 2)
    shape = graph.concat(batch, graph.whole(-1), graph.mul(width, graph.whole(2)), axis=0)
    return graph.op("Reshape", even, shape), _shortened(graph, lengths, 2)
