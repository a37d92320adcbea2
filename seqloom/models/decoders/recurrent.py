"""The recurrent decoder: writes the target one symbol at a time, seeing the sources through a bridge.

There is one step, `_advance`. Training unrolls it over a whole target; search calls it symbol by symbol. Where nothing
that attention reads flows back into the cell, the cells run over the whole target first, and then all steps read at once.
What steps are given of the steps before is the business of `inputs`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from seqloom.models.bridges import (
    Bridge,
    BridgeRead,
    ContextUses,
    build_bridge,
)
from seqloom.models.cells import Cell, StateProducts, build_cell, cell_kind
from seqloom.models.decoders.contract import Decoded, Decoder, DecoderState, LinearOutput, OutputLayer
from seqloom.models.decoders.copying import Copying
from seqloom.models.decoders.inputs import build_step_inputs, stands_for_symbol
from seqloom.models.dropout import InputDropout, SequenceDropout
from seqloom.models.embeddings import build_embedding
from seqloom.models.initialisation import STATE_SCALE, TIED_LENGTH
from seqloom.models.memory import CellState
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.products import FloatProduct, build_product, lay_out
from seqloom.models.starts import DecoderShape, Memories, MemorySizes
from seqloom.recipe import sections
from seqloom.symbols import UNKNOWN
from seqloom.system.cpu import TorchPrecision


@dataclass(frozen=True)
class DrawnLayer:
    """What a layer's steps use of it in one pass, with what dropout leaves out.

    products: those of the cell; masks: what the layer's inputs are multiplied with, [T, B, D], or None.
    """

    products: StateProducts
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
        shape = DecoderShape(section.size, section.layers, cell_kind(section).num_leaves)
        self.bridge: Bridge = build_bridge(bridge, shape, memory_sizes)
        self.uses = ContextUses.of(bridge)
        self.inputs, self.step_inputs = section.inputs, build_step_inputs(section.inputs)
        tied = section.tied != "none"
        shared = source_embedding if section.tied == "all" else None
        length = TIED_LENGTH if section.tied == "output" else 1.0  # what the source is read by, too, stays as it is
        self.embedding = shared or build_embedding(vocabulary_size, section.embedding, length=length)
        self.input_dropout = InputDropout(section)
        self.dropout = SequenceDropout(section.dropout, locked=section.locked)
        self.output_dropout = SequenceDropout(section.output_rate, locked=section.locked)
        parts = [section.embedding]
        parts += [self.bridge.context_size] if self.uses.input else []
        parts += [section.size] if self.uses.feed else []
        parts += [self.bridge.context_size] if self.uses.concatenated else []
        widths: list[Sequence[int]] = [parts, *[[section.size]] * (section.layers - 1)]
        lengths = [length, *[None] * (section.layers - 1)]
        self.cells = nn.ModuleList(
            build_cell(section, width, embedding_length=one) for width, one in zip(widths, lengths, strict=True)
        )
        self.combine: Linear | CombineProducts | None = None
        if self.uses.combined:
            self.combine = Linear(section.size + self.bridge.context_size, section.size, bias=False)
        attended = self.bridge.context_size if self.uses.output else 0
        self.output: OutputLayer = LinearOutput(
            section.size, attended, vocabulary_size, tied=self.embedding if tied else None, input_scale=STATE_SCALE
        )
        self.copying = (
            Copying(section.size + attended) if isinstance(bridge, sections.AttentionBridge) and bridge.copy else None
        )

    @property
    def flows_back(self) -> bool:
        """Whether what is read at one step changes what a later one computes by more than a constant."""
        return self.uses.flows_back or self.step_inputs.awaits_outputs

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
            given=self.step_inputs.first(self.embedding, batch_size),
        )

    def forward(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read the given symbols [B, T] one after the other from a state of one row per sentence.

        A decoder that does not read symbols (E7) takes as many steps.
        """
        if self.step_inputs.awaits_outputs:
            decoded = self._output_by_output(tokens.shape[1], state)
        else:
            read = self._step_by_step if self._needs_order(state) else self._all_at_once
            decoded = read(
                self.step_inputs.vectors(self.input_dropout, self.embedding, self._known(tokens), state.given), state
            )
        return replace(decoded, features=self.output_dropout(decoded.features))

    def _needs_order(self, state: DecoderState) -> bool:
        """Whether a step cannot be read before the one before it has been."""
        return self.uses.flows_back or any(state.carry.values()) or bool(state.link.oracle)

    def _draw(self, steps: int, state: DecoderState) -> list[DrawnLayer]:
        """What the steps use of every layer, with what dropout leaves out."""
        return [
            DrawnLayer(self._cell(index).drawn_products(), self.dropout.masks(steps, leaves[0][:, 0]) if index > 0 else None)
            for index, leaves in enumerate(state.cells)
        ]

    def step(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read one symbol in every row, tokens [B, K]; the T of what comes back counts rows."""
        whole = [DrawnLayer(self._cell(index).products, None) for index in range(len(self.cells))]
        vectors = self.embedding(self._known(tokens)) if state.given is None else state.given
        return self._advance(self._cell(0).project(vectors), state, whole, 0)

    def _advance(
        self, projected: Tensor, state: DecoderState, drawn: Sequence[DrawnLayer], time: int, rows: Tensor | None = None
    ) -> Decoded:
        """One step of every row. projected [B, K, gates * D]: what the symbol contributes to the first cell.

        rows [V, E]: embeddings other than the decoder's own, from which comes what the next step is given.
        """
        read = None if self.uses.query_current else self.bridge.read(state.hidden, state.link, state.carry)
        cells = self._next_cells(self._extended(projected, read, state), state, drawn, time)
        if read is None:
            read = self.bridge.read(cells[-1][0], state.link, state.carry)
        if self.uses.state and read.context is not None:
            cells = (*cells[:-1], (read.context, *cells[-1][1:]))  # of an LSTM, in the place of h; its s goes on
        features = self._features(cells[-1][0], read.context)
        feed = features if self.uses.feed else read.context if self.uses.concatenated else None
        given = self.step_inputs.following(features, self.output, self.embedding.weight if rows is None else rows)
        after = replace(state, cells=cells, feed=feed, carry=read.carry, link=state.link.later(), given=given)
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
            after.append(cell.step(projected, before, layer.products))
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

    def _output_by_output(self, steps: int, state: DecoderState) -> Decoded:
        """Unroll `_advance`, each step given what the step before makes of its output."""
        drawn, rows = self._draw(steps, state), self.input_dropout.rows(self.embedding)
        masks = self.input_dropout.vectors.masks(steps, stands_for_symbol(state.given)[:, 0])
        found = []
        for time in range(steps):
            vectors = stands_for_symbol(state.given)
            thinned = vectors if masks is None else vectors * masks[time][:, None]
            found.append(self._advance(self._cell(0).project(thinned), state, drawn, time, rows))
            state = found[-1].state
        return Decoded.joined(found)

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
        features = self._features(hidden, read.context)
        given = self.step_inputs.following(features[:, -1:], self.output, self.embedding.weight)
        return Decoded(features, read.weights, replace(state, cells=tuple(after), given=given), read.chances)

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

    def _cell(self, index: int) -> Cell:
        cell = self.cells[index]
        if not isinstance(cell, Cell):
            raise TypeError(cell)
        return cell

    # --- other forms --------------------------------------------------------------------------------------------------

    @property
    def multiplications(self) -> Multiplications:
        """Cells, combined vector, gate of copying and output layer, at every step, and what the bridge costs.

        Of scheduled sampling, the pass that finds out what the decoder writes is not counted: only training has it.
        """
        every = sum(self._cell(index).multiplications for index in range(len(self.cells)))
        every += matrix_entries(self.combine, self.copying) + self.output.multiplications
        once = 0
        if self.uses.input and not self.flows_back:  # a context that is the same at all steps is multiplied once
            once = matrix_entries(self._cell(0).inputs[1])
        if self.step_inputs.awaits_outputs:  # logits in the loop, once more for the loss; then the mean embedding
            every += self.output.multiplications + matrix_entries(self.embedding)
        return self.bridge.multiplications + Multiplications(sentence=once, target=every - once)

    def for_prediction(self, precision: TorchPrecision) -> None:
        """Lay out cells and the combined vector; let the bridge multiply its contexts."""
        super().for_prediction(precision)
        lay_out(self.cells, precision)
        combine = self.combine = CombineProducts(self.combine, precision) if isinstance(self.combine, Linear) else None
        if precision == "fp32" and not self.uses.output and not self.uses.state:
            self._multiply_contexts(combine)  # in other precisions the order of rounding would matter

    def _multiply_contexts(self, combine: "CombineProducts | None") -> None:
        """Let the bridge multiply what would be done to its contexts, by the cell and for the combined vector."""
        inputs = self._cell(0).inputs
        by_cell = inputs[1] if self.uses.input else None
        by_combine = combine.from_context if combine is not None else None
        products = [one for one in (by_cell, by_combine) if isinstance(one, FloatProduct)]
        if not products or not self.bridge.multiply_contexts(FloatProduct(torch.cat([one.matrix for one in products]), None)):
            return
        stop = len(products[0].matrix)
        if by_cell is not None:
            inputs[1] = Columns(0, stop)
        if combine is not None:
            combine.from_context = Columns(stop if by_cell is not None else 0, None)


class CombineProducts(nn.Module):
    """`W [s; c]` for prediction: a product with the state and one with the context."""

    def __init__(self, combine: Linear, precision: TorchPrecision) -> None:
        super().__init__()
        self.size = combine.out_features
        of_state, of_context = combine.weight.tensor_split([self.size], dim=1)
        self.from_state: nn.Module = build_product(precision, of_state)
        self.from_context: nn.Module = build_product(precision, of_context)

    def forward(self, vectors: Tensor) -> Tensor:
        """Vectors [..., D + C] -> [..., D]."""
        state, context = vectors.tensor_split([self.size], dim=-1)
        combined: Tensor = self.from_state(state)
        return combined.add_(self.from_context(context))


class Columns(nn.Module):
    """What is found ready in some columns of its inputs."""

    def __init__(self, start: int, stop: int | None) -> None:
        super().__init__()
        self.columns = slice(start, stop)

    def forward(self, vectors: Tensor) -> Tensor:
        """Vectors [..., I] -> [..., O]."""
        return vectors[..., self.columns]
