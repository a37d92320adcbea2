"""What metrics are called, which way they point, and which of them one usually wants."""

from collections.abc import Mapping, Sequence
from typing import get_args

from seqloom.metrics.sums import Item
from seqloom.recipe.sections import MetricName

Name = MetricName

PAIRS: tuple[Name, ...] = ("exact_match", "symbol_error_rate", "cer", "wer", "bleu", "chrf")
"""What is measured where every item has one reference."""

CAPTIONS: tuple[Name, ...] = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l_coco", "cider")
"""What is measured where items have several references: what papers on captions print, in their order."""

SUMMARIES: tuple[Name, ...] = ("rouge_1", "rouge_2", "rouge_l")
"""What is measured of summaries and of answers in free words."""

REPLIES: tuple[Name, ...] = ("bleu", "chrf", "distinct_1", "distinct_2")
"""What is measured of replies, of which many are right."""

FAMILIES: Mapping[str, tuple[Name, ...]] = {
    **dict.fromkeys(SUMMARIES, SUMMARIES),
    **dict.fromkeys(("distinct_1", "distinct_2"), REPLIES),
    "slot_error_rate": ("slot_error_rate", "bleu", "chrf"),
    "kept_f1": ("kept_f1", "exact_match", *SUMMARIES),
}
"""What is measured where weights are chosen by a metric that belongs to a field of its own."""

ALL: tuple[Name, ...] = get_args(Name)
"""Every metric that can be computed from outputs and references."""

SLOW: frozenset[Name] = frozenset({"meteor"})
"""Metrics that take seconds, however few the items: nothing for every validation, unless it is the one that decides."""

_LOWER_IS_BETTER = frozenset({"symbol_error_rate", "cer", "wer", "slot_error_rate"})

HIGHER_IS_BETTER: Mapping[str, bool] = {"loss": False, **{name: name not in _LOWER_IS_BETTER for name in ALL}}
"""The direction of every metric a recipe may name."""


def usual(items: Sequence[Item]) -> tuple[Name, ...]:
    """The metrics that are measured if nobody names any."""
    return CAPTIONS if any(len(item.references) > 1 for item in items) and not are_classes(items) else PAIRS


def are_classes(items: Sequence[Item]) -> bool:
    """Whether all that is wanted is one symbol: a class, which is right or wrong, however many are right."""
    return all(len(symbols) == 1 for item in items for symbols in item.references_symbols)


def unknown(name: str, choices: Sequence[str]) -> str:
    """The sentence for a metric that does not exist."""
    return f"There is no metric {name!r}. Choose from: {', '.join(choices)}."
