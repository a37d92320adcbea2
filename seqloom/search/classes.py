"""Outputs that are classes, one symbol each: what a search for several of them has to know."""

from collections.abc import Sequence

from seqloom.recipe.sections import Beam, Greedy, Search
from seqloom.search.contracts import Hypothesis


def ranking_classes(section: Search, nbest: int) -> Search:
    """A search that finds as many classes as are asked for, by their probability: all are equally long."""
    match section:
        case Beam(width=width):
            return section.model_copy(update={"width": max(width, nbest), "length_power": 0.0})
        case Greedy() if nbest > 1:
            return Beam(width=nbest, length_power=0.0, **section.shared)
        case _:
            return section


def each_once(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Outputs without repeats, in their order: a class that was drawn several times is still one."""
    found: dict[int, Hypothesis] = {}
    for hypothesis in hypotheses:
        found.setdefault(int(hypothesis.tokens[0]), hypothesis)
    return list(found.values())
