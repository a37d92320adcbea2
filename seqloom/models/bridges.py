"""Bridges: how the decoder sees the source. As its first state only, the same at every step, or by attention."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import assert_never

import torch
from torch import Tensor, nn

from seqloom.models.attention import (
    Attention,
    Carry,
    Chance,
    KeyValues,
    MultiHeadAttention,
    PremultipliedAttention,
    Read,
    build_attention,
    build_score,
)
from seqloom.models.attention.oracle import OracleWeights
from seqloom.models.memory import CellState, Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.products import FloatProduct, lay_out
from seqloom.models.starts import DecoderShape, Memories, MemorySizes, Start, summary_size
from seqloom.recipe import sections
from seqloom.system.cpu import TorchPrecision


@dataclass(frozen=True)
class Link:
    """What of the sources is read at every step: one context [B, 1, C] for all steps, or keys per source to attend to.

    oracle: sources in which the steps to come look where they are told (A10); none, but for predictions with an oracle.
    symbols: what stands at the positions [B, S] of sources that can be copied.
    """

    context: Tensor | None = None
    keys: Mapping[str, KeyValues] = field(default_factory=dict)
    oracle: Mapping[str, OracleWeights] = field(default_factory=dict)
    symbols: Mapping[str, Tensor] = field(default_factory=dict)

    def select(self, sentences: Tensor) -> "Link":
        """Keep the given sentences."""
        context = None if self.context is None else self.context[sentences]
        keys = {name: keys.select(sentences) for name, keys in self.keys.items()}
        oracle = {name: oracle.select(sentences) for name, oracle in self.oracle.items()}
        return Link(context, keys, oracle, {name: symbols[sentences] for name, symbols in self.symbols.items()})

    def later(self) -> "Link":
        """What is read from the next step on."""
        return replace(self, oracle={name: oracle.later() for name, oracle in self.oracle.items()}) if self.oracle else self


@dataclass(frozen=True)
class BridgeRead:
    """What was read for each query: context [B, Q, C] (None without one), weights [B, H, Q, S] and carry by source.

    chances: what was drawn, of the sources in which positions are drawn.
    """

    context: Tensor | None
    weights: Mapping[str, Tensor]
    carry: Mapping[str, Carry]
    chances: Mapping[str, Chance] = field(default_factory=dict)

    @property
    def found(self) -> Tensor:
        """The context, where there is one."""
        if self.context is None:
            raise TypeError("nothing was read")
        return self.context

    @classmethod
    def joined(cls, looks: Sequence["BridgeRead"]) -> "BridgeRead":
        """Several looks of the same steps as one: contexts side by side, and the heads of one look after those of another."""
        weights = {name: torch.cat([look.weights[name] for look in looks], dim=1) for name in looks[0].weights}
        return cls(torch.cat([look.found for look in looks], dim=-1), weights, looks[-1].carry)


class Bridge(nn.Module):
    """Sees nothing by itself: `kind: none`, and the base of the others. context_size: C, 0 without a context."""

    context_size = 0
    gives_start = False
    """Whether the decoder's first state comes from it."""

    def start(self, memories: Memories) -> tuple[CellState, ...] | None:  # noqa: ARG002
        """The decoder's first state, leaves [B, D] per layer; None means zeros."""
        return None

    def link(self, memories: Memories) -> Link:  # noqa: ARG002
        """What of the sources is read at every step, prepared once."""
        return Link()

    def carry(self, link: Link) -> Mapping[str, Carry]:  # noqa: ARG002
        """What the attentions remember before the first step."""
        return {}

    def read(self, query: Tensor, link: Link, carry: Mapping[str, Carry]) -> BridgeRead:  # noqa: ARG002
        """What the queries [B, Q, D] see of the sources."""
        return BridgeRead(None, {}, carry)

    @property
    def multiplications(self) -> Multiplications:
        """What it costs to begin, and to read at every step."""
        return Multiplications()

    def for_prediction(self, precision: TorchPrecision) -> "Bridge":  # noqa: ARG002
        """The same, laid out for speed in a precision."""
        return self

    def multiply_contexts(self, product: FloatProduct) -> bool:  # noqa: ARG002
        """Give contexts multiplied by a matrix from now on, if that can be had for less. Whether it is so."""
        return False


class InitialBridge(Bridge):
    """Option 1 (E3): `s_0 = f(h_T)`, the identity or dense layers, and nothing afterwards."""

    gives_start = True

    def __init__(self, start: sections.Start, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__()
        self.first = Start(start, decoder, memory_sizes)

    def start(self, memories: Memories) -> tuple[CellState, ...]:
        """`s_0` of every decoder layer."""
        first: tuple[CellState, ...] = self.first(memories)
        return first

    @property
    def multiplications(self) -> Multiplications:
        """The first state."""
        return Multiplications(sentence=matrix_entries(self.first))


class EveryStepBridge(InitialBridge):
    """Option 2 (E4): `s_0` as in option 1, and `h_T` in the cell's input at every step."""

    def __init__(self, start: sections.Start, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__(start, decoder, memory_sizes)
        self.context_size = summary_size(memory_sizes)

    def link(self, memories: Memories) -> Link:
        """The summaries of all sources, side by side."""
        return Link(context=torch.cat([memory.summary for memory in memories.values()], dim=-1)[:, None])

    def read(self, query: Tensor, link: Link, carry: Mapping[str, Carry]) -> BridgeRead:
        """The same context for every query."""
        if link.context is None:
            raise TypeError("the link of an every_step bridge has a context")
        return BridgeRead(link.context.expand(-1, query.shape[1], -1), {}, carry)


class AttentionBridge(InitialBridge):
    """`s_0`, and a fresh context at every step (A1): one attention per source, contexts side by side."""

    def __init__(self, section: sections.AttentionBridge, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__(section.start, decoder, memory_sizes)
        self.attentions = nn.ModuleDict(
            {name: build_attention(section.attention, decoder.size, size.states) for name, size in memory_sizes.items()}
        )
        self.context_size = sum(self.attention(name).context_size for name in memory_sizes)
        self.gate = Linear(decoder.size, len(memory_sizes)) if section.gate else None
        self.again = nn.ModuleList(Linear(decoder.size + self.context_size, decoder.size) for _ in range(section.looks - 1))
        self.context_size *= section.looks
        self.copies = section.copy

    def attention(self, name: str) -> Attention:
        """The attention over one source."""
        attention = self.attentions[name]
        if not isinstance(attention, Attention):
            raise TypeError(attention)
        return attention

    def link(self, memories: Memories) -> Link:
        """KeyValues of every source."""
        keys = {name: self.attention(name).prepare(memory) for name, memory in memories.items()}
        return Link(keys=keys, symbols=self._copied(memories))

    def _copied(self, memories: Memories) -> dict[str, Tensor]:
        """The symbols of the source that is copied from, if any is; without a name it is the only one that has symbols."""
        if not self.copies:
            return {}
        named = {name: memory.symbols for name, memory in memories.items() if self.copies is True or name == self.copies}
        return {name: symbols for name, symbols in named.items() if symbols is not None}

    def carry(self, link: Link) -> Mapping[str, Carry]:
        """The carry of every attention."""
        return {name: self.attention(name).start(keys) for name, keys in link.keys.items()}

    def read(self, query: Tensor, link: Link, carry: Mapping[str, Carry]) -> BridgeRead:
        """A context per query, from all sources; of several looks, their contexts and their weights side by side.

        `q_1 = s`, `q_{k+1} = tanh(W_k [q_k; c_k] + b_k)`: each look asks with what the one before has read.
        """
        looks = [self._look(query, link, carry)]
        for layer in self.again:
            query = torch.tanh(layer(torch.cat([query, looks[-1].found], dim=-1)))
            looks.append(self._look(query, link, carry))
        return looks[0] if len(looks) == 1 else BridgeRead.joined(looks)

    def _look(self, query: Tensor, link: Link, carry: Mapping[str, Carry]) -> BridgeRead:
        """A context per query, from all sources."""
        reads = {name: self._read_one(name, query, link, carry[name]) for name in link.keys}
        contexts = [read.context for read in reads.values()]
        if self.gate is not None:  # Xu et al. 2015: `c_t = beta_t sum_j a_jt h_j`, `beta_t = sigmoid(w^T s + b)`
            openings = torch.sigmoid(self.gate(query)).chunk(len(contexts), dim=-1)  # [B, Q, 1] for each source
            contexts = [context * opening for context, opening in zip(contexts, openings, strict=True)]
        return BridgeRead(
            context=torch.cat(contexts, dim=-1),
            weights={name: read.weights for name, read in reads.items()},
            carry={name: read.carry for name, read in reads.items()},
            chances={name: read.chance for name, read in reads.items() if read.chance is not None},
        )

    @property
    def multiplications(self) -> Multiplications:
        """The first state, all attentions, the gate, and what comes between looks."""
        attentions = [self.attention(name).multiplications for name in self.attentions]
        gate = Multiplications(target=matrix_entries(self.gate))
        look = sum(attentions, start=gate)
        further = Multiplications(target=look.target, pair=look.pair)  # keys are prepared once for all looks
        between = Multiplications(target=matrix_entries(self.again))
        return sum([further] * len(self.again), start=super().multiplications + look + between)

    def for_prediction(self, precision: TorchPrecision) -> Bridge:
        """Every attention in its own form."""
        for name in list(self.attentions):
            self.attentions[name] = self.attention(name).for_prediction(precision)
        lay_out(self.again, precision)
        return self

    def multiply_contexts(self, product: FloatProduct) -> bool:
        """Multiply the source where contexts are averages of it; of several sources, these lie side by side."""
        attentions = [self.attention(name) for name in self.attentions]
        if len(attentions) != 1 or self.again or not attentions[0].averages_values:
            return False
        self.context_size = len(product.matrix)
        (name,) = self.attentions
        self.attentions[name] = PremultipliedAttention(attentions[0], product, self.context_size)
        return True

    def _read_one(self, name: str, query: Tensor, link: Link, carry: Carry) -> Read:
        attention, keys = self.attention(name), link.keys[name]
        read: Read = attention(query, keys, carry)
        if name not in link.oracle:
            return read
        return attention.redirected(read, link.oracle[name].over(read.weights), keys, carry)


class MonotonicBridge(Bridge):
    """One position for each symbol, never back: how probable each move along the source is, `p(i -> j | s_t)`.

    It is a softmax over all positions j from i on, of how well they fit the state and how far they are from i.
    """

    def __init__(self, section: sections.MonotonicBridge, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__()
        (size,) = memory_sizes.values()
        self.score = build_score(section.score, decoder.size, size.states)
        self.distances = nn.Parameter(torch.zeros(section.reach + 1))

    def link(self, memories: Memories) -> Link:
        """Keys of the source."""
        ((name, memory),) = memories.items()
        return Link(keys={name: self.score.prepare(memory)})

    def moves(self, query: Tensor, link: Link) -> Tensor:
        """How probable it is to go from each position to each: query [B, Q, D] -> [B, Q, S, S]."""
        (keys,) = link.keys.values()
        places = torch.arange(keys.mask.shape[1], device=keys.mask.device)
        ahead = places - places[:, None]
        fits = self.score.scores(query, keys)[:, 0, :, None] + self.distances[ahead.clamp(0, len(self.distances) - 1)]
        there = keys.mask | (places == 0)  # the first position of a source without any
        return torch.softmax(fits.masked_fill(~((ahead >= 0) & there[:, None, None]), torch.finfo(fits.dtype).min), dim=-1)

    @property
    def multiplications(self) -> Multiplications:
        """Keys and scores."""
        return self.score.multiplications

    def for_prediction(self, precision: TorchPrecision) -> Bridge:
        """The score in its own form."""
        self.score = self.score.for_prediction(precision)
        return self


class CrossAttentionBridge(Bridge):
    """A fresh context in every layer of a transformer decoder: `x + sum over sources of MultiHead(norm(x), h)` (A9).

    It is the attention that recurrent decoders know as `multi_head`, once for each layer and source.
    """

    def __init__(self, section: sections.CrossAttentionBridge, decoder: DecoderShape, memory_sizes: MemorySizes) -> None:
        super().__init__()
        self.size = decoder.size
        self.norms = nn.ModuleList(nn.LayerNorm(decoder.size) for _ in range(decoder.layers))
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    name: MultiHeadAttention(decoder.size, size.states, heads=decoder.heads, size=decoder.size)
                    for name, size in memory_sizes.items()
                }
            )
            for _ in range(decoder.layers)
        )
        match section.weights_of:
            case "mean":
                self.shown = range(decoder.layers)
            case "last":
                self.shown = range(decoder.layers - 1, decoder.layers)
            case int(layer):
                self.shown = range(layer - 1, layer)

    def link(self, memories: Memories) -> Link:
        """KeyValues of every source, those of all layers side by side."""
        return Link(keys={name: self._prepared(name, memory) for name, memory in memories.items()})

    def _prepared(self, name: str, memory: Memory) -> KeyValues:
        layers = [self._attention(layer, name).prepare(memory) for layer in range(len(self.layers))]
        keys = torch.cat([one.keys for one in layers], dim=-1)
        return KeyValues(keys, torch.cat([one.values for one in layers], dim=-1), memory.mask)

    def read_in(self, layer: int, states: Tensor, link: Link) -> BridgeRead:
        """What a layer's states [B, Q, D] see of the sources. Weights come back from the layers whose weights are shown."""
        query = self.norms[layer](states)
        reads = {name: self._read_one(layer, query, name, link) for name in link.keys}
        context = reduce(torch.add, [context for context, _ in reads.values()])
        return BridgeRead(context, {name: weights for name, (_, weights) in reads.items() if weights is not None}, {})

    def _read_one(self, layer: int, query: Tensor, name: str, link: Link) -> tuple[Tensor, Tensor | None]:
        attention, keys = self._attention(layer, name), self._of_layer(link.keys[name], layer)
        if layer not in self.shown and name not in link.oracle:
            return attention.fused_context(query, keys.keys, keys.values, mask=keys.mask[:, None, None]), None
        weights = attention.look(query, keys, ()).weights
        if name in link.oracle:
            weights = link.oracle[name].over(weights)
        return attention.context(weights, keys), weights if layer in self.shown else None

    @property
    def multiplications(self) -> Multiplications:
        """All attentions of all layers."""
        attentions = [one for one in self.layers.modules() if isinstance(one, Attention)]
        return sum((one.multiplications for one in attentions), start=Multiplications())

    def _of_layer(self, keys: KeyValues, layer: int) -> KeyValues:
        own = slice(layer * self.size, (layer + 1) * self.size)
        return KeyValues(keys.keys[..., own], keys.values[..., own], keys.mask)

    def _attention(self, layer: int, name: str) -> MultiHeadAttention:
        by_source = self.layers[layer]
        attention = by_source[name] if isinstance(by_source, nn.ModuleDict) else None
        if not isinstance(attention, MultiHeadAttention):
            raise TypeError(attention)
        return attention


@dataclass(frozen=True)
class ContextUses:
    """What becomes of a context (A7), and which state asks for it (A5)."""

    input: bool = False
    output: bool = False
    combined: bool = False
    feed: bool = False
    state: bool = False
    concatenated: bool = False
    query_current: bool = False
    flows_back: bool = False
    """Whether what is read at one step changes the cell's state at a later one by more than a constant."""

    @classmethod
    def of(cls, bridge: sections.Bridge) -> "ContextUses":
        """Read them off a recipe."""
        match bridge:
            case sections.EveryStepBridge():
                return cls(input=True)
            case sections.AttentionBridge(into=into, feed=feed, query=query):
                return cls(
                    input="input" in into,
                    output="output" in into or "concatenated" in into,  # both show the output layer [s; c]
                    combined="combined" in into,
                    feed=feed,
                    state="state" in into,
                    concatenated="concatenated" in into,
                    query_current=query == "current",
                    flows_back=feed or not {"input", "state", "concatenated"}.isdisjoint(into),
                )
            case _:
                return cls()


def build_bridge(section: sections.Bridge, decoder: DecoderShape, memory_sizes: MemorySizes) -> Bridge:
    """The bridge that a recipe names, between a decoder and memories of the given widths."""
    match section:
        case sections.NoBridge():
            return Bridge()
        case sections.InitialBridge(start=start):
            return InitialBridge(start, decoder, memory_sizes)
        case sections.EveryStepBridge(start=start):
            return EveryStepBridge(start, decoder, memory_sizes)
        case sections.AttentionBridge():
            return AttentionBridge(section, decoder, memory_sizes)
        case sections.MonotonicBridge():
            return MonotonicBridge(section, decoder, memory_sizes)
        case sections.CrossAttentionBridge():
            return CrossAttentionBridge(section, decoder, memory_sizes)
        case _:
            assert_never(section)
