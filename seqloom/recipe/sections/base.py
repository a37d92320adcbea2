"""What all sections have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
Rate = Annotated[float, Field(ge=0.0)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """Base of all sections: immutable, and a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
