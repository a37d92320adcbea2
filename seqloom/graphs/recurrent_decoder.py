"""The recurrent decoder: cells, a bridge, and what becomes of a context (A7)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from seqloom.graphs import attention as attending
from seqloom.graphs.attention import AttendedSource
from seqloom.graphs.cells import CellState, num_leaves, step_cell
from seqloom.graphs.decoders import Decoder, Leaf, Memories, Sizes, Stepped, Told, Values
from seqloom.graphs.encoders import Memory
from seqloom.graphs.graph import Graph, Parameters, Value
from seqloom.graphs.symbols import known
from seqloom.recipe import sections
from seqloom.symbols import BEGIN


class RecurrentDecoder(Decoder):
    """Cells, a bridge, and what becomes of a context (A7)."""

    def __init__(self, section: sections.Model, sizes: Sizes, weights: Parameters) -> None:
        super().__init__(section, sizes, weights)
        if not isinstance(section.decoder, sections.RecurrentDecoder):
            raise TypeError(section.decoder)
        self.decoder = section.decoder
        self.attention = section.bridge if isinstance(section.bridge, sections.AttentionBridge) else None
        self.into = set(self.attention.into) if self.attention else set()
        self.every_step = isinstance(section.bridge, sections.EveryStepBridge)

    @property
    def context_size(self) -> int:
        """The width of contexts of all sources side by side."""
        if self.attention is None:
            return sum(self.sizes.summaries.values()) if self.every_step else 0
        look = sum(sections.context_size(self.attention.attention, size) for size in self.sizes.states.values())
        return self.attention.looks * look

    @property
    def rows(self) -> dict[str, Leaf]:
        """Of every layer its vectors; what is fed, carried or given to the next step."""
        found = {
            f"cells.{layer}.{leaf}": Leaf(["B", "K", self.decoder.size])
            for layer in range(self.decoder.layers)
            for leaf in range(num_leaves(self.decoder))
        }
        if self._fed:
            found["feed"] = Leaf(["B", "K", self._fed])
        for name in self.sizes.states if self.attention else ():
            found |= self._carried(name)
        if not self.decoder.reads_symbols:
            found["given"] = Leaf(["B", "K", self.decoder.embedding])
        return found

    @property
    def _fed(self) -> int:
        if self.attention is None:
            return 0
        return self.decoder.size if self.attention.feed else self.context_size if "concatenated" in self.into else 0

    def _carried(self, name: str) -> dict[str, Leaf]:
        match self.attention:
            case sections.AttentionBridge(attention=sections.Additive(coverage=True) | sections.Location()):
                return {f"carry.{name}": Leaf(["B", "K", f"S.{name}"])}
            case sections.AttentionBridge(attention=sections.Local(centre="monotonic" | "previous") | sections.InStep()):
                return {f"carry.{name}": Leaf(["B", "K"])}
            case _:
                return {}

    @property
    def sentences(self) -> dict[str, Leaf]:
        """AttendedSource, values and mask of every source; or the one context of all steps."""
        if self.every_step:
            return {"context": Leaf(["B", 1, self.context_size])}
        if self.attention is None:
            return {}
        found = {}
        for name, size in self.sizes.states.items():
            positions, kind = f"S.{name}", self.attention.attention
            found[f"keys.{name}"] = Leaf(["B", positions, attending.key_size(kind, self.decoder.size, size)])
            found[f"values.{name}"] = Leaf(["B", positions, sections.context_size(kind, size)])
            found[f"mask.{name}"] = Leaf(["B", positions], "bool")
        if self.attention.copy:
            found |= {f"symbols.{name}": Leaf(["B", f"S.{name}"], "int64") for name in self._copied}
        return found

    @property
    def _copied(self) -> list[str]:
        """The source whose symbols are copied."""
        if self.attention is not None and isinstance(self.attention.copy, str):
            return [self.attention.copy]
        encoders = dict(zip(self.sizes.states, self.section.all_encoders, strict=True))
        if self.section.encoders is not None:
            encoders = {name: self.section.encoder_of(name) for name in self.sizes.states}
        return [name for name, encoder in encoders.items() if isinstance(encoder, sections.SymbolEncoder)]

    def start(self, graph: Graph, memories: Memories, count: Value) -> Values:
        """From the sources, or from zeros."""
        leaves: Values = {}
        if memories:
            first = self.first_states(graph, memories, num_leaves(self.decoder))
            leaves |= {name: graph.unsqueeze(leaf, 1) for name, leaf in cell_leaves(first).items()}
        if self.every_step:
            leaves["context"] = graph.unsqueeze(graph.concat(*(memory.summary for memory in memories.values())), 1)
        if self.attention is not None:
            for name, memory in memories.items():
                leaves |= self._linked(graph, self.attention, name, memory)
        if not self.decoder.reads_symbols:
            begin = graph.constant(self.table[BEGIN][None, None], np.float32)
            leaves["given"] = graph.op("Expand", begin, graph.concat(count, graph.whole(1, self.decoder.embedding), axis=0))
        for name, leaf in self.rows.items():
            if name not in leaves:
                leaves[name] = graph.zeros(count, graph.whole(1, int(leaf.shape[-1])))
        return leaves

    def _linked(self, graph: Graph, bridge: sections.AttentionBridge, name: str, memory: Memory) -> Values:
        weights = self.bridge.below(f"attentions.{name}")
        keys, values = attending.prepared(graph, bridge.attention, weights, memory.states, self.decoder.size)
        found = {f"keys.{name}": keys, f"values.{name}": values, f"mask.{name}": memory.mask}
        found |= {f"carry.{name}": leaf for leaf in attending.first_carry(graph, bridge.attention, memory.mask)}
        if name in self._copied and bridge.copy and memory.symbols is not None:
            found[f"symbols.{name}"] = memory.symbols
        return found

    def step(self, graph: Graph, tokens: Value, leaves: Values, told: Told) -> Stepped:
        """One step of every row, with the context of the state before or after it."""
        cells = self._cells(leaves)
        current = self.attention is not None and self.attention.query == "current"
        read = None if current else self._read(graph, cells[-1][0], leaves, told)
        cells = self._advanced(graph, cells, self._parts(graph, tokens, leaves, read))
        read = read or self._read(graph, cells[-1][0], leaves, told)
        if "state" in self.into and read.context is not None:
            cells = [*cells[:-1], (read.context, *cells[-1][1:])]
        features = self._features(graph, cells[-1][0], read.context)
        after = cell_leaves(cells)
        if self._fed and read.context is not None:
            after["feed"] = features if self.attention and self.attention.feed else read.context
        after |= read.carry
        if not self.decoder.reads_symbols:
            after["given"] = self._next_given(graph, features)
        return Stepped(features, read.weights, after, read.scores)

    def _cells(self, leaves: Values) -> list[CellState]:
        return [
            tuple(leaves[f"cells.{layer}.{leaf}"] for leaf in range(num_leaves(self.decoder)))
            for layer in range(self.decoder.layers)
        ]

    def _parts(self, graph: Graph, tokens: Value, leaves: Values, read: "Read | None") -> list[Value]:
        """What goes into the first cell: a symbol, a context, what is fed."""
        parts = [self._symbol(graph, tokens, leaves)]
        if read is not None and read.context is not None and ("input" in self.into or self.every_step):
            parts.append(self._for_every_row(graph, read.context, tokens) if self.every_step else read.context)
        return [*parts, *([leaves["feed"]] if "feed" in leaves else [])]

    def _for_every_row(self, graph: Graph, context: Value, tokens: Value) -> Value:
        return graph.op("Expand", context, graph.concat(graph.op("Shape", tokens), graph.whole(1), axis=0))

    def _symbol(self, graph: Graph, tokens: Value, leaves: Values) -> Value:
        if "given" in leaves:
            return leaves["given"]
        if self.attention is not None and self.attention.copy:  # what was copied may be outside the vocabulary
            tokens = known(graph, tokens, len(self.table))
        return graph.rows_of(self.table, tokens)

    def _advanced(self, graph: Graph, cells: list[CellState], parts: list[Value]) -> list[CellState]:
        after: list[CellState] = []
        for layer, before in enumerate(cells):
            weights = self.weights.below(f"cells.{layer}")
            after.append(step_cell(graph, self.decoder, weights, parts if layer == 0 else [after[-1][0]], before))
        return after

    def _read(self, graph: Graph, query: Value, leaves: Values, told: Told) -> "Read":
        if self.attention is None:
            return Read(leaves.get("context"))
        reads = [self._look(graph, self.attention, query, leaves, told)]
        for number in range(self.attention.looks - 1):
            query = graph.tanh(self.bridge.linear(graph, f"again.{number}", graph.concat(query, reads[-1].context or "")))
            reads.append(self._look(graph, self.attention, query, leaves, told))
        return reads[0] if len(reads) == 1 else Read.joined(graph, reads)

    def _look(self, graph: Graph, bridge: sections.AttentionBridge, query: Value, leaves: Values, told: Told) -> "Read":
        contexts = []
        looks: Values = {}
        scores: Values = {}
        carry: Values = {}
        for name in self.sizes.states:
            keys = AttendedSource(leaves[f"keys.{name}"], leaves[f"values.{name}"], leaves[f"mask.{name}"])
            before = (leaves[f"carry.{name}"],) if f"carry.{name}" in leaves else ()
            weights = self.bridge.below(f"attentions.{name}")
            look = attending.look(graph, bridge.attention, weights, query, keys, before, self.decoder.size)
            looks[name] = told.over(graph, name, look.weights)
            after = attending.redirected_carry(graph, bridge.attention, looks[name], before, look.carry)
            carry |= {f"carry.{name}": leaf for leaf in after}
            scores |= {name: look.scores} if look.scores is not None else {}
            contexts.append(attending.context(graph, bridge.attention, weights, looks[name], keys))
        if bridge.gate:
            openings = graph.split(graph.sigmoid(self.bridge.linear(graph, "gate", query)), [1] * len(contexts))
            contexts = [graph.mul(context, opening) for context, opening in zip(contexts, openings, strict=True)]
        return Read(graph.concat(*contexts), looks, scores, carry)

    def _features(self, graph: Graph, hidden: Value, context: Value | None) -> Value:
        if context is None or self.every_step:
            return hidden
        if "combined" in self.into:
            return graph.tanh(self.weights.linear(graph, "combine", graph.concat(hidden, context)))
        return graph.concat(hidden, context) if self.into & {"output", "concatenated"} else hidden

    def _next_given(self, graph: Graph, features: Value) -> Value:
        """What the next step is given in the place of a symbol (E7)."""
        if isinstance(self.decoder.inputs, sections.DistributionInputs):
            chances = graph.op("Softmax", graph.linear(features, *self.output), axis=-1)
            return graph.linear(chances, np.ascontiguousarray(self.table.T))
        rows = graph.op("Shape", features, start=0, end=2)
        return graph.zeros(rows, graph.whole(self.decoder.embedding))


def cell_leaves(cells: Sequence[CellState]) -> Values:
    """The states of all layers as leaves by name."""
    return {f"cells.{layer}.{index}": leaf for layer, state in enumerate(cells) for index, leaf in enumerate(state)}


@dataclass(frozen=True)
class Read:
    """What a query found: a context [B, K, C], weights and scores by source, what is carried on."""

    context: Value | None
    weights: Values = field(default_factory=dict)
    scores: Values = field(default_factory=dict)
    carry: Values = field(default_factory=dict)

    @classmethod
    def joined(cls, graph: Graph, looks: "list[Read]") -> "Read":
        """Several looks as one: contexts side by side, and the heads of one look after those of another."""
        weights, scores = (
            {name: graph.concat(*(one[name] for one in several), axis=1) for name in several[0]}
            for several in ([look.weights for look in looks], [look.scores for look in looks])
        )
        return cls(graph.concat(*(look.context or "" for look in looks)), weights, scores)
