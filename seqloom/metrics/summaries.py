"""ROUGE as the library rouge-score computes it: metrics of summaries."""

from collections.abc import Callable, Sequence
from importlib.metadata import version

from seqloom.metrics.edits import longest_common_subsequence
from seqloom.metrics.sums import Item, Measure, mean_of
from seqloom.metrics.words import ngrams, summary_words

_HOW = "F1 with the reference that gives most, mean of items, words are lower-cased runs of letters and digits, no stemming"


class Summaries:
    """Outputs and references as words."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.pairs = [
            (summary_words(item.hypothesis), [summary_words(reference) for reference in item.references]) for item in items
        ]


def rouge_n(summaries: Summaries, order: int) -> Measure:
    """Runs of so many words in common."""

    def value(hypothesis: list[str], reference: list[str]) -> float:
        written, wanted = ngrams(hypothesis, order), ngrams(reference, order)
        return _f1((written & wanted).total(), written.total(), wanted.total())

    return _with_the_best_reference(f"ROUGE-{order}", value, summaries)


def rouge_l(summaries: Summaries) -> Measure:
    """The longest common subsequence of words."""
    common = longest_common_subsequence()

    def value(hypothesis: list[str], reference: list[str]) -> float:
        return _f1(common(hypothesis, reference), len(hypothesis), len(reference))

    return _with_the_best_reference("ROUGE-L", value, summaries)


def _with_the_best_reference(name: str, value: Callable[[list[str], list[str]], float], summaries: Summaries) -> Measure:
    values = (max(value(hypothesis, reference) for reference in references) for hypothesis, references in summaries.pairs)
    return mean_of(values, f"{name}, {_HOW}, seqloom {version('seqloom')}")


def _f1(common: int, written: int, wanted: int) -> float:
    """The harmonic mean of common / written and common / wanted."""
    return 2 * common / (written + wanted) if common else 0.0
