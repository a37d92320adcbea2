"""Exact monotonic hard attention (Wu and Cotterell 2019): every position speaks, and what they say is mixed."""

import numpy as np

from seqloom.graphs import attention as attending
from seqloom.graphs.attention import AttendedSource
from seqloom.graphs.decoders import Leaf, Memories, Sizes, Stepped, Told, Values, without_off_list
from seqloom.graphs.graph import Array, Graph, Parameters, Value
from seqloom.graphs.recurrent_decoder import RecurrentDecoder, cell_leaves
from seqloom.recipe import sections


class MonotonicDecoder(RecurrentDecoder):
    """Cells that read symbols, and an output layer for every position. Its features are log-probabilities."""

    def __init__(self, section: sections.Model, sizes: Sizes, weights: Parameters) -> None:
        super().__init__(section, sizes, weights)
        if not isinstance(section.bridge, sections.MonotonicBridge):
            raise TypeError(section.bridge)
        self.path = section.bridge
        ((self.name, self.memory_size),) = sizes.states.items()

    @property
    def output(self) -> tuple[Array, Array]:
        """The output layer of every position."""
        own = self.weights.get("emission.weight")
        return self.table if own is None else own, self.weights["emission.bias"]

    def logits(self, graph: Graph, features: Value, symbols: int) -> Value:
        """The log-probabilities as they are, or those of the first symbols."""
        every = len(self.table)
        if symbols == every:
            return features
        listed = without_off_list(np.zeros(symbols, np.float32))
        return graph.add(graph.split(features, [symbols, every - symbols])[0], graph.constant(listed))

    @property
    def rows(self) -> dict[str, Leaf]:
        """Of every layer its vectors; where the step before read, and what every position would have said then."""
        where = ["B", "K", f"S.{self.name}"]
        return super().rows | {f"places.{self.name}": Leaf(where), f"said.{self.name}": Leaf([*where, len(self.table)])}

    @property
    def sentences(self) -> dict[str, Leaf]:
        """Keys, what positions contribute to what they say, and which are real."""
        positions, size = f"S.{self.name}", self.decoder.size
        return {
            f"keys.{self.name}": Leaf(["B", positions, attending.key_size(self.path.score, size, self.memory_size)]),
            f"values.{self.name}": Leaf(["B", positions, size]),
            f"mask.{self.name}": Leaf(["B", positions], "bool"),
        }

    def start(self, graph: Graph, memories: Memories, count: Value) -> Values:
        """At the first position, with nothing written: every position has said the same."""
        memory = memories[self.name]
        keys, _ = attending.prepared(graph, self.path.score, self.bridge.below("score"), memory.states, self.decoder.size)
        real = graph.unsqueeze(memory.mask, 2)
        values = graph.where(real, self.weights.linear(graph, "from_source", memory.states), graph.number(0.0))
        length = graph.size(memory.mask, 1)
        first = graph.to_float(graph.op("Equal", graph.positions(length), graph.constant(0, np.int64)))
        one_row = graph.concat(count, graph.whole(1), length, axis=0)
        leaves = {
            f"keys.{self.name}": keys,
            f"values.{self.name}": values,
            f"mask.{self.name}": memory.mask,
            f"places.{self.name}": graph.op("Expand", first, one_row),
            f"said.{self.name}": graph.zeros(one_row, graph.whole(len(self.table))),
        }
        for name, leaf in super().rows.items():
            leaves[name] = graph.zeros(count, graph.whole(1, int(leaf.shape[-1])))
        return leaves

    def step(self, graph: Graph, tokens: Value, leaves: Values, told: Told) -> Stepped:
        """One step of every row: the cells, where it reads, and what all positions say together."""
        cells = self._advanced(graph, self._cells(leaves), [graph.rows_of(self.table, tokens)])
        hidden = cells[-1][0]
        moved = self._moved(graph, tokens, leaves, self._moves(graph, hidden, leaves))
        weights = told.over(graph, self.name, graph.unsqueeze(moved, 1))  # [B, 1, K, S]
        said = self._said(graph, hidden, leaves)
        after = cell_leaves(cells) | {f"places.{self.name}": graph.squeeze(weights, 1), f"said.{self.name}": said}
        mask = graph.to_float(graph.unsqueeze(leaves[f"mask.{self.name}"], 1, 2))
        mixed = self._mixed(graph, graph.squeeze(weights, 1), said)
        return Stepped(mixed, {self.name: graph.mul(weights, mask)}, after)

    def _moves(self, graph: Graph, query: Value, leaves: Values) -> Value:
        """How probable it is to go from each position to each, [B, K, S, S]."""
        mask = leaves[f"mask.{self.name}"]
        keys = AttendedSource(leaves[f"keys.{self.name}"], leaves[f"values.{self.name}"], mask)
        scores = attending.scores_of(graph, self.path.score, self.bridge.below("score"), query, keys, self.decoder.size)
        places, zero = graph.positions(graph.size(mask, 1)), graph.constant(0, np.int64)
        ahead = graph.sub(places, graph.unsqueeze(places, 1))
        distances = self.bridge["distances"]
        near = graph.op("Min", graph.op("Max", ahead, zero), graph.constant(len(distances) - 1, np.int64))
        fits = graph.add(graph.unsqueeze(graph.squeeze(scores, 1), 2), graph.op("Gather", graph.constant(distances), near))
        there = graph.op("Or", mask, graph.op("Equal", places, zero))  # the first position of a source without any
        allowed = graph.op("And", graph.op("LessOrEqual", zero, ahead), graph.unsqueeze(there, 1, 2))
        return graph.op("Softmax", graph.where(allowed, fits, graph.number(attending.LOWEST)), axis=-1)

    def _moved(self, graph: Graph, tokens: Value, leaves: Values, moves: Value) -> Value:
        """Where every row reads, [B, K, S]: what was written tells where the step before has read."""
        places, said = leaves[f"places.{self.name}"], leaves[f"said.{self.name}"]
        everywhere = graph.concat(graph.op("Shape", places), graph.whole(1), axis=0)
        written = graph.op("Expand", graph.unsqueeze(tokens, 2, 3), everywhere)
        told = graph.squeeze(graph.op("GatherElements", said, written, axis=3), 3)
        there = graph.op("Softmax", graph.add(graph.op("Log", places), told), axis=-1)
        return graph.squeeze(graph.op("MatMul", graph.unsqueeze(there, 2), moves), 2)

    def _said(self, graph: Graph, hidden: Value, leaves: Values) -> Value:
        """`log p(y | s_t, h_j)` of all symbols for every position, [B, K, S, V]."""
        from_state = graph.unsqueeze(self.weights.linear(graph, "from_state", hidden), 2)
        features = graph.tanh(graph.add(from_state, graph.unsqueeze(leaves[f"values.{self.name}"], 1)))
        return graph.op("LogSoftmax", graph.linear(features, *self.output), axis=-1)

    def _mixed(self, graph: Graph, weights: Value, said: Value) -> Value:
        """What all positions say together, [B, K, V]."""
        every = graph.add(graph.unsqueeze(graph.op("Log", weights), 3), said)
        highest = graph.op("ReduceMax", every, graph.whole(2), keepdims=1)
        total = graph.op("ReduceSum", graph.op("Exp", graph.sub(every, highest)), graph.whole(2), keepdims=1)
        return graph.squeeze(graph.add(graph.op("Log", total), highest), 2)
