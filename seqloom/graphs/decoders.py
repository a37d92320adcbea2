"""Decoders: the state before the first symbol, and one step of it for rows of beams.

A state is a set of named leaves. Those of rows, [B, K, ...], change with every step; those of sentences, [B, ...], are what of
the sources is read at every step, one for all rows of a sentence.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from seqloom.graphs.cells import CellState
from seqloom.graphs.encoders import Memory
from seqloom.graphs.graph import Array, Graph, Kind, Parameters, Shape, Value
from seqloom.recipe import sections
from seqloom.symbols import BEGIN, UNKNOWN

Memories = Mapping[str, Memory]
Values = dict[str, Value]
"""Leaves of a state, or what else a step has, by name."""


@dataclass(frozen=True)
class Leaf:
    """A leaf's type and shape. The first size is that of sentences; the second, of a leaf of rows, that of rows."""

    shape: Shape
    kind: Kind = "float"


@dataclass(frozen=True)
class Stepped:
    """What a step says: features for the output layer [B, K, O], weights [B, H, K, S] and their scores; the leaves after it."""

    features: Value
    weights: Values
    after: Values
    scores: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Sizes:
    """What a decoder must know beside its recipe: the widths of memories by source, and where the target's embedding is."""

    states: Mapping[str, int]
    summaries: Mapping[str, int]
    embedding: str


class Decoder(ABC):
    """A decoder as graphs. weights: of the whole model."""

    def __init__(self, section: sections.Model, sizes: Sizes, weights: Parameters) -> None:
        self.section, self.sizes = section, sizes
        self.weights = weights.below("decoder")
        self.bridge = self.weights.below("bridge")
        self.table: Array = weights[sizes.embedding]

    @property
    @abstractmethod
    def rows(self) -> dict[str, Leaf]:
        """The leaves that rows have."""

    @property
    @abstractmethod
    def sentences(self) -> dict[str, Leaf]:
        """The leaves that the rows of a sentence share."""

    @abstractmethod
    def start(self, graph: Graph, memories: Memories, count: Value) -> Values:
        """All leaves before the first symbol, of one row a sentence. count: of sentences, a list of one number."""

    @abstractmethod
    def step(self, graph: Graph, tokens: Value, leaves: Values, told: "Told") -> Stepped:
        """Read one symbol in every row, tokens [B, K]."""

    @property
    def output(self) -> tuple[Array, Array]:
        """The output layer as one matrix [V, O], and its bias [V]."""
        own = self.weights.get("output.weight")
        matrix, attended_to = self.table if own is None else own, self.weights.get("output.attended")
        return matrix if attended_to is None else np.concatenate([matrix, attended_to], axis=1), self.weights["output.bias"]

    def logits(self, graph: Graph, features: Value, symbols: int) -> Value:
        """Scores of the first symbols, [B, K, V]; of those, `begin` and `unknown` cannot be written if there are more."""
        matrix, bias = self.output
        if symbols < len(matrix):
            matrix, bias = matrix[:symbols], without_off_list(bias[:symbols])
        return graph.linear(features, matrix, bias)

    def first_states(self, graph: Graph, memories: Memories, leaves: int) -> list[CellState]:
        """`s_0` of every layer [B, D] (E3)."""
        start, decoder = _start_of(self.section.bridge), self.section.decoder
        found = []
        for layer in range(decoder.layers):
            state = []
            for leaf in range(leaves):
                weights = self.bridge.below(f"first.leaves.{layer * leaves + leaf}")
                state.append(_dense(graph, start.dense, weights, self._final(graph, memories, layer, leaf)))
            found.append(tuple(state))
        return found

    def _final(self, graph: Graph, memories: Memories, layer: int, leaf: int) -> Value:
        """What a leaf starts from: its counterparts where there are any."""
        parts = []
        start = _start_of(self.section.bridge)
        for memory in (memories[name] for name in start.sources or memories):
            state = memory.finals[layer] if len(memory.finals) == self.section.decoder.layers else memory.finals[-1]
            parts.append(state[leaf] if leaf < len(state) else state[0])
        if start.compare:
            one, other = parts
            parts += [graph.op("Abs", graph.sub(one, other)), graph.mul(one, other)]
        return graph.concat(*parts)


def without_off_list(bias: Array) -> Array:
    """The bias of the first symbols alone, of which `begin` and `unknown` cannot be written."""
    bias = bias.copy()
    bias[[BEGIN, UNKNOWN]] = -np.inf
    return bias


def _start_of(bridge: sections.Bridge) -> sections.Start:
    if isinstance(bridge, sections.NoBridge | sections.MonotonicBridge | sections.CrossAttentionBridge):
        raise TypeError(f"the bridge {bridge.kind} starts from nothing")
    return bridge.start


def _dense(graph: Graph, count: int, weights: Parameters, value: Value) -> Value:
    for index in range(count):
        value = graph.tanh(weights.linear(graph, str(2 * index), value))
    return value


class Told:
    """Weights that are given in the place of the model's own (A10), by source; none in most models' graphs."""

    def __init__(self, weights: Values, known: Values) -> None:
        self._weights, self._known = weights, known

    def over(self, graph: Graph, name: str, weights: Value) -> Value:
        """The weights [B, H, K, S] of a step: the given ones, in every head and row, where there are any."""
        given, known = graph.unsqueeze(self._weights[name], 1, 2), graph.unsqueeze(self._known[name], 1, 2, 3)
        return graph.where(known, given, weights)
