"""Recurrent cells (C1-C3): a step of one, and a whole sequence as one of ONNX's own nodes."""

from collections.abc import Sequence
from typing import assert_never

import numpy as np

from seqloom.graphs.graph import Array, Graph, Parameters, Value
from seqloom.recipe import sections

CellState = tuple[Value, ...]


def num_leaves(section: sections.Cells) -> int:
    """How many vectors a layer keeps."""
    return 2 if section.cell == "lstm" else 1


def step_cell(
    graph: Graph, section: sections.Cells, weights: Parameters, parts: Sequence[Value], state: CellState
) -> CellState:
    """One step of a layer, rows [B, K, D]. parts: its input, piece by piece."""
    squash = graph.tanh if section.activation == "tanh" else graph.sigmoid
    size, bias = section.size, weights["inputs.0.bias"]
    matrices = [weights[f"inputs.{index}.weight"] for index in range(len(parts))]
    match section.cell:
        case "rnn":
            return (squash(_product(graph, [*parts, state[0]], [*matrices, weights["recurrent.weight"]], bias)),)
        case "lstm":
            hidden, memory = state
            total = _product(graph, [*parts, hidden], [*matrices, weights["recurrent.weight"]], bias)
            gates, candidate = graph.split(total, [3 * size, size])
            forget, write, output = graph.split(graph.sigmoid(gates), [size] * 3)
            memory = graph.add(graph.mul(forget, memory), graph.mul(write, squash(candidate)))
            return graph.mul(output, squash(memory)), memory
        case "gru":
            (before,) = state
            for_gates, for_candidate = graph.split(_product(graph, parts, matrices, bias), [2 * size, size])
            if section.reset == "after":
                recurrent = weights.linear(graph, "recurrent", before)
                from_gates, from_candidate = graph.split(recurrent, [2 * size, size])
            else:
                from_gates, from_candidate = weights.linear(graph, "gates", before), ""
            reset, keep = graph.split(graph.sigmoid(graph.add(for_gates, from_gates)), [size, size])
            if section.reset == "after":
                from_candidate = graph.mul(reset, from_candidate)
            else:
                from_candidate = weights.linear(graph, "candidate", graph.mul(reset, before))
            candidate = squash(graph.add(for_candidate, from_candidate))
            return (graph.add(candidate, graph.mul(keep, graph.sub(before, candidate))),)
        case _:
            assert_never(section.cell)


def _product(graph: Graph, parts: Sequence[Value], matrices: Sequence[Array], bias: Array) -> Value:
    """All parts of an input at once: one large product is faster than several small ones."""
    return graph.linear(graph.concat(*parts), np.concatenate(matrices, axis=1), bias)


def run_layer(
    graph: Graph,
    section: sections.Cells,
    directions: Sequence[Parameters],
    inputs: Value,
    lengths: Value,
    first: CellState = (),
) -> tuple[Value, CellState]:
    """A layer over whole sequences [S, B, I], in one direction or in two: states [S, B, D], and those at the ends [B, D].

    lengths [B], in 32 bits. A sequence is read backwards within its own length. first: states to begin with, like the ends.
    """
    begin = [graph.transpose(graph.reshape(leaf, 0, len(directions), section.size), 1, 0, 2) for leaf in first]
    stacked = [_stacked(graph, section, weights) for weights in directions]
    matrices, recurrent, biases = (graph.concat(*parts, axis=0) for parts in zip(*stacked, strict=True))
    squash = "Tanh" if section.activation == "tanh" else "Sigmoid"
    kind, activations, more = {
        "rnn": ("RNN", [squash], {}),
        "lstm": ("LSTM", ["Sigmoid", squash, squash], {}),
        "gru": ("GRU", ["Sigmoid", squash], {"linear_before_reset": int(section.reset == "after")}),
    }[section.cell]
    states, *ends = graph.ops(
        kind,
        1 + num_leaves(section),
        inputs,
        matrices,
        recurrent,
        biases,
        lengths,
        *begin,
        hidden_size=section.size,
        direction="bidirectional" if len(directions) == 2 else "forward",
        activations=activations * len(directions),
        **more,
    )
    width = section.size * len(directions)
    side_by_side = graph.reshape(graph.transpose(states, 0, 2, 1, 3), 0, 0, width)
    return side_by_side, tuple(graph.reshape(graph.transpose(end, 1, 0, 2), 0, width) for end in ends)


def _stacked(graph: Graph, section: sections.Cells, weights: Parameters) -> tuple[Value, Value, Value]:
    """What one direction's node wants: matrices from the input [1, G, I] and from the state [1, G, D], biases [1, 2 G]."""
    matrix, bias = weights["inputs.0.weight"], weights["inputs.0.bias"]
    if section.cell == "gru" and section.reset != "after":
        recurrent = np.concatenate([weights["gates.weight"], weights["candidate.weight"]])
    else:
        recurrent = weights["recurrent.weight"]
    second = weights.get("recurrent.bias")
    second = np.zeros_like(bias) if second is None else second
    both = np.concatenate([_in_order(section, bias), _in_order(section, second)])
    from_input, from_state = (graph.stored(_in_order(section, one)) for one in (matrix, recurrent))
    return graph.unsqueeze(from_input, 0), graph.unsqueeze(from_state, 0), graph.constant(both[None], np.float32)


def _in_order(section: sections.Cells, gates: Array) -> Array:
    """Rows in ONNX's order of gates: input, output, forget, candidate; update, reset, candidate."""
    match section.cell:
        case "rnn":
            return gates
        case "gru":
            reset, keep, candidate = np.split(gates, 3)
            return np.concatenate([keep, reset, candidate])
        case "lstm":
            forget, write, output, candidate = np.split(gates, 4)
            return np.concatenate([write, output, forget, candidate])
        case _:
            assert_never(section.cell)
