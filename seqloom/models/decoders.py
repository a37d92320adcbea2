"""The recurrent decoder: writes the target one symbol at a time, seeing the sources through a bridge.

There is one step, `_advance`. Training unrolls it over a whole target; search calls it symbol by symbol. Where nothing
that attention reads flows back into the cell, training needs no loop over attention and reads all steps at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from seqloom.models.attention import Carry
from seqloom.models.bridges import AttentionBridge, Bridge, BridgeRead, ContextUses, DecoderShape, Link, Memories, build_bridge
from seqloom.models.cells import Cell, LstmCell, build_cell, unroll
from seqloom.models.dropout import InputDropout, SequenceDropout
from seqloom.models.encoders import build_embedding
from seqloom.models.memory import CellState
from seqloom.models.multiplying import Linear, current_multiplier, linear
from seqloom.models.unrolled_attention import has_attention_kernel
from seqloom.models.unrolled_cells import has_kernel, unroll_written_out
from seqloom.models.unrolled_decoder import DecoderLoop, DrawnLayer, decode_written_out
from seqloom.recipe import sections


@dataclass(frozen=True)
class DecoderState:
    """All that a decoder keeps between two symbols, for B sentences of K rows.

    cells: per layer, leaves [B, K, D]; feed: the combined vector of the step before [B, K, D], if it is fed; carry: what the
    attentions remember; link: the sources, one row per sentence however many rows the sentence has.
    """

    cells: tuple[CellState, ...]
    feed: Tensor | None
    carry: Mapping[str, Carry]
    link: Link

    @property
    def hidden(self) -> Tensor:
        """What the last layer shows of its state, [B, K, D]."""
        return self.cells[-1][0]

    def detached(self) -> "DecoderState":
        """The same state, through which no gradient flows back. What belongs to sources stays: they have one stretch only."""
        return replace(self, cells=tuple(tuple(leaf.detach() for leaf in layer) for layer in self.cells))

    def select(self, sentences: Tensor, parents: Tensor, *, regrouped: bool) -> "DecoderState":
        """Keep the given sentences [B'] and rows of each [B', K']; `regrouped` is False if the sentences stay as they are."""

        def pick(leaf: Tensor) -> Tensor:
            return leaf[sentences[:, None], parents]

        return DecoderState(
            cells=tuple(tuple(pick(leaf) for leaf in layer) for layer in self.cells),
            feed=None if self.feed is None else pick(self.feed),
            carry={name: tuple(pick(leaf) for leaf in carry) for name, carry in self.carry.items()},
            link=self.link.select(sentences) if regrouped else self.link,
        )


@dataclass(frozen=True)
class Decoded:
    """A stretch of decoding.

    features [B, T, O] for the output layer; weights [B, H, T, S] by source; the state after it; terms for the loss by name.
    """

    features: Tensor
    weights: Mapping[str, Tensor]
    state: DecoderState
    penalties: Mapping[str, Tensor]


class RecurrentDecoder(nn.Module):
    """Cells, bridge and output layer.

    source_embedding: shared with the encoder if the recipe ties all embeddings. written_out: train through the written-out
    loops; else through the plain code that they are checked against.
    """

    def __init__(
        self,
        section: sections.RecurrentDecoder,
        bridge: sections.Bridge,
        memory_sizes: Mapping[str, int],
        vocabulary_size: int,
        source_embedding: nn.Embedding | None = None,
        *,
        written_out: bool = True,
    ) -> None:
        super().__init__()
        self.written_out = written_out
        self.unroll = unroll_written_out if written_out else unroll
        self.size = section.size
        leaves = LstmCell.num_leaves if section.cell == "lstm" else 1
        self.bridge: Bridge = build_bridge(bridge, DecoderShape(section.size, section.layers, leaves), memory_sizes)
        self.uses = ContextUses.of(bridge)
        tied = section.tied != "none"
        shared = source_embedding if section.tied == "all" else None
        self.embedding = shared or build_embedding(vocabulary_size, section.embedding)
        self.input_dropout = InputDropout(section)
        self.dropout = SequenceDropout(section.dropout, locked=section.locked)
        self.output_dropout = SequenceDropout(section.output_rate, locked=section.locked)
        parts = [section.embedding]
        parts += [self.bridge.context_size] if self.uses.input else []
        parts += [section.size] if self.uses.feed else []
        widths: list[Sequence[int]] = [parts, *[[section.size]] * (section.layers - 1)]
        self.cells = nn.ModuleList(build_cell(section, width) for width in widths)
        if not memory_sizes:
            # Embeddings have length 1, where other inputs have entries around 1. Drawn like this, what a symbol contributes to
            # a gate starts with variance 1: a language model then learns from the first updates on. Beside a source it does
            # harm: a decoder that hears its own symbols so loudly learns to attend later.
            nn.init.normal_(self.get_parameter("cells.0.inputs.0.weight"))
        self.combine = Linear(section.size + self.bridge.context_size, section.size, bias=False) if self.uses.combined else None
        if self.combine is not None:
            nn.init.xavier_uniform_(self.combine.weight)
        self.output = Output(
            section.size,
            self.bridge.context_size if self.uses.output else 0,
            vocabulary_size,
            tied=self.embedding if tied else None,
        )

    def start(self, memories: Memories, batch_size: int) -> DecoderState:
        """The state before the first symbol, one row per sentence."""
        first = self.bridge.start(memories)
        anchor = self.embedding.weight
        cells = first or tuple(self._cell(index).zeros(batch_size, like=anchor) for index in range(len(self.cells)))
        link = self.bridge.link(memories)
        return DecoderState(
            cells=tuple(tuple(leaf[:, None] for leaf in layer) for layer in cells),
            feed=anchor.new_zeros(batch_size, 1, self.size) if self.uses.feed else None,
            carry=self.bridge.carry(link),
            link=link,
        )

    def forward(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read the given symbols [B, T] one after the other from a state of one row per sentence."""
        projected = self._cell(0).project(self.input_dropout(self.embedding, tokens))  # [B, T, gates * D]
        decoded = self._read_all(projected, state)
        return replace(decoded, features=self.output_dropout(decoded.features))

    def _read_all(self, projected: Tensor, state: DecoderState) -> Decoded:
        if not self.uses.flows_back and not any(state.carry.values()):
            return self._all_at_once(projected, state)
        drawn = self._draw(projected.shape[1], state)
        if self._can_write_out(state):
            return self._in_one_loop(projected, state, drawn)
        return self._step_by_step(projected, state, drawn)

    def _draw(self, steps: int, state: DecoderState) -> list[DrawnLayer]:
        """What the steps use of every layer, with what dropout leaves out."""
        return [
            DrawnLayer(self._cell(index).drawn_weights(), self.dropout.masks(steps, leaves[0][:, 0]) if index > 0 else None)
            for index, leaves in enumerate(state.cells)
        ]

    def _can_write_out(self, state: DecoderState) -> bool:
        """Whether the written-out loop knows all that this step consists of."""
        return (
            self.written_out
            and not any(state.carry.values())
            and all(has_kernel(self._cell(index)) for index in range(len(self.cells)))
            and isinstance(self.bridge, AttentionBridge)
            and all(has_attention_kernel(self.bridge.attention(name)) for name in state.link.keys)
        )

    def step(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read one symbol in every row, tokens [B, K]; the T of what comes back counts rows."""
        whole = [DrawnLayer(self._cell(index).weights, None) for index in range(len(self.cells))]
        return self._advance(self._cell(0).project(self.embedding(tokens)), state, whole, 0)

    def _advance(self, projected: Tensor, state: DecoderState, drawn: Sequence[DrawnLayer], time: int) -> Decoded:
        """One step of every row. projected [B, K, gates * D]: what the symbol contributes to the first cell."""
        read = None if self.uses.query_current else self.bridge.read(state.hidden, state.link, state.carry)
        cells = self._next_cells(self._extended(projected, read, state), state, drawn, time)
        hidden = cells[-1][0]
        if read is None:
            read = self.bridge.read(hidden, state.link, state.carry)
        features = self._features(hidden, read.context)
        feed = features if self.uses.feed else None
        after = DecoderState(cells, feed, read.carry, state.link)
        return Decoded(features, read.weights, after, read.penalties)

    def _extended(self, projected: Tensor, read: BridgeRead | None, state: DecoderState) -> Tensor:
        """All that goes into the first cell."""
        others = [read.context] if self.uses.input and read is not None and read.context is not None else []
        others += [state.feed] if state.feed is not None else []
        return self._cell(0).extend(projected, *others)

    def _next_cells(
        self, projected: Tensor, state: DecoderState, drawn: Sequence[DrawnLayer], time: int
    ) -> tuple[CellState, ...]:
        after: list[CellState] = []
        for index, (before, layer) in enumerate(zip(state.cells, drawn, strict=True)):
            cell = self._cell(index)
            if index > 0:
                shown = after[-1][0]
                projected = cell.project(shown if layer.masks is None else shown * layer.masks[time][:, None])
            after.append(cell.step(projected, before, layer.weights))
        return tuple(after)

    def _step_by_step(self, projected: Tensor, state: DecoderState, drawn: Sequence[DrawnLayer]) -> Decoded:
        """Unroll `_advance`: for bridges whose reading flows back into the cells."""
        steps = []
        for time, symbol in enumerate(projected.tensor_split(projected.shape[1], dim=1)):
            steps.append(self._advance(symbol, state, drawn, time))
            state = steps[-1].state
        return Decoded(
            features=torch.cat([step.features for step in steps], dim=1),
            weights={name: torch.cat([step.weights[name] for step in steps], dim=2) for name in steps[0].weights},
            state=state,
            penalties={name: torch.stack([step.penalties[name] for step in steps]).sum() for name in steps[0].penalties},
        )

    def _in_one_loop(self, projected: Tensor, state: DecoderState, drawn: Sequence[DrawnLayer]) -> Decoded:
        """What `_step_by_step` gives, by the written-out loop. The state that comes back is cut from the gradient."""
        if not isinstance(self.bridge, AttentionBridge):
            raise TypeError(self.bridge)
        first = tuple(tuple(leaf[:, 0] for leaf in layer) for layer in state.cells)
        feed = None if state.feed is None else state.feed[:, 0]
        loop = DecoderLoop(
            [self._cell(index) for index in range(len(self.cells))],
            {name: self.bridge.attention(name) for name in state.link.keys},
            self.combine,
            self.uses,
            state=first,
            feed=feed,
            keys=state.link.keys,
            steps=projected.shape[1],
            drawn=drawn,
            multiplier=current_multiplier(),
        )
        features = decode_written_out(loop, projected, feed, first, state.link.keys)
        cells = tuple(tuple(leaf[:, None] for leaf in layer) for layer in loop.last_state())
        fed = loop.combined[-1][:, None] if self.uses.feed and loop.combined is not None else None
        return Decoded(features, loop.weights(), replace(state, cells=cells, feed=fed), {})

    def _all_at_once(self, projected: Tensor, state: DecoderState) -> Decoded:
        """The cells run first, layer by layer; then every step reads the sources in one go."""
        if self.uses.input:  # the same context at every step
            context = self.bridge.read(state.hidden, state.link, state.carry).context
            if context is not None:
                projected = self._cell(0).extend(projected, context)
        cells: list[CellState] = []
        for index, before in enumerate(state.cells):
            cell = self._cell(index)
            if index > 0:
                projected = cell.project(self.dropout(cells[-1][0]))
            cells.append(self.unroll(cell, projected, tuple(leaf[:, 0] for leaf in before)))
        hidden = cells[-1][0]  # [B, T, D]
        queries = hidden if self.uses.query_current else torch.cat([state.hidden, hidden[:, :-1]], dim=1)
        read = self.bridge.read(queries, state.link, state.carry)
        after = replace(state, cells=tuple(tuple(leaf[:, -1:] for leaf in layer) for layer in cells))
        return Decoded(self._features(hidden, read.context), read.weights, after, read.penalties)

    def _features(self, hidden: Tensor, context: Tensor | None) -> Tensor:
        """What the output layer sees: the state, or `tanh(W [s; c])`, or [s; c] for `W_out s + W_att c` (A7)."""
        if context is None:
            return hidden
        if self.combine is not None:
            return torch.tanh(self.combine(torch.cat([hidden, context], dim=-1)))
        return torch.cat([hidden, context], dim=-1) if self.uses.output else hidden

    def _cell(self, index: int) -> Cell:
        cell = self.cells[index]
        if not isinstance(cell, Cell):
            raise TypeError(cell)
        return cell


class Output(nn.Module):
    """Scores of all symbols: `V s_t + b` (E5), or `W_out s + W_att c + b` where the context comes to the output too (A7).

    tied: an embedding whose rows serve as `V`.
    """

    def __init__(self, size: int, context_size: int, vocabulary_size: int, *, tied: nn.Embedding | None) -> None:
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.empty(vocabulary_size, size)) if tied is None else tied.weight
        self.attended = nn.Parameter(torch.empty(vocabulary_size, context_size)) if context_size else None
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))
        if tied is None:
            nn.init.xavier_uniform_(self.weight)
        if self.attended is not None:
            nn.init.xavier_uniform_(self.attended)

    def joined(self) -> tuple[Tensor, Tensor]:
        """The layer as one matrix [V, O], for features [s; c] or s alone, and its bias [V]."""
        matrix = self.weight if self.attended is None else torch.cat([self.weight, self.attended], dim=1)
        return matrix, self.bias

    def forward(self, features: Tensor) -> Tensor:
        """Features [..., O] -> logits [..., V]."""
        return linear(features, *self.joined())
