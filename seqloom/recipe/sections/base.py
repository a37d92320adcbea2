"""What all sections have in common."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
Rate = Annotated[float, Field(ge=0.0)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
MOST_LAYERS = 128
"""A model of more would take for ever to be set up, before its weights could tell that they do not fit."""
Layers = Annotated[int, Field(ge=1, le=MOST_LAYERS)]
SourceName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""What a recipe calls a source."""


class Section(BaseModel):
    """Base of all sections: immutable, and a key that is not known is an error.

    What validates a section is built when it is first used, the sections within it included. So sections that are defaults are
    made by a `default_factory`: made where they are written, they would each be built when they are imported.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


_Value = TypeVar("_Value")


class Named(dict[str, _Value]):
    """Sections or numbers by the names that a person gave them.

    Never changed once made, so that a section that holds one has a hash.
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def sized(size: int, layers: int) -> str:
    """How large a network is, in words."""
    return f"{size} wide{f', {layers} layers' if layers > 1 else ''}"
