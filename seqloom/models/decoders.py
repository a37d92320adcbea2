"""The recurrent decoder: writes the target one symbol at a time, seeing the sources through a bridge.

There is one step, `_advance`. Training unrolls it over a whole target; search calls it symbol by symbol. Where nothing
that attention reads flows back into the cell, training needs no loop over attention and reads all steps at once.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import torch
from torch import Tensor, nn

from seqloom.models.bridges import (
    AttentionBridge,
    Bridge,
    BridgeRead,
    ContextUses,
    DecoderShape,
    Memories,
    MemorySizes,
    build_bridge,
)
from seqloom.models.cells import Cell, LstmCell, build_cell, unroll
from seqloom.models.copying import Copying
from seqloom.models.decoding import Decoded, Decoder, DecoderState, Output
from seqloom.models.dropout import InputDropout, SequenceDropout
from seqloom.models.embeddings import build_embedding
from seqloom.models.memory import CellState
from seqloom.models.multiplying import Linear, current_multiplier
from seqloom.models.transformer_decoder import TransformerDecoder
from seqloom.models.unrolled_attention import has_attention_kernel
from seqloom.models.unrolled_cells import has_kernel, unroll_written_out
from seqloom.models.unrolled_decoder import DecoderLoop, DrawnLayer, decode_written_out
from seqloom.recipe import sections
from seqloom.symbols import BEGIN, UNKNOWN


class RecurrentDecoder(Decoder):
    """Cells, bridge and output layer.

    source_embedding: shared with the encoder if the recipe ties all embeddings. written_out: train through the written-out
    loops; else through the plain code that they are checked against.
    """

    def __init__(
        self,
        section: sections.RecurrentDecoder,
        bridge: sections.Bridge,
        memory_sizes: MemorySizes,
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
        self.inputs, self.reads_symbols = section.inputs, section.reads_symbols
        tied = section.tied != "none"
        shared = source_embedding if section.tied == "all" else None
        self.embedding = shared or build_embedding(vocabulary_size, section.embedding)
        self.input_dropout = InputDropout(section)
        self.dropout = SequenceDropout(section.dropout, locked=section.locked)
        self.output_dropout = SequenceDropout(section.output_rate, locked=section.locked)
        parts = [section.embedding]
        parts += [self.bridge.context_size] if self.uses.input else []
        parts += [section.size] if self.uses.feed else []
        parts += [self.bridge.context_size] if self.uses.concatenated else []
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

        shown = section.size + (self.bridge.context_size if self.uses.output else 0)
        self.copying = Copying(shown) if isinstance(bridge, sections.AttentionBridge) and bridge.copy else None

    @property
    def flows_back(self) -> bool:
        """Whether what is read at one step changes what a later one computes by more than a constant."""
        return self.uses.flows_back or isinstance(self.inputs, sections.DistributionInputs)

    def start(self, memories: Memories, batch_size: int) -> DecoderState:
        """The state before the first symbol, one row per sentence."""
        first = self.bridge.start(memories)
        anchor = self.embedding.weight
        cells = first or tuple(self._cell(index).zeros(batch_size, like=anchor) for index in range(len(self.cells)))
        link = self.bridge.link(memories)
        fed = self.size if self.uses.feed else self.bridge.context_size if self.uses.concatenated else 0
        return DecoderState(
            cells=tuple(tuple(leaf[:, None] for leaf in layer) for layer in cells),
            feed=anchor.new_zeros(batch_size, 1, fed) if fed else None,
            carry=self.bridge.carry(link),
            link=link,
            given=None if self.reads_symbols else anchor[BEGIN].expand(batch_size, 1, -1),
        )

    def forward(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read the given symbols [B, T] one after the other from a state of one row per sentence.

        A decoder that does not read symbols (E7) takes as many steps.
        """
        match self.inputs:
            case sections.DistributionInputs():
                decoded = self._distribution_by_distribution(tokens.shape[1], state)
            case sections.NoInputs():
                decoded = self._with_next_given(self._read_all(self._project_nothing(tokens.shape[1], state), state))
            case _:
                vectors = self.input_dropout(self.embedding, self._known(tokens))
                projected = self._cell(0).project(vectors)  # [B, T, gates * D]
                decoded = self._read_all(projected, state)
        return replace(decoded, features=self.output_dropout(decoded.features))

    def _read_all(self, projected: Tensor, state: DecoderState) -> Decoded:
        if not self.uses.flows_back and not any(state.carry.values()) and not state.link.told:
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
            and not state.link.told
            and not self.uses.state
            and not self.uses.concatenated
            and all(has_kernel(self._cell(index)) for index in range(len(self.cells)))
            and isinstance(self.bridge, AttentionBridge)
            and all(has_attention_kernel(self.bridge.attention(name)) for name in state.link.keys)
        )

    def step(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read one symbol in every row, tokens [B, K]; the T of what comes back counts rows."""
        whole = [DrawnLayer(self._cell(index).weights, None) for index in range(len(self.cells))]
        vectors = self.embedding(self._known(tokens)) if state.given is None else state.given
        return self._with_next_given(self._advance(self._cell(0).project(vectors), state, whole, 0))

    def _advance(self, projected: Tensor, state: DecoderState, drawn: Sequence[DrawnLayer], time: int) -> Decoded:
        """One step of every row. projected [B, K, gates * D]: what the symbol contributes to the first cell."""
        read = None if self.uses.query_current else self.bridge.read(state.hidden, state.link, state.carry)
        cells = self._next_cells(self._extended(projected, read, state), state, drawn, time)
        if read is None:
            read = self.bridge.read(cells[-1][0], state.link, state.carry)
        if self.uses.state and read.context is not None:
            cells = (*cells[:-1], (read.context, *cells[-1][1:]))  # of an LSTM, in the place of h; its s goes on
        features = self._features(cells[-1][0], read.context)
        feed = features if self.uses.feed else read.context if self.uses.concatenated else None
        after = replace(state, cells=cells, feed=feed, carry=read.carry, link=state.link.later())
        return Decoded(features, read.weights, after, read.chances)

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
        return Decoded.joined(steps)

    def _in_one_loop(self, projected: Tensor, state: DecoderState, drawn: Sequence[DrawnLayer]) -> Decoded:
        """What `_step_by_step` gives, by the written-out loop. The state that comes back is cut from the gradient."""
        if not isinstance(self.bridge, AttentionBridge):
            raise TypeError(self.bridge)
        first = tuple(tuple(leaf[:, 0] for leaf in layer) for layer in state.cells)
        feed = None if state.feed is None else state.feed[:, 0]
        loop = DecoderLoop(
            [self._cell(index) for index in range(len(self.cells))],
            {name: self.bridge.attention(name) for name in state.link.keys},
            self.bridge.gate,
            self.combine,
            self.uses,
            state=first,
            feed=feed,
            keys=state.link.keys,
            steps=projected.shape[1],
            drawn=drawn,
            multiplier=current_multiplier(),
        )
        features, weights = decode_written_out(loop, projected, feed, first, state.link.keys)
        cells = tuple(tuple(leaf[:, None] for leaf in layer) for layer in loop.last_state())
        fed = loop.combined[-1][:, None] if self.uses.feed and loop.combined is not None else None
        return Decoded(features, weights, replace(state, cells=cells, feed=fed), {})

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
        return Decoded(self._features(hidden, read.context), read.weights, after, read.chances)

    def _features(self, hidden: Tensor, context: Tensor | None) -> Tensor:
        """What the output layer sees: the state, or `tanh(W [s; c])`, or [s; c] for `W_out s + W_att c` (A7)."""
        if context is None:
            return hidden
        if self.combine is not None:
            return torch.tanh(self.combine(torch.cat([hidden, context], dim=-1)))
        return torch.cat([hidden, context], dim=-1) if self.uses.output else hidden

    def _known(self, tokens: Tensor) -> Tensor:
        """Symbols as they can be read: what was copied from outside the vocabulary is unknown."""
        return tokens if self.copying is None else torch.where(tokens < self.embedding.num_embeddings, tokens, UNKNOWN)

    # --- without symbols (E7) -----------------------------------------------------------------------------------------

    def _with_next_given(self, decoded: Decoded, rows: Tensor | None = None) -> Decoded:
        """Add to the state what its next step is given in the place of a symbol.

        rows: embeddings [V, E] other than all of the decoder's own.
        """
        if self.reads_symbols:
            return decoded
        rows = self.embedding.weight if rows is None else rows
        last = decoded.features[:, -decoded.state.hidden.shape[1] :]  # the last step of every row
        if isinstance(self.inputs, sections.DistributionInputs):
            given = torch.softmax(self.output(last), dim=-1) @ rows
        else:
            given = rows.new_zeros(*last.shape[:2], rows.shape[1])
        return replace(decoded, state=replace(decoded.state, given=given))

    def _project_nothing(self, steps: int, state: DecoderState) -> Tensor:
        """What `begin`, if it has not been read yet, and then zeros contribute to the first cell, [B, T, gates * D]."""
        first = _required(state.given)
        nothing = first.new_zeros(len(first), steps - 1, first.shape[2])
        return self._cell(0).project(self.input_dropout.vectors(torch.cat([first, nothing], dim=1)))

    def _distribution_by_distribution(self, steps: int, state: DecoderState) -> Decoded:
        """Unroll `_advance`, each step given the mean embedding under the distribution of the step before.

        That distribution is the one that prediction would see: the output layer's dropout has no part in it.
        """
        drawn, rows = self._draw(steps, state), self.input_dropout.rows(self.embedding)
        masks = self.input_dropout.vectors.masks(steps, _required(state.given)[:, 0])
        found = []
        for time in range(steps):
            vectors = _required(state.given)
            thinned = vectors if masks is None else vectors * masks[time][:, None]
            found.append(self._with_next_given(self._advance(self._cell(0).project(thinned), state, drawn, time), rows))
            state = found[-1].state
        return Decoded.joined(found)

    def _cell(self, index: int) -> Cell:
        cell = self.cells[index]
        if not isinstance(cell, Cell):
            raise TypeError(cell)
        return cell


def _required(given: Tensor | None) -> Tensor:
    if given is None:
        raise TypeError("the state of a decoder that does not read symbols says what it is given in their place")
    return given


def build_decoder(
    section: sections.Decoder,
    bridge: sections.Bridge,
    memory_sizes: MemorySizes,
    vocabulary_size: int,
    source_embedding: nn.Embedding | None = None,
    *,
    written_out: bool,
) -> Decoder:
    """The decoder that a recipe names, over sources of the given memory widths."""
    match section:
        case sections.RecurrentDecoder():
            return RecurrentDecoder(section, bridge, memory_sizes, vocabulary_size, source_embedding, written_out=written_out)
        case sections.TransformerDecoder():
            return TransformerDecoder(section, bridge, memory_sizes, vocabulary_size, source_embedding)
        case _:
            assert_never(section)
