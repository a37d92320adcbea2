"""The recurrent decoder: writes the target one symbol at a time, seeing the sources through a bridge.

There is one step, `_advance`. Training unrolls it over a whole target; search calls it symbol by symbol. Where nothing
that attention reads flows back into the cell, the cells run over the whole target first, and then all steps read at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from seqloom.models.bridges import (
    Bridge,
    BridgeRead,
    ContextUses,
    DecoderShape,
    Memories,
    MemorySizes,
    build_bridge,
)
from seqloom.models.cells import Cell, LstmCell, Weights, build_cell
from seqloom.models.decoders.contract import Decoded, Decoder, DecoderState, Output
from seqloom.models.decoders.copying import Copying
from seqloom.models.dropout import InputDropout, SequenceDropout
from seqloom.models.embeddings import build_embedding
from seqloom.models.initialisation import STATE_SCALE
from seqloom.models.memory import CellState
from seqloom.models.mixed_precision import Linear
from seqloom.recipe import sections
from seqloom.symbols import BEGIN, UNKNOWN


@dataclass(frozen=True)
class DrawnLayer:
    """What a layer's steps use of it in one pass, with what dropout leaves out.

    weights: those of the cell; masks: what the layer's inputs are multiplied with, [T, B, D], or None.
    """

    weights: Weights
    masks: Tensor | None


class RecurrentDecoder(Decoder):
    """Cells, bridge and output layer.

    source_embedding: shared with the encoder if the recipe ties all embeddings.
    """

    def __init__(
        self,
        section: sections.RecurrentDecoder,
        bridge: sections.Bridge,
        memory_sizes: MemorySizes,
        vocabulary_size: int,
        source_embedding: nn.Embedding | None = None,
    ) -> None:
        super().__init__()
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
        self.cells = nn.ModuleList(build_cell(section, width, reads_embedding=index == 0) for index, width in enumerate(widths))
        self.combine = Linear(section.size + self.bridge.context_size, section.size, bias=False) if self.uses.combined else None
        self.output = Output(
            section.size,
            self.bridge.context_size if self.uses.output else 0,
            vocabulary_size,
            tied=self.embedding if tied else None,
            input_scale=STATE_SCALE,
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
        if isinstance(self.inputs, sections.DistributionInputs):
            decoded = self._distribution_by_distribution(tokens.shape[1], state)
        else:
            read = self._step_by_step if self._needs_order(state) else self._all_at_once
            decoded = self._with_next_given(read(self._vectors(tokens, state), state))
        return replace(decoded, features=self.output_dropout(decoded.features))

    def _vectors(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """What all steps are given, [B, T, E]: embeddings; without symbols, `begin` if it is still to be read, then zeros."""
        if self.reads_symbols:
            vectors: Tensor = self.input_dropout(self.embedding, self._known(tokens))
        else:
            first = _required(state.given)
            nothing = first.new_zeros(len(first), tokens.shape[1] - 1, first.shape[2])
            vectors = self.input_dropout.vectors(torch.cat([first, nothing], dim=1))
        return vectors

    def _needs_order(self, state: DecoderState) -> bool:
        """Whether a step cannot be read before the one before it has been."""
        return self.uses.flows_back or any(state.carry.values()) or bool(state.link.told)

    def _draw(self, steps: int, state: DecoderState) -> list[DrawnLayer]:
        """What the steps use of every layer, with what dropout leaves out."""
        return [
            DrawnLayer(self._cell(index).drawn_weights(), self.dropout.masks(steps, leaves[0][:, 0]) if index > 0 else None)
            for index, leaves in enumerate(state.cells)
        ]

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

    def _step_by_step(self, vectors: Tensor, state: DecoderState) -> Decoded:
        """Unroll `_advance`."""
        projected = self._cell(0).project(vectors)  # [B, T, gates * D]
        drawn = self._draw(vectors.shape[1], state)
        steps = []
        for time, symbol in enumerate(projected.tensor_split(projected.shape[1], dim=1)):
            steps.append(self._advance(symbol, state, drawn, time))
            state = steps[-1].state
        return Decoded.joined(steps)

    def _all_at_once(self, vectors: Tensor, state: DecoderState) -> Decoded:
        """The cells run first, layer by layer; then every step reads the sources in one go."""
        # Where a context goes into the cell here, it is the same at every step.
        context = self.bridge.read(state.hidden, state.link, state.carry).context if self.uses.input else None
        hidden, others = vectors, () if context is None else (context,)
        after: list[CellState] = []
        for index, before in enumerate(state.cells):
            first = tuple(leaf[:, 0] for leaf in before)
            hidden, last = self._cell(index).run(first, self.dropout(hidden) if index > 0 else hidden, *others)
            after.append(tuple(leaf[:, None] for leaf in last))
            others = ()
        queries = hidden if self.uses.query_current else torch.cat([state.hidden, hidden[:, :-1]], dim=1)
        read = self.bridge.read(queries, state.link, state.carry)
        return Decoded(self._features(hidden, read.context), read.weights, replace(state, cells=tuple(after)), read.chances)

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
