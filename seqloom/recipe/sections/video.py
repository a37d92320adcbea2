"""The encoder that reads videos: an encoder of images for each frame, and what reads frames in their order."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.base import Fraction, Section
from seqloom.recipe.sections.frames import FrameTransformerEncoder, PyramidEncoder
from seqloom.recipe.sections.vision import ConvolutionalEncoder, EfficientNetLite0Encoder


class NoTime(Section):
    """Each frame is read by itself."""

    kind: Literal["none"] = "none"
    positions: bool = True
    """Whether each frame knows when it is; else a video is a bag of frames, the same forward and backward."""

    @property
    def words(self) -> str:
        """What reads frames, in a summary of the recipe."""
        return "each frame by itself" if self.positions else "frames in no order"


Time = Annotated[PyramidEncoder | FrameTransformerEncoder | NoTime, Field(discriminator="kind")]
"""What reads frames in their order."""


class VideoEncoder(Section):
    """Reads a video: every frame as an image is read, then frames in their order."""

    kind: Literal["video"] = "video"
    frames: Annotated[ConvolutionalEncoder | EfficientNetLite0Encoder, Field(discriminator="kind")] = Field(
        default_factory=ConvolutionalEncoder
    )
    """What reads a frame. Its `summary` is what the frame is in time."""
    differences: bool = False
    """Whether a frame comes with what has changed since the one before, as further channels: movement is seen at once."""
    time: Time = Field(default_factory=lambda: PyramidEncoder(layers=1))
    memory: Literal["frames", "grid"] = "frames"
    """What a decoder can look at: frames, or every place of the grid of every frame."""
    shift: Fraction = 0.0
    """In training, a clip is moved by up to this share of its sides, all of its frames alike; before a frozen network,
    towards one of the four corners or not at all, so that it has to look five times."""
    flip: bool = False
    """In training, half of the clips are mirrored. Only where left and right mean nothing to the output. A frozen network
    has to look twice as often."""

    @property
    def is_pretrained(self) -> bool:
        """Whether its network has learnt from photographs."""
        return isinstance(self.frames, EfficientNetLite0Encoder)

    @property
    def is_frozen(self) -> bool:
        """Whether its network does not learn, so that what it sees of a clip is computed once."""
        return isinstance(self.frames, EfficientNetLite0Encoder) and not self.frames.tuned

    @property
    def memory_size(self) -> int:
        """The width of each state that the encoder writes."""
        return self.frames.memory_size if isinstance(self.time, NoTime) else self.time.memory_size

    @property
    def stride(self) -> int:
        """How many frames become one state."""
        return 1 if isinstance(self.time, NoTime) else self.time.stride

    @property
    def beside(self) -> str | None:
        """Another source that is read with the frames."""
        return None if isinstance(self.time, NoTime) else self.time.beside

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        seen = " with their differences" if self.differences else ""
        over = "every place of every frame" if self.memory == "grid" else "frames"
        return f"a video encoder (frames{seen} by {self.frames.words}; {self.time.words}; memory of {over})"

    @model_validator(mode="after")
    def _frames_suit_what_reads_them(self) -> Self:
        if self.frames.summary == "flatten":
            raise ValueError(
                "`frames: {summary: flatten}` makes a vector of a frame that is as long as its grid is large, for every frame. "
                "Use `summary: dense`, `attend` or `pool`"
            )
        if self.is_pretrained and self.differences:
            raise ValueError(
                "`differences: true` adds channels to a frame, and EfficientNet-Lite0 has learnt to see three. "
                "Remove `differences`, or write `frames: {kind: cnn}`"
            )
        if self.is_frozen and self.memory == "frames" and self.frames.summary != "pool":
            raise ValueError(
                f"`summary: {self.frames.summary}` needs all places of a frame, and of a frozen network's only their mean is "
                "kept where the memory is frames. Use `summary: pool`, or `memory: grid`"
            )
        return self

    @model_validator(mode="after")
    def _every_frame_has_its_grid(self) -> Self:
        if self.memory == "grid" and self.stride > 1:
            raise ValueError(
                f"`memory: grid` keeps the places of every frame, and `time` makes one state of {self.stride} frames. "
                "Write `halvings: 0` and no `convolution` in `time`, or `memory: frames`"
            )
        return self
