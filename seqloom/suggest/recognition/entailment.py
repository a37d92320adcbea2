"""Tables of sentence pairs of which one does or does not follow from the other: their classes tell."""

from collections.abc import Sequence

from seqloom.suggest.recognition.columns import Column
from seqloom.suggest.recognition.naming import ColumnChoice

ENTAILMENT_SOURCES = ("premise", "hypothesis")
_CLASSES = frozenset({"entailment", "neutral", "contradiction", "unknown", "not_entailment", "not entailment"})


def by_entailment(columns: Sequence[Column]) -> ColumnChoice | None:
    """Premise, hypothesis and class: two columns of text before one that has the classes of entailment and no other values."""
    for target in columns:
        found = {value.strip().lower() for value in target.values if value.strip()}
        texts = [one for one in columns if one.holds == "text" and not one.classes and one is not target]
        if len(found) > 1 and "entailment" in found and found <= _CLASSES and len(texts) == 2:
            sources = dict(zip(ENTAILMENT_SOURCES, texts, strict=True))
            return ColumnChoice(sources, target, "by the classes of entailment")
    return None
