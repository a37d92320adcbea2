"""Encoders of texts that consist of sentences, each of which becomes one position."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from seqloom.models.dropout import InputDropout, SequenceDropout
from seqloom.models.embeddings import build_embedding
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.directions import real_positions
from seqloom.models.encoders.text import RecurrentEncoder, mean
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
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
        known = torch.where(symbols < self.embedding.num_embeddings, symbols, UNKNOWN)
        said, counts = sentence_sums(self.dropout(self.embedding(known)), symbols, lengths)
        mask = real_positions(said.shape[1], counts)
        ages = counts[:, None] - 1 - torch.arange(said.shape[1], device=symbols.device)
        when = self.ages(ages.clamp(0, self.ages.num_embeddings - 1))
        states = self.dropout((said + when) * math.sqrt(self.memory_size)).masked_fill(~mask[..., None], 0.0)
        summary = mean(states, mask)
        return Memory(states, mask, summary, ((summary,),))

    @property
    def multiplications(self) -> Multiplications:
        """None with a matrix."""
        return Multiplications()


class AskedEncoder(RecurrentEncoder):
    """Reads a text sentence by sentence with a question in mind, that is, with the summary q of another source.

    A sentence is `f = sqrt(E) sum_k l_k * e(x_k)`, as in SentenceEncoder; with `u = tanh(W q + b)`, a recurrent network reads
    `[f; f * u; u]`. Its states are the positions: each knows what of the text before and after it bears on the question.
    """

    layout = Sentences()

    def __init__(self, section: sections.AskedEncoder, vocabulary_size: int, question_size: int) -> None:
        super().__init__(section)
        self.neighbour = section.source
        self.embedding = build_embedding(vocabulary_size, section.embedding)
        self.input_dropout = InputDropout(section)
        self.question = Linear(question_size, section.embedding)
        self._add_layers(section, 3 * section.embedding, reads_embedding=False)

    def read_beside(self, memories: Mapping[str, Memory], values: Tensor, lengths: Tensor) -> Memory:
        """Read it with the other source in mind."""
        memory: Memory = self(values, lengths, memories[self.neighbour])
        return memory

    def forward(self, symbols: Tensor, lengths: Tensor, neighbour: Memory | None = None) -> Memory:
        """Symbols [B, S], lengths [B], and the question as its encoder wrote it -> Memory with a position for each sentence."""
        if neighbour is None:
            raise TypeError("a text is read with another source in mind")
        known = torch.where(symbols < self.embedding.num_embeddings, symbols, UNKNOWN)
        said, counts = sentence_sums(self.input_dropout(self.embedding, known), symbols, lengths)
        said = said * math.sqrt(self.embedding.embedding_dim)
        asked = torch.tanh(self.question(neighbour.summary))[:, None].expand_as(said)
        states, finals = self.read(torch.cat([said, said * asked, asked], dim=-1), counts)
        return Memory(self.dropout(states), real_positions(said.shape[1], counts), finals[-1][0], finals)

    @property
    def multiplications(self) -> Multiplications:
        """The question, and all cells at every position."""
        return super().multiplications + Multiplications(sentence=matrix_entries(self.question))


@dataclass(frozen=True)
class Parting:
    """Symbols [B, S] of texts, parted into sentences: counts [B], how many there are.

    numbers [B, S]: of the sentences to which symbols belong, from 0; words [B, S]: which symbols are words.
    """

    counts: Tensor
    numbers: Tensor
    words: Tensor

    @property
    def most(self) -> int:
        """How many sentences a text has at most, and at least one."""
        return max(1, int(self.counts.max()))

    def places(self) -> tuple[Tensor, Tensor]:
        """The place of each word in its sentence [B, S], from 1, and of how many words that sentence is [B, S]."""
        so_far = self.words.long().cumsum(dim=1)
        last = self.numbers.shape[1]  # no sentence has a higher number
        per_sentence = so_far.new_zeros(len(so_far), last + 1).scatter_add(1, self.numbers, self.words.long())
        before = per_sentence.cumsum(dim=1) - per_sentence
        return so_far - before.gather(1, self.numbers), per_sentence.gather(1, self.numbers)


def parted(symbols: Tensor, lengths: Tensor) -> Parting:
    """Part texts of the given lengths [B] where the symbol `end` stands."""
    real = real_positions(symbols.shape[1], lengths)
    closing = real & (symbols == END)
    last = torch.arange(symbols.shape[1], device=symbols.device) == lengths[:, None] - 1
    ends = closing | last  # also of a last sentence that nothing closes
    return Parting(ends.sum(dim=1), ends.cumsum(dim=1) - ends.long(), real & ~closing)


def first_words(symbols: Tensor, parting: Parting, most: int, nothing: int) -> Tensor:
    """The first words of each sentence [B, N, W], `most` of them at most, `nothing` behind them."""
    places, _ = parting.places()
    wanted = parting.words & (places <= most)
    width = max(1, int(places.masked_fill(~wanted, 0).max())) if places.numel() else 1
    slots = parting.most * width
    slot = torch.where(wanted, parting.numbers * width + places - 1, slots)  # all else goes behind the last
    table = symbols.new_full((len(symbols), slots + 1), nothing).scatter(1, slot, symbols)
    return table[:, :-1].view(len(symbols), parting.most, width)


def sentence_sums(vectors: Tensor, symbols: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """`sum_k l_k * e(x_k)` of each sentence [B, N, D], zeros behind the last one, and how many there are [B].

    vectors [B, S, D]: of the symbols [B, S] in texts of the given lengths [B].
    """
    parting = parted(symbols, lengths)
    return summed(vectors * word_weights(parting, like=vectors), parting), parting.counts


def summed(words: Tensor, parting: Parting) -> Tensor:
    """Vectors [B, S, D], which are zeros where no word is, summed up for each sentence [B, N, D]."""
    belongs = parting.numbers.clamp(max=parting.most - 1)[..., None].expand_as(words)  # padding belongs nowhere, and adds 0
    return words.new_zeros(len(words), parting.most, words.shape[-1]).scatter_add(1, belongs, words)


def word_weights(parting: Parting, *, like: Tensor) -> Tensor:
    """`l_kd = (1 - k/J) - (d/D) (1 - 2k/J)` of the k-th of J words of a sentence [B, S, D]; 0 of all that is no word.

    like: the vectors of words.
    """
    places, counts = parting.places()
    share = places.to(like) / counts.clamp(min=1)  # k/J
    size = like.shape[-1]
    width = torch.arange(1, size + 1).to(like) / size
    weights = (1 - share)[..., None] - width * (1 - 2 * share)[..., None]
    return weights * parting.words[..., None]
