"""A fresh context at every step, by attention (A1)."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from seqloom.models.attention import Attention, Carry, PremultipliedAttention, Read, build_attention
from seqloom.models.bridges.contract import Bridge, BridgeRead, Link
from seqloom.models.bridges.summaries import InitialBridge
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.products import FloatProduct, lay_out
from seqloom.models.starts import DecoderShape, Memories, MemorySizes
from seqloom.recipe import sections
from seqloom.system.cpu import TorchPrecision


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
