"""Words are those of the public tools. What PTBTokenizer makes of these texts was looked up, since it is a Java program."""

import pytest
from rouge_score.tokenize import tokenize

from seqloom.metrics.words import caption_words, ngrams, summary_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A Dog runs , a cat sits .", "a dog runs a cat sits"),
        ("A dog runs, a cat sits.", "a dog runs a cat sits"),
        ("A man's dog isn't here, is it?", "a man 's dog is n't here is it"),
        ("they don\u2019t; we'll see I'm he'd you've they're", "they do n't we 'll see i 'm he 'd you 've they 're"),
        ("the dogs' owners", "the dogs owners"),
        ("a \"quoted\" sign says 'stop' ...", "a quoted sign says stop"),
        ("dogs--two of them--run - fast", "dogs two of them run fast"),
        ("a t-shirt, a 3-year-old, 10:30, 3.5 of 3,000 and/or 1/2", "a t-shirt a 3-year-old 10:30 3.5 of 3,000 and/or 1/2"),
        ("it's 50% & #1", "it 's 50 % & # 1"),
        ("Mr. Smith at 5 p.m. in the U.S.", "mr. smith at 5 p.m. in the u.s."),
        ("(in the park)", "-lrb- in the park -rrb-"),
        ("they cannot", "they can not"),
        ("café naïve", "café naïve"),
        ("नमस्ते दुनिया, यह है।", "नमस्ते दुनिया यह है"),
        ("", ""),
    ],
)
def test_words_of_captions(text: str, words: str) -> None:
    assert caption_words(text) == words.split()


@pytest.mark.parametrize("text", ["A T-shirt, isn't it? 3.5 x_y", "  ", "(a) [b] C&D"])
def test_words_of_summaries_are_those_of_rouge_score(text: str) -> None:
    assert summary_words(text) == tokenize(text, None)


def test_words_of_summaries_keep_the_letters_of_every_script() -> None:
    assert summary_words("Café, नमस्ते दुनिया! 42") == ["café", "नमस्ते", "दुनिया", "42"]


def test_ngrams_are_counted() -> None:
    assert ngrams(["a", "b", "a", "b"], 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert not ngrams(["a"], 2)
