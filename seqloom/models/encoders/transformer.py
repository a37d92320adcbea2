"""The transformer encoder."""

import torch
from torch import Tensor, nn

from seqloom.models.dropout import SequenceDropout
from seqloom.models.embeddings import at_positions, build_embedding
from seqloom.models.encoders.contract import Encoder
from seqloom.models.initialisation import ENCODER_PARTS
from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.transformer_layers import Layer, layers_of
from seqloom.recipe import sections
from seqloom.symbols import UNKNOWN


class TransformerEncoder(Encoder):
    """Reads symbols all at once: embeddings that know their positions, layer upon layer, and a last norm.

    The mean over real positions is the summary, and the only last state: there is no position that has read more than others.
    """

    def __init__(self, section: sections.TransformerEncoder, vocabulary_size: int) -> None:
        super().__init__()
        self.memory_size = self.summary_size = section.memory_size
        self.embedding = build_embedding(vocabulary_size, section.embedding)
        self.dropout = SequenceDropout(section.dropout, locked=False)
        self.layers = nn.ModuleList(Layer(section, parts=ENCODER_PARTS) for _ in range(section.layers))
        self.norm = nn.LayerNorm(section.size)

    def forward(self, symbols: Tensor, lengths: Tensor) -> Memory:
        """Symbols [B, S], lengths [B] -> Memory. All that lies outside the vocabulary is unknown alike."""
        mask = torch.arange(symbols.shape[1], device=symbols.device) < lengths[:, None]
        known = torch.where(symbols < self.embedding.num_embeddings, symbols, UNKNOWN)
        states: Tensor = self.dropout(at_positions(self.embedding(known), 0))
        for layer in layers_of(self.layers):
            states = states + self.dropout(layer.self_attention(states, mask))
            states = states + self.dropout(layer.feed_forward(states))
        states = self.norm(states)
        summary = states.masked_fill(~mask[..., None], 0.0).sum(dim=1) / lengths.clamp(min=1)[:, None]
        return Memory(states, mask, summary, ((summary,),), symbols)

    @property
    def multiplications(self) -> Multiplications:
        """All layers, at every position, and what positions read in each other."""
        return Multiplications(source=matrix_entries(self.layers), source_pair=2 * len(self.layers) * self.memory_size)
