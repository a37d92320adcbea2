"""How outputs are found."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from seqloom.recipe.sections.base import Count, Named, Positive, Section

WIDEST_BEAM = 1000
"""Beams get no better beyond some tens; all that a wider one could do is to take the memory of whoever runs it."""


Biases = Annotated[dict[str, Annotated[float, Field(ge=-100, le=100)]], AfterValidator(Named)]
"""Numbers by symbols."""


def _once_each(speeds: tuple[float, ...]) -> tuple[float, ...]:
    """Attention is shown over a recording as it is."""
    if speeds and (1.0 not in speeds or len(set(speeds)) < len(speeds)):
        raise ValueError("expected different speeds, and 1 among them, such as 0.85, 1 and 1.15")
    return speeds


Speeds = Annotated[tuple[Annotated[float, Field(ge=0.5, le=2.0)], ...], Field(max_length=9), AfterValidator(_once_each)]
"""At which a recording is heard."""


class SearchSection(Section):
    """What all searches share. The longest output is `length_factor * source length + length_extra` symbols, `end` included."""

    length_factor: Annotated[float, Field(ge=0, le=1000)] = 2.0
    length_extra: Annotated[int, Field(ge=0, le=10_000_000)] = 10
    minimum_length: Count = 0
    """So many symbols before `end` may come."""
    forbid: tuple[str, ...] = ()
    """Symbols that may not be written, as they stand in the vocabulary."""
    bias: Biases = Named({})
    """What is added to the log-probabilities of symbols, as they stand in the vocabulary, before these are made to sum to 1."""
    ctc: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The share of what CTC says in what ranks symbols; for models with `model.ctc`."""

    speeds: Speeds = ()
    """A recording is heard at each of these, such as 0.85, 1.0 and 1.15, and an output has to suit all. Nothing: as it is."""

    @model_validator(mode="after")
    def _outputs_may_end(self) -> Self:
        if not self.length_factor and self.minimum_length >= max(1, self.length_extra):
            raise ValueError(
                f"`minimum_length` asks for {self.minimum_length} symbols before the end, and no output may have more than "
                f"{max(1, self.length_extra)} with it (`length_extra`), so none could end. Lower the one or raise the other"
            )
        return self

    @property
    def rows(self) -> int:
        """How many outputs of a source are worked on at once."""
        return 1

    @property
    def shared(self) -> dict[str, Any]:
        """The settings that a search of another kind would take over."""
        return {name: getattr(self, name) for name in SearchSection.model_fields}


class Greedy(SearchSection):
    """The most probable symbol at every step."""

    kind: Literal["greedy"] = "greedy"


class Beam(SearchSection):
    """Keep the `width` best beginnings at every step; the final choice is by `log_prob / length^length_power`."""

    kind: Literal["beam"] = "beam"
    width: Annotated[int, Field(ge=1, le=WIDEST_BEAM)] = 5
    length_power: Annotated[float, Field(ge=0, le=100)] = 1.0
    coverage: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0
    """Weight of `sum_j log(min(1, sum_t a_jt))`, which prefers outputs that looked at every source position."""
    values: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0
    """What each value of a source of acts (`slot = value ; ...`) costs that an output does not say."""

    @property
    def rows(self) -> int:
        """The width."""
        return self.width

    @classmethod
    def like(cls, other: SearchSection, *, width: int) -> Self:
        """A beam of this width that keeps to what another search was told, as far as it has to do with a beam."""
        before = other.model_dump() if isinstance(other, cls) else other.shared
        return cls(**{**before, "width": width})


class Sample(SearchSection):
    """Draw symbols at random: `count` outputs per source, best first."""

    kind: Literal["sample"] = "sample"
    count: Positive = 1
    temperature: Annotated[float, Field(gt=0)] = 1.0
    top_k: Positive | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Count = 1

    @property
    def rows(self) -> int:
        """All are drawn at once."""
        return self.count


class Exhaustive(SearchSection):
    """Every sequence up to the longest length; for tiny vocabularies only."""

    kind: Literal["exhaustive"] = "exhaustive"
    count: Positive = 5
    length_power: Annotated[float, Field(ge=0, le=100)] = 1.0


Search = Annotated[Greedy | Beam | Sample | Exhaustive, Field(discriminator="kind")]
