"""Whether the cells of a table are what its sources are said to be, where file and line are known."""

from collections.abc import Iterator, Mapping
from typing import Any

from seqloom.data.examples import Example, ReadingProblem, Report, is_empty
from seqloom.data.kinds import kind_of
from seqloom.data.kinds.contract import SourceKind
from seqloom.recipe.sections import Source


def checked(
    examples: Iterator[Example], sources: Mapping[str, Source], report: Report, *, blank: bool = False
) -> Iterator[Example]:
    """Let examples through whose sources are what the recipe says they are. blank: an empty source may pass, too."""
    kinds = {name: kind for name, source in sources.items() if (kind := kind_of(source)).refusal is not None}
    return (example for example in examples if _fits(example, kinds, report, blank=blank)) if kinds else examples


def _fits(example: Example, kinds: Mapping[str, SourceKind[Any]], report: Report, *, blank: bool) -> bool:
    for name, kind in kinds.items():
        cell = example.sources[name]
        trouble = None if blank and is_empty(cell) else kind.trouble_with(cell)
        if trouble is not None and kind.refusal is not None:
            report(ReadingProblem(kind.refusal, example.origin, trouble))
            return False
    return True
