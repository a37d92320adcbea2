"""The search of a command: the recipe's own, changed by what was given on the command line."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.recipe.sections import Search

_NOTHING: Mapping[str, Any] = {}


class SearchKind(StrEnum):
    """The searches that there are."""

    GREEDY = "greedy"
    BEAM = "beam"
    SAMPLE = "sample"
    EXHAUSTIVE = "exhaustive"


_OPTIONS = {"width": "--beam", "count": "--sample", "length_extra": "--maximum-length", "ctc": "--ctc-weight"}
"""Settings whose options have other names."""


def choose_search(
    default: "Search",
    *,
    kind: SearchKind | None = None,
    nbest: int | None = None,
    beam: Mapping[str, Any] = _NOTHING,
    sample: Mapping[str, Any] = _NOTHING,
    common: Mapping[str, Any] = _NOTHING,
) -> "Search":
    """The search to use. beam, sample, common: settings of those searches, and of all; None is a setting not given.

    kind: which one it has to be. nbest: so many outputs are wanted of it, if it can be told.
    """
    of_beam, of_sample, of_all = (
        {name: value for name, value in group.items() if value is not None} for group in (beam, sample, common)
    )
    _require_one_kind(kind, of_beam, of_sample)
    shared = default.shared | of_all
    if kind is None and of_sample:
        if "count" not in of_sample:
            raise UsageError("sampling options go with --sample N: say how many outputs to draw")
        kind = SearchKind.SAMPLE
    elif kind is None:
        kind = SearchKind.BEAM if of_beam else SearchKind(default.kind)
    own = {SearchKind.BEAM: of_beam, SearchKind.SAMPLE: of_sample, SearchKind.EXHAUSTIVE: of_beam}.get(kind, {})
    if nbest and kind in (SearchKind.SAMPLE, SearchKind.EXHAUSTIVE):
        own = {"count": nbest, **own}
    before = default.model_dump() if default.kind == kind and (kind != SearchKind.SAMPLE or not of_sample) else {}
    return _checked(kind, before | shared | own)


def parse_biases(given: list[str] | None) -> dict[str, float] | None:
    """The biases of --bias SYMBOL=X; None if none was given."""
    found = {}
    for one in given or ():
        symbol, _, number = one.rpartition("=")
        try:
            found[symbol] = float(number)
        except ValueError:
            symbol = ""
        if not symbol:
            raise UsageError(f"--bias {one}: expected a symbol and a number, such as --bias the=0.5 or --bias 1=-0.3")
    return found or None


def parse_speeds(given: str | None) -> tuple[float, ...] | None:
    """The speeds of --speeds X,...; None if it was not given."""
    if given is None:
        return None
    try:
        return tuple(float(one) for one in given.split(","))
    except ValueError:
        raise UsageError(f"--speeds {given}: expected numbers with commas between them, such as --speeds 0.85,1,1.15") from None


def _require_one_kind(kind: SearchKind | None, of_beam: Mapping[str, Any], of_sample: Mapping[str, Any]) -> None:
    """Refuse options of searches that exclude each other."""
    if of_beam and of_sample:
        raise UsageError(
            f"options of beam search ({', '.join(of_beam)}) and of sampling ({', '.join(of_sample)}) exclude each other. "
            "Give those of one"
        )
    # Every output that an exhaustive search finds is ranked as a beam would.
    fitting: Mapping[SearchKind, set[str]] = {
        SearchKind.BEAM: set(of_beam),
        SearchKind.SAMPLE: set(of_sample),
        SearchKind.EXHAUSTIVE: {"length_power"},
    }
    foreign = [name for name in (*of_beam, *of_sample) if name not in fitting.get(kind, set())] if kind is not None else []
    if foreign:
        raise UsageError(
            f"--search {kind} goes without {', '.join(map(_option, foreign))}: that is for another search. Leave it out"
        )


def _option(setting: str) -> str:
    return _OPTIONS.get(setting, f"--{setting.replace('_', '-')}")


def _checked(kind: SearchKind, values: dict[str, Any]) -> "Search":
    from pydantic import ValidationError

    from seqloom.recipe.sections import Beam, Exhaustive, Greedy, Sample

    sections: Mapping[SearchKind, type[Search]] = {
        SearchKind.GREEDY: Greedy,
        SearchKind.BEAM: Beam,
        SearchKind.SAMPLE: Sample,
        SearchKind.EXHAUSTIVE: Exhaustive,
    }
    minimum, maximum = values.get("minimum_length", 0), values.get("length_extra", 0)
    if not values.get("length_factor") and minimum >= max(1, maximum):
        raise UsageError(
            f"--minimum-length {minimum} and --maximum-length {maximum}: no output could ever end, since its end counts too. "
            f"Give a --minimum-length below {maximum}, or a --maximum-length of {minimum + 1} or more"
        )
    try:
        return sections[kind](**values)
    except ValidationError as problem:
        first = problem.errors()[0]
        expected = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{_option(str(first['loc'][0]))}: {expected}, got {first['input']}") from None
