"""The kinds of attention."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.base import Fraction, Layers, Positive, Rate, Section
from seqloom.wording import counted


class Dot(Section):
    """`s^T h_j`."""

    kind: Literal["dot"] = "dot"
    scaled: bool = False

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        return "dot attention"


class Bilinear(Section):
    """`s^T W h_j`."""

    kind: Literal["bilinear"] = "bilinear"

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        return "bilinear attention"


class Additive(Section):
    """`V^T tanh(U s + W h_j)`."""

    kind: Literal["additive"] = "additive"
    size: Positive = 128
    coverage: bool = False
    """Whether the score also sees the sum of the weights that a position has had: `V^T tanh(U s + W h_j + w g_jt)`."""

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        return f"additive attention ({self.size} wide{', seeing its coverage' if self.coverage else ''})"


class Location(Section):
    """`V^T tanh(U s + W h_j + F f_jt)`, where filters `f_t = K * a_{t-1}` see the weights of the step before."""

    kind: Literal["location"] = "location"
    size: Positive = 128
    filters: Positive = 10
    width: Annotated[int, Field(ge=1, le=201)] = 15
    """Over how many positions a filter sees: an odd number."""
    window: Positive | None = None
    """Only positions so near to the centre of where the step before looked are looked at; `None` means all."""

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        near = "" if self.window is None else f", {counted(self.window, 'position')} to either side of where it looked last"
        return f"location-aware attention ({self.size} wide, {counted(self.filters, 'filter')}{near})"

    @model_validator(mode="after")
    def _filters_have_a_middle(self) -> Self:
        if self.width % 2 == 0:
            raise ValueError(
                f"`width: {self.width}` has no position in the middle. Use an odd number, such as {self.width + 1}"
            )
        return self


class Concat(Section):
    """`w_2^T tanh(W_1 [s; h_j])`."""

    kind: Literal["concat"] = "concat"
    size: Positive = 128

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        return f"concat attention ({self.size} wide)"


class Projected(Section):
    """`k_j^T q` of learned keys `sigma(W_k h_j)` and queries `sigma(W_q s)`, in one layer or several."""

    kind: Literal["projected"] = "projected"
    size: Positive = 128
    layers: Layers = 1
    nonlinearity: Literal["tanh", "logistic", "relu", "none"] = "tanh"
    scaled: bool = False

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        return f"dot attention on learned keys and queries ({counted(self.layers, 'layer')}, {self.size} wide)"

    @model_validator(mode="after")
    def _layers_are_worth_it(self) -> Self:
        if self.layers > 1 and self.nonlinearity == "none":
            raise ValueError(
                f"{self.layers} layers with `nonlinearity: none` between them can do no more than one. "
                "Use `layers: 1`, or a nonlinearity such as tanh"
            )
        return self


class MultiHead(Section):
    """Several scaled dot products side by side. `size` is the width of all heads together."""

    kind: Literal["multi_head"] = "multi_head"
    heads: Positive = 4
    size: Positive = 256

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        return f"multi-head attention ({self.heads} heads, {self.size} wide)"

    @model_validator(mode="after")
    def _heads_share_the_size(self) -> Self:
        check_heads(self.heads, self.size)
        return self


def check_heads(heads: int, size: int) -> None:
    """Refuse a number of heads that cannot share a width evenly."""
    if size % heads:
        near = [n for n in range(1, size + 1) if size % n == 0 and n <= 2 * heads]
        raise ValueError(
            f"{heads} heads cannot share a size of {size}. "
            f"Use a number of heads that divides {size}, such as {' or '.join(map(str, near[-2:]))}"
        )


Score = Annotated[Dot | Bilinear | Additive | Concat | Projected, Field(discriminator="kind")]
"""The kinds that others build on."""


class BuiltOnScore(Section):
    """What the kinds that build on a score share."""

    score: Score = Field(default_factory=Additive)

    @model_validator(mode="after")
    def _score_remembers_nothing(self) -> Self:
        if isinstance(self.score, Additive) and self.score.coverage:
            raise ValueError(
                "a `score` depends on query and state alone, so it cannot see the coverage. "
                "Remove `coverage` from it, or use `kind: additive` with `coverage: true` as the attention itself"
            )
        return self


class Local(BuiltOnScore):
    """Only positions in a window are looked at (Luong et al. 2015), so many to the left and to the right of its centre."""

    kind: Literal["local"] = "local"
    centre: Literal["monotonic", "predictive", "previous"] = "predictive"
    """`monotonic`: step t looks around position t; `predictive`: the query says where, and a Gaussian lies over the window;
    `previous`: around the mean of where the step before looked."""
    window: Positive = 5

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        around = {
            "monotonic": "the step's number",
            "predictive": "a place that the query names",
            "previous": "where it looked last",
        }[self.centre]
        return f"local {self.score.words}, {counted(self.window, 'position')} to either side of {around}"


class InStep(Section):
    """Step t looks at position t, and nowhere once there is none: targets that have a symbol for each one of the source."""

    kind: Literal["in_step"] = "in_step"

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        return "each step at its own position"


class Hard(BuiltOnScore):
    """One position is looked at: in training drawn by its probability, in prediction the best (Xu et al. 2015)."""

    kind: Literal["hard"] = "hard"
    entropy: Rate = 0.01
    """How much training is rewarded for not being sure where to look."""
    soft_share: Fraction = 0.5
    """How many sentences of a training batch are read softly, as an average."""
    discount: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    """What a draw's reward counts of each later symbol, compared with the one before: 0 is its own symbol alone, 1 is all."""

    @property
    def words(self) -> str:
        """The attention in a summary of the recipe."""
        return f"hard {self.score.words}, one position at a time"


Attention = Annotated[
    Dot | Bilinear | Additive | Concat | Projected | MultiHead | Local | InStep | Hard | Location, Field(discriminator="kind")
]


def score_of(attention: Attention) -> Dot | Bilinear | Additive | Concat | Projected | MultiHead | InStep | Location:
    """The score that an attention builds on, or is."""
    return attention.score if isinstance(attention, Local | Hard) else attention
