"""The encoder of a text that is compared with another one, word by word."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from seqloom.models.attention.contract import masked_softmax
from seqloom.models.dropout import InputDropout
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.text import RecurrentEncoder, largest, mean
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.recipe import sections
from seqloom.symbols import UNKNOWN


class ComparingEncoder(RecurrentEncoder):
    """Reads a text beside another one (Rocktäschel et al. 2016, in the form of Chen et al. 2017).

    Both are read by the same encoder, `reader`, that of the other source. A word is `x = [h; sqrt(E) e]`, its state and its
    embedding, whose entries the root makes as large, so that equal words find each other from the first update on. It finds
    `c = sum_j a_j y_j` in the other source, `a = softmax(x^T y / sqrt(D))`, and `relu(W [x; c; |x - c|; x * c] + b)` goes into
    a recurrent network. The largest entries of its states and their mean, side by side, are the summary.
    """

    def __init__(self, section: sections.ComparingEncoder, reader: Encoder) -> None:
        super().__init__(section)
        self.neighbour, self.summary_size = section.source, 2 * section.memory_size
        # In a list, as it is no part of this one: the weights are the other source's.
        self._reader = [reader]
        self.input_dropout = InputDropout(section)
        width = reader.memory_size + self._embedding.embedding_dim
        self.compare = Linear(4 * width, section.memory_size)
        self._add_layers(section, section.memory_size, reads_embedding=False)

    @property
    def _embedding(self) -> nn.Embedding:
        embedding = self._reader[0].symbol_embedding
        if embedding is None:
            raise TypeError("words are compared, and the other source has none")
        return embedding

    def read_beside(self, memories: Mapping[str, Memory], values: Tensor, lengths: Tensor) -> Memory:
        """Read it beside the source that it is compared with."""
        memory: Memory = self(values, lengths, memories[self.neighbour])
        return memory

    def forward(self, symbols: Tensor, lengths: Tensor, neighbour: Memory | None = None) -> Memory:
        """Symbols [B, S], lengths [B], and the other source as its encoder wrote it -> Memory."""
        if neighbour is None:
            raise TypeError("a text is compared with another one")
        own: Memory = self._reader[0](symbols, lengths)
        mine, others = self._words(own), self._words(neighbour)
        scores = mine @ others.transpose(1, 2) / math.sqrt(mine.shape[-1])  # [B, S, S']
        weights = masked_softmax(scores, neighbour.mask[:, None])
        found = weights @ others
        compared = torch.cat([mine, found, (mine - found).abs(), mine * found], dim=-1)
        states, _ = self.read(self.dropout(torch.relu(self.compare(compared))), lengths)
        summary = torch.cat([largest(states, own.mask), mean(states, own.mask)], dim=-1)
        return Memory(states, own.mask, summary, ((summary,),), symbols, (weights[:, None],))

    def _words(self, memory: Memory) -> Tensor:
        if memory.symbols is None:
            raise TypeError("words are compared, and the other source has none")
        known = torch.where(memory.symbols < self._embedding.num_embeddings, memory.symbols, UNKNOWN)
        vectors = self.input_dropout(self._embedding, known) * math.sqrt(self._embedding.embedding_dim)
        return torch.cat([memory.states, vectors], dim=-1)

    @property
    def multiplications(self) -> Multiplications:
        """The other source's encoder once more, the comparison, and the cells, at every position; and pairs of positions."""
        own = super().multiplications + Multiplications(source=matrix_entries(self.compare))
        width = self.compare.in_features // 4
        return own + self._reader[0].multiplications + Multiplications(source_pair=2 * width)
