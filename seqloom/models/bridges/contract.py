"""What every bridge is: how the decoder begins, what of the sources is prepared once, and what a step reads of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from seqloom.models.attention import Carry, Chance, KeyValues
from seqloom.models.attention.oracle import OracleWeights
from seqloom.models.memory import CellState
from seqloom.models.operations import Multiplications
from seqloom.models.products import FloatProduct
from seqloom.models.starts import Memories
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
