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

ALL: tuple[Name, ...] = get_args(Name)
"""Every metric that can be computed from outputs and references."""

SLOW: frozenset[Name] = frozenset({"meteor"})
"""Metrics that take seconds, however few the items: nothing for every validation, unless it is the one that decides."""

_LOWER_IS_BETTER = frozenset({"symbol_error_rate", "cer", "wer"})

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
