"""Encoders of frames: rows of numbers one after the other, as sounds, videos and given features have them."""

from math import prod
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.base import Count, Fraction, Positive, Section, SourceName
from seqloom.recipe.sections.recurrent import Cells
from seqloom.recipe.sections.transformer import Transformer
from seqloom.wording import counted

Stride = Annotated[int, Field(ge=1, le=8)]


class Convolution(Section):
    """Layers that look at neighbouring frames, and make fewer of them, before the rest of an encoder reads."""

    over: Literal["bands", "time"] = "bands"
    """`bands`: a frame's numbers have neighbours too, as the bands of a spectrogram have; `time`: frames alone have."""
    channels: Annotated[tuple[Positive, ...], Field(min_length=1, max_length=8)] = (32, 32)
    """How many things are looked for, in one layer after the other."""
    width: Annotated[int, Field(ge=1, le=31)] = 3
    """Over how many frames, and bands, a layer looks: an odd number, so that there is one in the middle."""
    stride: Stride = 2
    """How many frames, and bands, become one in each layer."""

    @property
    def total_stride(self) -> int:
        """How many frames become one in all layers."""
        return int(self.stride ** len(self.channels))

    @property
    def words(self) -> str:
        """The convolution in a summary of the recipe."""
        return f"{counted(len(self.channels), 'convolution')} over {'time and bands' if self.over == 'bands' else 'time'}"

    @model_validator(mode="after")
    def _has_a_middle(self) -> Self:
        if self.width % 2 == 0:
            raise ValueError(f"`width: {self.width}` has no frame in the middle. Use an odd number, such as {self.width + 1}")
        return self


class FrameEncoder(Section):
    """What encoders of frames share."""

    convolution: Convolution | None = None
    """In front of all else."""
    input_dropout: Fraction = 0.0
    """On the frames themselves."""
    beside: SourceName | None = None
    """Another source of frames, such as the sound of a clip: its states at the same moments stand beside these frames, behind
    the convolution, and are read with them."""

    @property
    def stride(self) -> int:
        """How many frames become one state."""
        return 1 if self.convolution is None else self.convolution.total_stride

    def _with_front(self, words: str) -> str:
        read = words if self.beside is None else f"{words}, read beside {self.beside}"
        return read if self.convolution is None else f"{self.convolution.words}, then {read}"


class PyramidEncoder(FrameEncoder, Cells):
    """Reads frames with recurrent layers, the upper ones of which join neighbours two by two (Chan et al. 2016).

    With `bidirectional`, `size` is that of one direction.
    """

    kind: Literal["pyramid"] = "pyramid"
    cell: Literal["rnn", "gru", "lstm"] = "lstm"
    size: Positive = 128
    layers: Annotated[int, Field(ge=1, le=16)] = 3
    halvings: Count | None = None
    """So many layers, the last ones, read two neighbours as one; `None`: all but the first, or none after a convolution."""
    bidirectional: bool = True
    dropout: Fraction = 0.0
    """On what each layer hands on, the last one too."""

    @property
    def joining_layers(self) -> int:
        """How many layers read two neighbours as one."""
        if self.halvings is not None:
            return self.halvings
        return self.layers - 1 if self.convolution is None else 0

    @property
    def stride(self) -> int:
        """How many frames become one state."""
        return prod((super().stride, 2**self.joining_layers))

    @property
    def memory_size(self) -> int:
        """The width of each state that the encoder writes."""
        return self.size * (2 if self.bidirectional else 1)

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        role = "pyramid" if self.joining_layers else "encoder of frames"
        return self._with_front(self._words(role, "bidirectional " if self.bidirectional else ""))

    @model_validator(mode="after")
    def _layers_suffice(self) -> Self:
        if self.joining_layers > self.layers:
            raise ValueError(
                f"`halvings: {self.halvings}` asks for as many layers that join neighbours, and there "
                f"{'is' if self.layers == 1 else 'are'} {self.layers}. Use at most {self.layers}, or more `layers`"
            )
        return self


class FrameTransformerEncoder(FrameEncoder, Transformer):
    """Reads frames with a transformer's layers: in every layer, each frame attends to all.

    Its cost grows with the square of how many frames there are, so a convolution makes fewer of them.
    """

    kind: Literal["frame_transformer"] = "frame_transformer"
    convolution: Convolution | None = Field(default_factory=Convolution)
    """In front of all else."""

    @property
    def memory_size(self) -> int:
        """The width of each state that the encoder writes."""
        return self.size

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        return self._with_front(self._words("encoder of frames"))


FramesReader = PyramidEncoder | FrameTransformerEncoder
"""The encoders that read frames."""
