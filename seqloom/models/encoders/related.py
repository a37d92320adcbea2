"""The encoder of sentences that are read together with a question, by the words that they have in common."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqloom.models.attention import MultiHeadAttention
from seqloom.models.dropout import SequenceDropout
from seqloom.models.embeddings import build_embedding
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.directions import real_positions
from seqloom.models.encoders.sentences import Parting, first_words, parted, summed
from seqloom.models.initialisation import start_small
from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.transformer_layers import FeedForward
from seqloom.recipe import sections
from seqloom.results.layouts import Sentences
from seqloom.symbols import END, UNKNOWN

NOTHING = -1
"""Stands where a sentence has no further word."""


_SHARPNESS = 5.0
"""How much larger what common words add to scores is at the start than what they add to values."""


@dataclass(frozen=True)
class Relations:
    """What pairs of sentences have in common: added to scores [B, H, N, N], and to values of every head [B, N, N, D / H]."""

    scores: Tensor
    values: Tensor


class RelatedEncoder(Encoder):
    """Reads the sentences of a text and a question, all at once, by the words that they have in common.

    A sentence is `sqrt(D) (sum_k p_k * e(w_k) + t_a)`: p_k, learnt, knows the place k of a word, and t_a that a sentences came
    after it; a of the question is 0. In every round all of them look at each other (`RelatedAttention`) and are thought over
    (`FeedForward`), each round with the same weights and a vector of its own (Dehghani et al. 2019). The sentences are the
    positions, and the question as it has become is the summary.
    """

    layout = Sentences()

    def __init__(self, section: sections.RelatedEncoder, vocabulary_size: int) -> None:
        super().__init__()
        self.neighbour = section.source
        self.memory_size = self.summary_size = section.memory_size
        self.embedding = build_embedding(vocabulary_size, section.size)
        self.ages = build_embedding(section.ages, section.size)
        self.places = nn.Parameter(torch.empty(section.places, section.size))
        nn.init.normal_(self.places, mean=1.0, std=0.3)  # nearly a sum of words, in which places can be told apart
        self.rounds = nn.Parameter(torch.empty(section.layers, section.size))
        start_small(self.rounds)
        self.attention = RelatedAttention(section)
        self.feed_forward = FeedForward(section)
        self.norm = nn.LayerNorm(section.size)
        self.dropout = SequenceDropout(section.dropout, locked=False)

    def read_beside(self, memories: Mapping[str, Memory], values: Tensor, lengths: Tensor) -> Memory:
        """Read it together with the question."""
        memory: Memory = self(values, lengths, memories[self.neighbour])
        return memory

    def forward(self, symbols: Tensor, lengths: Tensor, neighbour: Memory | None = None) -> Memory:
        """Symbols [B, S], lengths [B], and the question as its encoder wrote it -> Memory with a position for each sentence."""
        if neighbour is None or neighbour.symbols is None:
            raise TypeError("a text is read together with another source, which has words")
        parting, asked = parted(symbols, lengths), neighbour.mask & (neighbour.symbols != END)
        mask = real_positions(parting.most + 1, parting.counts + 1)
        question = torch.where(asked, neighbour.symbols, NOTHING)[:, None, : len(self.places)]
        words = _below(question, first_words(symbols, parting, len(self.places), NOTHING))  # [B, 1 + N, W]
        relations = self.attention.relations(words, mask)
        states = torch.cat([self._asked(neighbour.symbols, asked), self._said(symbols, parting)], dim=1)
        states = self.dropout((states + self._when(parting.counts, states.shape[1])) * math.sqrt(self.memory_size))
        looked = []
        for vector in self.rounds:
            states = states + vector
            read, weights = self.attention(states, relations)
            states = states + self.dropout(read)
            states = states + self.dropout(self.feed_forward(states))
            looked.append(weights)
        states = self.norm(states)
        summary = states[:, 0]
        return Memory(states[:, 1:], mask[:, 1:], summary, ((summary,),), looked=tuple(looked))

    def _asked(self, symbols: Tensor, words: Tensor) -> Tensor:
        """The words of the question, summed up [B, 1, D]; a mark at its end is none."""
        places = torch.arange(symbols.shape[1], device=symbols.device)
        return (self._placed(symbols, places) * words[..., None]).sum(dim=1, keepdim=True)

    def _said(self, symbols: Tensor, parting: Parting) -> Tensor:
        """The words of each sentence, summed up [B, N, D]."""
        return summed(self._placed(symbols, parting.places()[0] - 1) * parting.words[..., None], parting)

    def _placed(self, symbols: Tensor, places: Tensor) -> Tensor:
        """`p_k * e(w_k)` [B, S, D]; all places that are not told apart count as the last."""
        known = torch.where(symbols < self.embedding.num_embeddings, symbols, UNKNOWN)
        vectors: Tensor = self.embedding(known)
        return vectors * self.places[places.clamp(0, len(self.places) - 1)]

    def _when(self, counts: Tensor, number: int) -> Tensor:
        """`t_a` of the question and the sentences [B, 1 + N, D], of which there are so many [B]."""
        ages = counts[:, None] + 1 - torch.arange(number, device=counts.device)
        ages[:, 0] = 0
        when: Tensor = self.ages(ages.clamp(0, self.ages.num_embeddings - 1))
        return when

    @property
    def multiplications(self) -> Multiplications:
        """Attention and what follows it at every position, and what positions read in each other, round by round."""
        number = len(self.rounds)
        every = matrix_entries(self.attention, self.feed_forward) - matrix_entries(self.attention.common)
        return Multiplications(source=number * every, source_pair=3 * number * self.memory_size)


class RelatedAttention(MultiHeadAttention):
    """Attention between sentences that depends on their common words (A9, with relations as in Shaw et al. 2018).

    `r_ij = sum r_kl / n(w)` over all k and l for which the k-th word w of sentence i is the l-th of j; w stands n(w) times in
    the text and the question, so that words that are everywhere relate little. The first H entries of r_ij are added to the
    scores of the heads, the D / H others to the values that each head reads in j for i. Words behind the last place are not
    compared: one sentence without an end must not make all pairs as wide as it is long.
    """

    def __init__(self, section: sections.RelatedEncoder) -> None:
        super().__init__(section.size, section.size, heads=section.heads, size=section.size)
        self.norm = nn.LayerNorm(section.size)
        self.places = section.places
        self.common = nn.Linear(section.places**2, section.heads + section.size // section.heads, bias=False)
        # Sharp from the start: heads that look at nearly everything learn no chain of facts, and those that look at one kind of
        # common word or another find theirs among them.
        nn.init.normal_(self.common.weight)
        with torch.no_grad():
            self.common.weight[: section.heads] *= _SHARPNESS

    def relations(self, words: Tensor, mask: Tensor) -> Relations:
        """What the sentences of words [B, N, W] have in common; those that the mask [B, N] lacks are not looked at."""
        same = (words[:, :, None, :, None] == words[:, None, :, None]) & (words != NOTHING)[:, :, None, :, None]
        shares = same.to(self.common.weight)  # [B, N, N, W, W]
        shares = shares / shares.sum(dim=(2, 4), keepdim=True).clamp(min=1.0)
        place = torch.arange(words.shape[2], device=words.device)
        pairs = (place[:, None] * self.places + place).flatten()
        found = shares.flatten(3) @ self.common.weight[:, pairs].T
        lowest = torch.finfo(found.dtype).min
        scores = found[..., : self.heads].permute(0, 3, 1, 2).masked_fill(~mask[:, None, None], lowest)
        return Relations(scores, found[..., self.heads :])

    def forward(self, states: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """What states [B, N, D] read in one another, and with what weights [B, H, N, N]."""
        normed = self.norm(states)
        queries, keys, values = (self._split(layer(normed)) for layer in (self.to_query, self.to_key, self.to_value))
        scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])
        weights = torch.softmax(scores + relations.scores, dim=-1)
        related = weights.transpose(1, 2) @ relations.values  # [B, N, H, D / H]
        return self._join(weights @ values + related.transpose(1, 2)), weights


def _below(question: Tensor, said: Tensor) -> Tensor:
    """The question [B, 1, W'] and sentences [B, N, W], one below the other."""
    width = max(question.shape[-1], said.shape[-1])
    return torch.cat([nn.functional.pad(one, (0, width - one.shape[-1]), value=NOTHING) for one in (question, said)], dim=1)
