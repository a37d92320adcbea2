"""Items for the tests of metrics."""

import random

from seqloom.metrics import ALL, SLOW, Item

_NOT_OF_REFERENCES = frozenset({"slot_error_rate", "distinct_1", "distinct_2"})
"""What looks at the source, or at outputs alone: they have tests of their own."""

QUICK = tuple(name for name in ALL if name not in SLOW | _NOT_OF_REFERENCES)
"""The metrics that compare with references and need no program of their own."""


def item(hypothesis: str, *references: str, source_length: int = 5) -> Item:
    symbols = tuple(tuple(reference) for reference in references)
    return Item(hypothesis, references, tuple(hypothesis), symbols, source_length)


def noisy_items(count: int, words: int = 8) -> list[Item]:
    """References of random words, and hypotheses that miss about a tenth of the characters."""
    chance = random.Random(5)
    items = []
    for _ in range(count):
        length = chance.randint(1, words)
        reference = " ".join("".join(chance.choices("abcdefg", k=chance.randint(1, 6))) for _ in range(length))
        hypothesis = "".join(character for character in reference if chance.random() > 0.1)
        items.append(item(hypothesis, reference, source_length=length))
    return items


def caption_items(count: int, references: int = 5) -> list[Item]:
    """Captions of few words in random order: one to so many references each, and a hypothesis like one of them."""
    chance = random.Random(6)
    vocabulary = [f"{syllable}{ending}" for syllable in ("ka", "lo", "mi", "ne") for ending in ("", "n", "r", "st", "x")]
    items = []
    for _ in range(count):
        topic = chance.sample(vocabulary, 6)
        texts = [" ".join(chance.choices(topic, k=chance.randint(3, 14))) for _ in range(chance.randint(1, references))]
        words = [word for word in chance.choice(texts).split() if chance.random() > 0.2]
        items.append(item(" ".join([*words, *chance.choices(vocabulary, k=2)]), *texts))
    return items
