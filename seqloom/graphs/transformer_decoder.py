"""The transformer decoder: one symbol of every row through layers that look back and read the sources."""

from functools import reduce

from seqloom.graphs import attention as attending
from seqloom.graphs.attention import AttendedSource
from seqloom.graphs.decoders import Decoder, Leaf, Memories, Sizes, Stepped, Told, Values
from seqloom.graphs.graph import Graph, Parameters, Shape, Value
from seqloom.graphs.transformers import at_positions, attended, feed_forward, normed, remembered
from seqloom.recipe import sections


class TransformerDecoder(Decoder):
    """Layers that look back at what was written and read the sources.

    A layer keeps what it shows [B, K, D], and keys and values of all positions so far [B, K, t, D].
    """

    def __init__(self, section: sections.Model, sizes: Sizes, weights: Parameters) -> None:
        super().__init__(section, sizes, weights)
        if not isinstance(section.decoder, sections.TransformerDecoder):
            raise TypeError(section.decoder)
        self.decoder = section.decoder
        self.cross = section.bridge if isinstance(section.bridge, sections.CrossAttentionBridge) else None
        self.every_step = isinstance(section.bridge, sections.EveryStepBridge)

    @property
    def rows(self) -> dict[str, Leaf]:
        """Three for every layer."""
        size = self.decoder.size
        found: dict[str, Leaf] = {}
        for layer in range(self.decoder.layers):
            found[f"cells.{layer}.0"] = Leaf(["B", "K", size])
            found |= {f"cells.{layer}.{leaf}": Leaf(["B", "K", "t", size]) for leaf in (1, 2)}
        return found

    @property
    def sentences(self) -> dict[str, Leaf]:
        """AttendedSource and values of every source in every layer, and masks; or the one context of all positions."""
        if self.every_step:
            return {"context": Leaf(["B", 1, sum(self.sizes.summaries.values())])}
        if self.cross is None:
            return {}
        found: dict[str, Leaf] = {}
        for name in self.sizes.states:
            shape: Shape = ["B", f"S.{name}", self.decoder.size]
            for layer in range(self.decoder.layers):
                found |= {f"keys.{layer}.{name}": Leaf(shape), f"values.{layer}.{name}": Leaf(shape)}
            found[f"mask.{name}"] = Leaf(["B", f"S.{name}"], "bool")
        return found

    def start(self, graph: Graph, memories: Memories, count: Value) -> Values:
        """No position yet or, from a source, one in every layer."""
        leaves: Values = {}
        size = graph.whole(self.decoder.size)
        if self.cross is None and memories:
            for layer, (shown,) in enumerate(self.first_states(graph, memories, 1)):
                leaves[f"cells.{layer}.0"] = graph.unsqueeze(shown, 1)
                kept = remembered(graph, self._layer(layer).below("self_attention"), graph.unsqueeze(shown, 1, 2))
                leaves |= {f"cells.{layer}.{leaf}": value for leaf, value in enumerate(kept, start=1)}
        else:
            for layer in range(self.decoder.layers):
                leaves[f"cells.{layer}.0"] = graph.zeros(count, graph.whole(1), size)
                leaves |= {f"cells.{layer}.{leaf}": graph.zeros(count, graph.whole(1, 0), size) for leaf in (1, 2)}
        if self.every_step:
            leaves["context"] = graph.unsqueeze(graph.concat(*(memory.summary for memory in memories.values())), 1)
        for name, memory in memories.items() if self.cross is not None else ():
            leaves[f"mask.{name}"] = memory.mask
            for layer in range(self.decoder.layers):
                weights = self.bridge.below(f"layers.{layer}.{name}")
                leaves[f"keys.{layer}.{name}"] = weights.linear(graph, "to_key", memory.states)
                leaves[f"values.{layer}.{name}"] = weights.linear(graph, "to_value", memory.states)
        return leaves

    def _layer(self, layer: int) -> Parameters:
        return self.weights.below(f"layers.{layer}")

    def step(self, graph: Graph, tokens: Value, leaves: Values, told: Told) -> Stepped:
        """One symbol of every row goes through all layers."""
        states = self._placed(graph, tokens, leaves)
        after: Values = {}
        looks: list[Values] = []
        for layer in range(self.decoder.layers):
            read, keys, values = self._look_back(graph, layer, states, leaves)
            states = graph.add(states, read)
            if self.cross is not None:
                found, shown = self._read(graph, layer, states, leaves, told)
                states = graph.add(states, found)
                looks += [shown] if layer in self._shown else []
            states = graph.add(states, feed_forward(graph, self._layer(layer).below("feed_forward"), states))
            after |= {f"cells.{layer}.0": states, f"cells.{layer}.1": keys, f"cells.{layer}.2": values}
        weights = {name: self._mean(graph, [look[name] for look in looks]) for name in self.sizes.states} if looks else {}
        return Stepped(normed(graph, self.weights, states), weights, after)

    def _placed(self, graph: Graph, tokens: Value, leaves: Values) -> Value:
        """Symbols at their positions and, of bridges that have one, the context."""
        before = graph.size(leaves["cells.0.1"], 2)
        # One position of every row: the axis of positions is last but one while they are placed.
        embedded = graph.unsqueeze(graph.rows_of(self.table, tokens), 2)
        placed = graph.squeeze(at_positions(graph, embedded, graph.whole(1), self.decoder.size, before), 2)
        return graph.add(placed, self.weights.linear(graph, "from_context", leaves["context"])) if self.every_step else placed

    def _look_back(self, graph: Graph, layer: int, states: Value, leaves: Values) -> tuple[Value, Value, Value]:
        """What every row reads of what it has written, and keys and values with its own."""
        weights, size = self._layer(layer).below("self_attention"), self.decoder.size
        query = weights.linear(graph, "attention.to_query", normed(graph, weights, states))
        own = [graph.unsqueeze(one, 2) for one in remembered(graph, weights, states)]
        keys, values = (graph.concat(leaves[f"cells.{layer}.{leaf}"], own[leaf - 1], axis=2) for leaf in (1, 2))
        # [B, K, t, D] -> [B * K, t, D], and the row's one query beside it
        flat_keys, flat_values = (graph.op("Reshape", one, self._flat_shape(graph, one)) for one in (keys, values))
        alone = graph.reshape(query, -1, 1, size)
        read = attended(graph, self.decoder, weights.below("attention"), alone, flat_keys, flat_values, None)
        return graph.op("Reshape", read, graph.op("Shape", states)), keys, values

    def _flat_shape(self, graph: Graph, value: Value) -> Value:
        return graph.concat(graph.whole(-1), graph.op("Shape", value, start=2, end=4), axis=0)

    def _read(self, graph: Graph, layer: int, states: Value, leaves: Values, told: Told) -> tuple[Value, Values]:
        """What a layer reads of all sources, and where it looked."""
        scale, shift = self.bridge[f"norms.{layer}.weight"], self.bridge[f"norms.{layer}.bias"]
        query = graph.norm(states, scale, shift)
        section = sections.MultiHead(heads=self.decoder.heads, size=self.decoder.size)
        contexts, looks = [], {}
        for name in self.sizes.states:
            weights = self.bridge.below(f"layers.{layer}.{name}")
            keys = AttendedSource(leaves[f"keys.{layer}.{name}"], leaves[f"values.{layer}.{name}"], leaves[f"mask.{name}"])
            look = attending.look(graph, section, weights, query, keys, (), self.decoder.size)
            looks[name] = told.over(graph, name, look.weights)
            contexts.append(attending.context(graph, section, weights, looks[name], keys))
        return reduce(graph.add, contexts), looks

    @property
    def _shown(self) -> range:
        """The layers whose weights are shown."""
        match self.cross:
            case sections.CrossAttentionBridge(weights_of="mean"):
                return range(self.decoder.layers)
            case sections.CrossAttentionBridge(weights_of=int(layer)):
                return range(layer - 1, layer)
            case _:
                return range(self.decoder.layers - 1, self.decoder.layers)

    def _mean(self, graph: Graph, looks: list[Value]) -> Value:
        if len(looks) == 1:
            return looks[0]
        return graph.mul(graph.add(*looks), graph.number(1.0 / len(looks)))
