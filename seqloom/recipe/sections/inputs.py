"""What a decoder is given of the step before."""

from typing import Annotated, Literal

from pydantic import Field

from seqloom.recipe.sections.base import Count, Section


class DecoderInputs(Section):
    """What the kinds of inputs share."""

    def own_share(self, step: int) -> float:  # noqa: ARG002 (kinds that change over time need the step)
        """Which share of the symbols that the decoder reads are its own outputs, at a step of training."""
        return 0.0

    @property
    def words(self) -> str:
        """What the decoder is given, in a summary of the recipe; nothing for what goes without saying."""
        return ""


class TeacherInputs(DecoderInputs):
    """The decoder is given the right symbol of the step before."""

    kind: Literal["teacher"] = "teacher"


class OwnInputs(DecoderInputs):
    """In training, the decoder is given what it wrote itself: the most probable symbol of the step before."""

    kind: Literal["own"] = "own"

    def own_share(self, step: int) -> float:  # noqa: ARG002
        """All of them."""
        return 1.0

    @property
    def words(self) -> str:
        """In a summary of the recipe."""
        return "in training the decoder reads what it wrote itself"


class MixedInputs(DecoderInputs):
    """In training, a share of the inputs, drawn by chance, is what the decoder wrote itself (scheduled sampling, E7)."""

    kind: Literal["mixed"] = "mixed"
    share: Annotated[float, Field(gt=0.0, le=1.0)] = 0.25
    rise: Count = 0
    """Over so many steps of training the share grows on a line from nothing."""

    def own_share(self, step: int) -> float:
        """The share at a step of training."""
        return self.share * min(1.0, step / self.rise) if self.rise else self.share

    @property
    def words(self) -> str:
        """In a summary of the recipe."""
        slowly = f", rising over {self.rise} step{'' if self.rise == 1 else 's'}" if self.rise else ""
        return f"in training {100 * self.share:.3g} % of what the decoder reads it wrote itself{slowly}"


class DistributionInputs(DecoderInputs):
    """The decoder is given the distribution of the step before: the mean embedding under it, in prediction too."""

    kind: Literal["distribution"] = "distribution"

    @property
    def words(self) -> str:
        """In a summary of the recipe."""
        return "the decoder reads the distribution of the step before"


class NoInputs(DecoderInputs):
    """The decoder is given nothing after `begin`, in prediction too: zeros in the place of an embedding."""

    kind: Literal["none"] = "none"

    @property
    def words(self) -> str:
        """In a summary of the recipe."""
        return "the decoder reads nothing of what it wrote"


Inputs = Annotated[TeacherInputs | OwnInputs | MixedInputs | DistributionInputs | NoInputs, Field(discriminator="kind")]

SymbolInputs = Annotated[TeacherInputs | OwnInputs | MixedInputs, Field(discriminator="kind")]
"""The kinds that give it symbols."""
