"""The search that a request asks for: the recipe's own, changed by what the request says."""

from typing import Any

from pydantic import ValidationError

from seqloom.prediction.constraints import Prefix
from seqloom.recipe.sections import Beam, Greedy, Sample, Search
from seqloom.server.answers.inputs import readable, within
from seqloom.server.problems import RequestError
from seqloom.server.schemas import SampleRequest, SearchOptions
from seqloom.server.settings import Limits


def search_of(default: Search, asked: SearchOptions, nbest: int, limits: Limits) -> Search:
    """Greedy or beam search. As wide as is asked for, wide enough for as many outputs as are wanted, or as the recipe says."""
    within(nbest, limits.nbest, "nbest")
    width = within(asked.beam, limits.beam, "beam") if asked.beam is not None else None
    if asked.beam is not None and asked.beam < nbest:
        raise RequestError(
            422, "invalid", f"nbest: a beam of {asked.beam} finds {asked.beam} outputs at most. Use a wider beam"
        )
    section: Search = default
    if width is not None or not isinstance(default, Beam | Greedy):
        section = Beam.like(default, width=max(width or Beam().width, nbest))
    elif nbest > section.rows:
        section = Beam.like(default, width=nbest)
    given: dict[str, Any] = {}
    if asked.length_power is not None and isinstance(section, Beam):
        given["length_power"] = asked.length_power
    if asked.minimum_length is not None:
        given["minimum_length"] = within(asked.minimum_length, limits.length, "minimum_length")
    if asked.maximum_length is not None:
        given |= {"length_factor": 0.0, "length_extra": within(asked.maximum_length, limits.length, "maximum_length")}
    if asked.forbid:
        given["forbid"] = tuple(asked.forbid)
    return _checked(section, given)


def sampling_of(default: Search, asked: SampleRequest, limits: Limits) -> Sample:
    """Drawing one text."""
    drawing = {"count": 1, "temperature": asked.temperature, "top_k": asked.top_k, "top_p": asked.top_p, "seed": asked.seed}
    within(asked.length, limits.length, "length")
    return Sample(**{**default.shared, **drawing, "minimum_length": 0})


def _checked(section: Search, given: dict[str, Any]) -> Search:
    try:
        return type(section)(**{**section.model_dump(), **given})
    except ValidationError as error:
        raise RequestError(422, "invalid", f"search: {error.errors()[0]['msg']}") from None


def prefix_of(prefix: str | list[int | str], limits: Limits) -> Prefix:
    """A prefix that is not too long."""
    if isinstance(prefix, str):
        return readable(prefix, limits, "prefix")
    within(len(prefix), limits.length, "prefix")
    return tuple(prefix)
