"""The encoder of texts that consist of sentences, each of which becomes one position."""

import math

import torch
from torch import Tensor

from seqloom.models.dropout import SequenceDropout
from seqloom.models.embeddings import build_embedding
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.directions import real_positions
from seqloom.models.encoders.text import mean
from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications
from seqloom.recipe import sections
from seqloom.results.layouts import Sentences
from seqloom.symbols import END, UNKNOWN


class SentenceEncoder(Encoder):
    """Reads a text sentence by sentence; the symbol `end` closes each (Sukhbaatar et al. 2015).

    A sentence is one position: `sqrt(D) (sum_k l_k * e(x_k) + t_a)`. The weights l_k know at which place k of how many a word
    stands, and t_a, learnt, that a sentences came after it; the root makes the entries of both as large as states are. The
    mean of all sentences sums them up.
    """

    layout = Sentences()

    def __init__(self, section: sections.SentenceEncoder, vocabulary_size: int) -> None:
        super().__init__()
        self.memory_size = self.summary_size = section.memory_size
        self.embedding = build_embedding(vocabulary_size, section.size)
        self.ages = build_embedding(section.ages, section.size)
        self.dropout = SequenceDropout(section.dropout, locked=False)

    def forward(self, symbols: Tensor, lengths: Tensor) -> Memory:
        """Symbols [B, S], lengths [B] -> Memory with a position for each sentence."""
        real = real_positions(symbols.shape[1], lengths)
        closing = real & (symbols == END)
        last = torch.arange(symbols.shape[1], device=symbols.device) == lengths[:, None] - 1
        ends = closing | last  # also of a last sentence that nothing closes
        numbers = ends.cumsum(dim=1) - ends.long()  # to which sentence a symbol belongs, from 0
        counts = ends.sum(dim=1)
        mask = real_positions(max(1, int(counts.max())), counts)
        known = torch.where(symbols < self.embedding.num_embeddings, symbols, UNKNOWN)
        vectors = self.dropout(self.embedding(known))
        words = vectors * word_weights(numbers, real & ~closing, like=vectors)
        belongs = numbers.clamp(max=mask.shape[1] - 1)[..., None].expand_as(words)  # padding belongs nowhere, and adds 0
        said = words.new_zeros(*mask.shape, words.shape[-1]).scatter_add(1, belongs, words)
        ages = counts[:, None] - 1 - torch.arange(mask.shape[1], device=symbols.device)
        when = self.ages(ages.clamp(0, self.ages.num_embeddings - 1))
        states = self.dropout((said + when) * math.sqrt(self.memory_size)).masked_fill(~mask[..., None], 0.0)
        summary = mean(states, mask)
        return Memory(states, mask, summary, ((summary,),))

    @property
    def multiplications(self) -> Multiplications:
        """None with a matrix."""
        return Multiplications()


def word_weights(numbers: Tensor, words: Tensor, *, like: Tensor) -> Tensor:
    """`l_kd = (1 - k/J) - (d/D) (1 - 2k/J)` of the k-th of J words of a sentence [B, S, D]; 0 of all that is no word.

    numbers [B, S]: of the sentences to which symbols belong; words [B, S]: which symbols are words; like: their vectors.
    """
    so_far = words.long().cumsum(dim=1)
    last = numbers.shape[1]  # no sentence has a higher number
    per_sentence = so_far.new_zeros(len(numbers), last + 1).scatter_add(1, numbers, words.long())
    before = per_sentence.cumsum(dim=1) - per_sentence
    share = (so_far - before.gather(1, numbers)).to(like) / per_sentence.gather(1, numbers).clamp(min=1)  # k/J
    size = like.shape[-1]
    width = torch.arange(1, size + 1).to(like) / size
    weights = (1 - share)[..., None] - width * (1 - 2 * share)[..., None]
    return weights * words[..., None]
