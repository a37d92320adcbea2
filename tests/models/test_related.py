"""Sentences that are read together with a question, by the words that they have in common."""

import torch

from seqloom.models.encoders import RelatedEncoder
from seqloom.models.encoders.sentences import first_words, parted
from seqloom.models.memory import Memory
from seqloom.recipe import sections
from seqloom.symbols import END


def test_a_sentence_without_an_end_does_not_make_all_others_as_wide() -> None:
    text = torch.tensor([[5] * 500 + [END] + [6, END] * 100])
    found = first_words(text, parted(text, torch.tensor([text.shape[1]])), 16, -1)
    assert found.shape == (1, 101, 16)
    assert found[0, 1].tolist() == [6] + [-1] * 15


def test_what_a_sentence_is_told_depends_on_the_words_that_it_shares() -> None:
    torch.manual_seed(1)
    encoder = RelatedEncoder(sections.RelatedEncoder(source="question", size=8, heads=2), 12)
    relations = encoder.attention.relations
    words = torch.tensor([[[5, 6], [5, 7], [8, 9]]])  # the question shares a word with the first sentence alone
    scores = relations(words, torch.ones(1, 3, dtype=torch.bool)).scores[0]
    assert bool((scores[:, 0, 1] != 0).all())
    assert bool((scores[:, 0, 2] == 0).all())
    question = Memory(torch.zeros(1, 2, 4), torch.ones(1, 2, dtype=torch.bool), torch.zeros(1, 4), (), words[:, 0])
    text = torch.tensor([[5, 7, END, 8, 9, END]])
    assert encoder(text, torch.tensor([6]), question).states.shape == (1, 2, 8)
