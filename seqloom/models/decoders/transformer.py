"""The transformer decoder: every layer looks back at what was read, reads the sources, and thinks.

There is one way through the layers, `_advance`. Training sends a whole target through it, each position of which sees only
those before it; search sends one symbol of every row, which sees the keys and values that the state has kept.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from seqloom.models.bridges import Bridge, CrossAttentionBridge, build_bridge
from seqloom.models.decoders.contract import Decoded, Decoder, DecoderState, LinearOutput
from seqloom.models.dropout import SequenceDropout
from seqloom.models.embeddings import at_positions, build_embedding
from seqloom.models.initialisation import DECODER_PARTS
from seqloom.models.memory import CellState
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.products import lay_out
from seqloom.models.starts import DecoderShape, Memories, MemorySizes
from seqloom.models.transformer_layers import Layer, layers_of
from seqloom.recipe import sections
from seqloom.system.cpu import TorchPrecision


class TransformerDecoder(Decoder):
    """Embedding, layers, bridge and output layer.

    A layer's cell, in the decoder's state, is what it shows after the last symbol [B, K, D], and the keys and values
    [B, K, t, D] of all positions so far. A first state that comes from a source is a position before the first symbol.

    source_embedding: shared with the encoder if the recipe ties all embeddings.
    """

    copying = None

    def __init__(
        self,
        section: sections.TransformerDecoder,
        bridge: sections.Bridge,
        memory_sizes: MemorySizes,
        vocabulary_size: int,
        source_embedding: nn.Embedding | None = None,
    ) -> None:
        super().__init__()
        self.size, self.inputs = section.size, section.inputs
        shape = DecoderShape(section.size, section.layers, leaves=1, heads=section.heads)
        self.bridge: Bridge = build_bridge(bridge, shape, memory_sizes)
        shared = source_embedding if section.tied == "all" else None
        self.embedding = shared or build_embedding(vocabulary_size, section.embedding)
        self.dropout = SequenceDropout(section.dropout, locked=False)
        self.layers = nn.ModuleList(Layer(section, parts=DECODER_PARTS) for _ in range(section.layers))
        self.norm = nn.LayerNorm(section.size)
        self.from_context = Linear(self.bridge.context_size, section.size, bias=False) if self.bridge.context_size else None
        self.output = LinearOutput(section.size, 0, vocabulary_size, tied=self.embedding if section.tied != "none" else None)

    @property
    def flows_back(self) -> bool:
        """Later positions look back at what earlier ones have read."""
        return True

    @property
    def multiplications(self) -> Multiplications:
        """Layers and output layer, at every position; a first state is one more that is looked back at, by keys and values."""
        looking_back = 2 * len(self.layers) * self.size
        every = matrix_entries(self.layers) + self.output.multiplications
        own = Multiplications(sentence=matrix_entries(self.from_context), target=every, target_pair=looking_back)
        if self.bridge.gives_start:
            own += Multiplications(sentence=looking_back * self.size, target=looking_back)
        return own + self.bridge.multiplications

    def for_prediction(self, precision: TorchPrecision) -> None:
        """Lay out every matrix."""
        lay_out(self, precision)
        super().for_prediction(precision)

    def start(self, memories: Memories, batch_size: int) -> DecoderState:
        """No position yet or, from a source, one in every layer."""
        first = self.bridge.start(memories)
        nothing = self.embedding.weight.new_zeros(batch_size, 1, 0, self.size)
        cells: list[CellState] = []
        for number, layer in enumerate(layers_of(self.layers)):
            if first is None:
                cells.append((self.embedding.weight.new_zeros(batch_size, 1, self.size), nothing, nothing))
            else:
                shown = first[number][0][:, None]
                cells.append((shown, *layer.self_attention.remember(shown[:, :, None])))
        return DecoderState(tuple(cells), feed=None, carry={}, link=self.bridge.link(memories))

    def forward(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read the given symbols [B, T] from a state of one row per sentence, all at once unless an oracle speaks."""
        if state.link.oracle:
            return self._step_by_step(tokens, state)
        return self._advance(self.embedding(tokens), state, self.dropout)

    def step(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read one symbol in every row, tokens [B, K]; the T of what comes back counts rows."""
        return self._advance(self.embedding(tokens), state, nn.Identity())

    def _step_by_step(self, tokens: Tensor, state: DecoderState) -> Decoded:
        steps = []
        for time in range(tokens.shape[1]):
            steps.append(self.step(tokens[:, time : time + 1], state))
            state = steps[-1].state
        return Decoded.joined(steps)

    def _advance(self, embedded: Tensor, state: DecoderState, dropout: nn.Module) -> Decoded:
        """Go through the layers. embedded [B, K * T, D]: T symbols of K rows, where K or T is 1."""
        states: Tensor = dropout(self._placed(embedded, state))
        cells: list[CellState] = []
        looks: list[Mapping[str, Tensor]] = []
        for number, (layer, cell) in enumerate(zip(layers_of(self.layers), state.cells, strict=True)):
            read, *kept = layer.self_attention.look_back(states, *cell[1:])
            states = states + dropout(read)
            if isinstance(self.bridge, CrossAttentionBridge):
                found = self.bridge.read_in(number, states, state.link)
                states = states + dropout(found.context)
                looks += [found.weights] if found.weights else []
            states = states + dropout(layer.feed_forward(states))
            cells.append((states[:, -cell[0].shape[1] :], *kept))
        after = replace(state, cells=tuple(cells), link=state.link.later())
        return Decoded(self.norm(states), _mean(looks), after, {})

    def _placed(self, embedded: Tensor, state: DecoderState) -> Tensor:
        """What goes into the first layer: symbols at their positions and, of bridges that have one, the context."""
        batch, rows, before, size = state.cells[0][1].shape
        placed = at_positions(embedded.view(batch, rows, -1, size), before).view_as(embedded)
        if self.from_context is None:
            return placed
        context = self.bridge.read(placed[:, :1], state.link, state.carry).context
        summed: Tensor = placed + self.from_context(context)
        return summed


def _mean(looks: list[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Weights by source, over the layers that show theirs."""
    return {name: torch.stack([look[name] for look in looks]).mean(dim=0) for name in (looks[0] if looks else ())}
