"""The search of a command: the recipe's own, changed by what was given on the command line."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.recipe.sections import Beam, Sample, Search

_Section = TypeVar("_Section", "Beam", "Sample")
_NOTHING: Mapping[str, Any] = {}


def choose_search(
    default: "Search",
    *,
    beam: Mapping[str, Any] = _NOTHING,
    sample: Mapping[str, Any] = _NOTHING,
    common: Mapping[str, Any] = _NOTHING,
) -> "Search":
    """The search to use. beam, sample, common: settings of those searches, and of all; None is a setting not given."""
    from seqloom.recipe.sections import Beam, Sample

    of_beam, of_sample, of_all = (
        {name: value for name, value in group.items() if value is not None} for group in (beam, sample, common)
    )
    if of_beam and of_sample:
        raise UsageError(
            f"options of beam search ({', '.join(of_beam)}) and of sampling ({', '.join(of_sample)}) exclude each other. "
            "Give those of one"
        )
    shared = default.shared | of_all
    if of_sample:
        if "count" not in of_sample:
            raise UsageError("sampling options go with --sample N: say how many outputs to draw")
        return _checked(Sample, shared | of_sample)
    if of_beam:
        before = default.model_dump() if isinstance(default, Beam) else {}
        return _checked(Beam, before | shared | of_beam)
    return default.model_copy(update=of_all)


def _checked(kind: "type[_Section]", values: dict[str, Any]) -> "_Section":
    from pydantic import ValidationError

    try:
        return kind(**values)
    except ValidationError as problem:
        first = problem.errors()[0]
        name = str(first["loc"][0]).replace("_", "-")
        raise UsageError(f"--{name}: {first['msg']}, got {first['input']}") from None
