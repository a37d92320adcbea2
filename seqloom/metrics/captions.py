"""BLEU, ROUGE-L and CIDEr-D as the COCO caption tools compute them: metrics of captions with several references.

The tools also have METEOR, which is a program of its own (`meteor.py`).
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version

import numpy as np

from seqloom.metrics.edits import longest_common_subsequence
from seqloom.metrics.sums import Item, Measure, Table, mean_of
from seqloom.metrics.translation import too_short
from seqloom.metrics.words import Ngram, caption_words, ngrams

WORDS = "words as the COCO caption tools make them: lower case, no punctuation"
_ORDERS = (1, 2, 3, 4)
_TINY, _SMALL = 1e-15, 1e-9  # what the COCO tools add to matches and to n-grams, so that nothing is divided by zero
_RECALL_WEIGHT = 1.2  # the beta of ROUGE-L
_LENGTH_SIGMA = 6.0
_CIDER_SCALE = 10.0
_NO_NEWS = "the references of all items have the same words, and CIDEr weighs a word by how few items have it"


class Captions:
    """Outputs and references as words. What several metrics need is counted when the first of them asks."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.hypotheses = [caption_words(item.hypothesis) for item in items]
        self.references = [[caption_words(reference) for reference in item.references] for item in items]

    @cached_property
    def hypotheses_ngrams(self) -> list[Counter[Ngram]]:
        """The 1- to 4-grams of each output."""
        return [_all_ngrams(words) for words in self.hypotheses]

    @cached_property
    def references_ngrams(self) -> list[list[Counter[Ngram]]]:
        """The 1- to 4-grams of each reference of each item."""
        return [[_all_ngrams(words) for words in references] for references in self.references]

    @cached_property
    def bleu_table(self) -> Table:
        """Rows of words written, words of the reference closest in length, n-grams written and n-grams matched, by order."""
        return np.array([list(row) for row in map(_bleu_row, self.hypotheses_ngrams, self.references_ngrams)], dtype=np.float64)


def _all_ngrams(words: Sequence[str]) -> Counter[Ngram]:
    counts: Counter[Ngram] = Counter()
    for order in _ORDERS:
        counts.update(ngrams(words, order))
    return counts


def _size(counts: Mapping[Ngram, int]) -> int:
    """The number of words."""
    return sum(count for ngram, count in counts.items() if len(ngram) == 1)


def _signature(what: str) -> str:
    return f"{what}, {WORDS}, seqloom {version('seqloom')}"


# --- BLEU -----------------------------------------------------------------------------------------------------------


def bleu(captions: Captions, order: int, *, penalised: bool) -> Measure:
    """Corpus BLEU with equal weights for n-grams up to an order, with or without the penalty for too short outputs."""
    penalty = "brevity penalty by the closest reference" if penalised else "no brevity penalty"
    signature = _signature(f"BLEU of 1- to {order}-grams in equal parts, {penalty}")
    longest = max(len(words) for references in captions.references for words in references)

    def score(sums: Table) -> float:
        return _bleu_score(sums, order, penalised=penalised)

    return Measure(captions.bleu_table, score, signature, too_short(order) if longest < order else "")


def _bleu_row(hypothesis: Counter[Ngram], references: Sequence[Counter[Ngram]]) -> Iterator[int]:
    size = _size(hypothesis)
    yield size
    yield min((_size(reference) for reference in references), key=lambda one: (abs(one - size), one))
    most: Counter[Ngram] = Counter()
    for reference in references:
        most |= reference
    matches = hypothesis & most
    for order in _ORDERS:
        yield max(0, size - order + 1)
        yield sum(count for ngram, count in matches.items() if len(ngram) == order)


def _bleu_score(sums: Table, order: int, *, penalised: bool) -> float:
    written, wanted = sums[:2]
    if not written:
        return 0.0
    counted, matched = sums[2::2][:order], sums[3::2][:order]
    mean = float(np.exp(np.log((matched + _TINY) / (counted + _SMALL)).mean()))
    return 100.0 * mean * (math.exp(min(0.0, 1.0 - wanted / written)) if penalised else 1.0)


# --- ROUGE-L --------------------------------------------------------------------------------------------------------


def rouge_l(captions: Captions) -> Measure:
    """The longest common subsequence with each reference: the best precision of all, with the best recall of all."""
    common = longest_common_subsequence()

    def value(hypothesis: list[str], references: list[list[str]]) -> float:
        lengths = [common(hypothesis, reference) for reference in references]
        precision = max(lengths) / max(1, len(hypothesis))
        recall = max(length / max(1, len(reference)) for length, reference in zip(lengths, references, strict=True))
        beta = _RECALL_WEIGHT**2
        return (1 + beta) * precision * recall / (recall + beta * precision) if precision else 0.0

    signature = _signature("ROUGE-L, F with beta 1.2 of the best precision and the best recall over references, mean of items")
    return mean_of(map(value, captions.hypotheses, captions.references), signature)


# --- CIDEr-D --------------------------------------------------------------------------------------------------------


def cider(captions: Captions) -> Measure:
    """How alike the n-grams of output and references are, where one counts the more the fewer items' references have it."""
    rarity = _rarity(captions.references_ngrams)
    unseen = math.log(len(captions.references))
    hypotheses = [_Vector(counts, rarity, unseen) for counts in captions.hypotheses_ngrams]
    references = [[_Vector(counts, rarity, unseen) for counts in each] for each in captions.references_ngrams]
    values = [
        _CIDER_SCALE * sum(hypothesis.likeness(reference) for reference in each) / len(each)
        for hypothesis, each in zip(hypotheses, references, strict=True)
    ]
    signature = _signature(
        "CIDEr-D of 1- to 4-grams, x 100 (at most 1000), sigma 6, document frequencies of all these references, mean of items"
    )
    return mean_of(values, signature, "" if any(rarity.values()) else _NO_NEWS)


def _rarity(references: Sequence[Sequence[Counter[Ngram]]]) -> dict[Ngram, float]:
    """The logarithm of one in how many items has an n-gram in its references."""
    items_with = Counter(ngram for each in references for ngram in set().union(*each))
    return {ngram: math.log(len(references) / count) for ngram, count in items_with.items()}


class _Vector:
    """N-grams of a text by count and rarity, and how long the vector of each order is."""

    def __init__(self, counts: Counter[Ngram], rarity: Mapping[Ngram, float], unseen: float) -> None:
        self.weights = {ngram: count * rarity.get(ngram, unseen) for ngram, count in counts.items()}
        self.size = _size(counts)
        squares = [0.0] * len(_ORDERS)
        for ngram, weight in self.weights.items():
            squares[len(ngram) - 1] += weight * weight
        self.norms = [math.sqrt(square) for square in squares]

    def likeness(self, reference: "_Vector") -> float:
        """The mean cosine over orders, less for another length. Repeating an n-gram that the reference has gains nothing."""
        products = [0.0] * len(_ORDERS)
        for ngram, weight in self.weights.items():
            wanted = reference.weights.get(ngram)
            if wanted:
                products[len(ngram) - 1] += min(weight, wanted) * wanted
        cosines = (
            product / (norm * other) if product else 0.0
            for product, norm, other in zip(products, self.norms, reference.norms, strict=True)
        )
        longer = self.size - reference.size
        return sum(cosines) / len(_ORDERS) * math.exp(-(longer**2) / (2 * _LENGTH_SIGMA**2))
