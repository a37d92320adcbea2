"""What a source may be: text, numbers, or files of a kind."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from seqloom.recipe.sections.base import Named, Positive, Section
from seqloom.recipe.sections.vocabularies import Vocabulary, VocabularyFile

ColumnName = Annotated[int, Field(ge=1)] | str
"""A column by its number, counted from 1, or by its name in the header line."""

Deviation = Annotated[float, Field(gt=0)]


class SourceSection(Section):
    """What all sources share."""

    has_vocabulary: ClassVar[bool] = False
    """Whether it becomes symbols."""
    if TYPE_CHECKING:
        kind: str  # each has its own word; a field here would stand before theirs

    column: ColumnName | None = None
    """Where a table has it; by default sources stand in the first columns, in the order in which they are written here."""

    @property
    def content(self) -> str:
        """What an encoder finds in it, by which the encoders are chosen that can read it: mostly each kind has its own."""
        return self.kind

    @property
    def in_words(self) -> str:
        """What it is, for a summary."""
        return f"{self.kind} files"

    def with_paths(self, absolute: Callable[[str], str]) -> Self:  # noqa: ARG002 (most kinds name no files)
        """The same with all paths that it names made absolute."""
        return self


class TextSource(SourceSection):
    """The source is text, which a vocabulary makes symbols of."""

    has_vocabulary = True
    kind: Literal["text"] = "text"
    vocabulary: Vocabulary | None = None
    """Its symbols; `None` means those of `vocabularies.source`."""
    first: Positive | None = None
    """Of a longer text so many symbols are read; the rest is left out, counted and reported."""

    def with_paths(self, absolute: Callable[[str], str]) -> Self:
        """With the file of a given vocabulary."""
        if not isinstance(self.vocabulary, VocabularyFile):
            return self
        return self.model_copy(
            update={"vocabulary": self.vocabulary.model_copy(update={"file": absolute(self.vocabulary.file)})}
        )


class VectorSource(SourceSection):
    """The source is a vector of `size` numbers: between spaces or commas in a table, a list in JSON lines and Parquet."""

    kind: Literal["vector"] = "vector"
    size: Positive

    @property
    def in_words(self) -> str:
        """What it is, for a summary."""
        return f"vectors of {self.size} numbers"


class FileSource(SourceSection):
    """What sources share that are the names of files."""

    root: str | None = None
    """Where names begin: a folder, a .zip or a .tar; `None` means the folder of the table."""

    @property
    def limit_in_words(self) -> str:
        """How long files may be; nothing if it does not matter."""
        return ""

    def with_paths(self, absolute: Callable[[str], str]) -> Self:
        """With the place where names begin."""
        return self if self.root is None else self.model_copy(update={"root": absolute(self.root)})


class PictureSource(FileSource):
    """What sources share that are pictures, still or moving, made `size` high and wide."""

    size: Positive | tuple[Positive, Positive] = 224
    """One number, or height and width."""
    fit: Literal["crop", "pad", "stretch"] = "crop"
    """How it is made to fit: the middle of it, with margins around it, or out of proportion."""

    @property
    def height_and_width(self) -> tuple[int, int]:
        """The size in pixels."""
        return self.size if isinstance(self.size, tuple) else (self.size, self.size)


class ImageSource(PictureSource):
    """The source is an image file."""

    kind: Literal["image"] = "image"

    @property
    def in_words(self) -> str:
        """What it is, for a summary."""
        return "images of {} x {} pixels".format(*self.height_and_width)


class SoundSource(FileSource):
    """The source is a recording: a row of numbers for every `step` milliseconds, taken from `window` milliseconds around it."""

    kind: Literal["sound"] = "sound"
    features: Literal["log_mel", "mfcc"] = "log_mel"
    """What a row holds: logarithms of the energy in `bands`, equally wide to the ear; or some coefficients of their shape."""
    bands: Annotated[int, Field(ge=8, le=256)] = 40
    coefficients: Annotated[int, Field(ge=2, le=256)] | None = None
    """Of `mfcc`, which has 13 unless said otherwise."""
    rate: Annotated[int, Field(ge=2_000, le=96_000)] = 16_000
    """Samples per second; recordings of other rates are resampled, and several channels become one."""
    window: Annotated[float, Field(ge=1, le=1_000)] = 25.0
    step: Annotated[float, Field(ge=1, le=1_000)] = 10.0
    normalise: Literal["recording", "together", "none"] = "recording"
    """Whether each band of a recording gets a mean of 0 and a deviation of 1, so that loudness and microphone do not matter.

    `together`: a mean of 0 each, and all bands one deviation of 1, so that bands in which little happens are not made louder.
    """
    longest: Annotated[float, Field(gt=0, le=3_600)] = 30.0
    """Longer recordings, in seconds, are left out of training, counted and reported, and refused by prediction."""

    @model_validator(mode="after")
    def _features_fit(self) -> Self:
        if self.coefficients is not None and self.features != "mfcc":
            raise ValueError("`coefficients` are those of `features: mfcc`. Remove them, or write `features: mfcc`")
        if self.width > self.bands:
            raise ValueError(f"{self.width} coefficients cannot be taken from {self.bands} bands. Use as many bands at least")
        if self.step > self.window:
            raise ValueError(f"a step of {self.step:g} ms leaves gaps between windows of {self.window:g} ms. Make it shorter")
        return self

    @property
    def content(self) -> str:
        """Rows in time."""
        return "frames"

    @property
    def limit_in_words(self) -> str:
        """How long recordings may be."""
        return f"{self.longest:g} seconds"

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return self.bands if self.features == "log_mel" else self.coefficients or 13

    @property
    def in_words(self) -> str:
        """What it is, for a summary."""
        what = "bands" if self.features == "log_mel" else "coefficients"
        return f"sounds, {self.width} {what} every {self.step:g} ms"


class FilmedSource(FileSource):
    """What sources share that are video files, or folders of frames: at which moments they are looked at."""

    frames_per_second: Annotated[float, Field(gt=0.0, le=240.0)] | None = 10.0
    """Of a file with more, frames are left out; `None` takes all. A folder's frames are taken as they are."""
    maximum_frames: Annotated[int, Field(ge=1, le=10_000)] = 200
    """So many are taken at most, from the beginning."""

    @property
    def pace_in_words(self) -> str:
        """At how many moments they are looked at."""
        return "all frames" if self.frames_per_second is None else f"{self.frames_per_second:g} frames per second"


class VideoSource(PictureSource, FilmedSource):
    """The source is a video file, or a folder of frames."""

    kind: Literal["video"] = "video"
    size: Positive | tuple[Positive, Positive] = 64
    """One number, or height and width."""
    grey: bool = False
    """Whether brightness is all that is kept of colours."""
    follow: bool = False
    """Whether what moves is cut out of every frame and made large: for a camera that stands still. `size` is the cut's."""

    @property
    def channels(self) -> int:
        """How many numbers a pixel has."""
        return 1 if self.grey else 3

    @property
    def in_words(self) -> str:
        """What it is, for a summary."""
        seen = "{} x {} pixels, {}".format(*self.height_and_width, self.pace_in_words)
        return f"{'grey ' if self.grey else ''}videos of {seen}{', following what moves' if self.follow else ''}"


class MovementSource(FilmedSource):
    """The source is a video of a camera that stands still, of which only what moves is kept: its shape, and where it goes."""

    kind: Literal["movement"] = "movement"
    size: Annotated[int, Field(ge=1, le=64)] = 16
    """The box around what moves has so many rows and columns of fields; a number says how much of each is moving."""

    @property
    def content(self) -> str:
        """Rows in time."""
        return "frames"

    @property
    def in_words(self) -> str:
        """What it is, for a summary."""
        return f"what moves in videos, {self.size} x {self.size} fields, {self.pace_in_words}"


class FeaturesSource(FileSource):
    """The source is an array that others computed, a row of `width` numbers for every moment: a .npy, or one in an .npz."""

    kind: Literal["features"] = "features"
    width: Positive | None = None
    """How many numbers a row has. A model has to be told."""
    normalise: Literal["none", "file"] = "none"
    """`file`: every column of a file gets a mean of 0 and a deviation of 1; `none`: numbers are taken as they are."""
    mean: float | tuple[float, ...] = 0.0
    """What is subtracted from all rows of all files: one number, or one for each column."""
    deviation: Deviation | tuple[Deviation, ...] = 1.0
    """What all rows of all files are then divided by: one number, or one for each column."""
    deltas: Annotated[int, Field(ge=0, le=2)] = 0
    """1: how fast each number changes stands beside it; 2: and how fast that changes, too."""
    pooled: bool = False
    """Whether a file becomes one row, the mean of all."""
    longest: Positive = 10_000
    """Files of more rows are refused."""

    @property
    def content(self) -> str:
        """Rows in time."""
        return "frames"

    @property
    def in_words(self) -> str:
        """What it is, for a summary."""
        rows = "the mean of rows" if self.pooled else "rows"
        return f"{rows} of {self.width} numbers{', and how they change' if self.deltas else ''}"

    @model_validator(mode="after")
    def _scales_fit(self) -> Self:
        for name, given in (("mean", self.mean), ("deviation", self.deviation)):
            if isinstance(given, tuple) and len(given) != self.width:
                raise ValueError(f"`{name}` has {len(given)} numbers, and a row has {self.width}. Give one number, or as many")
        if self.normalise == "file" and (self.mean != 0.0 or self.deviation != 1.0):
            raise ValueError(
                "`normalise: file` finds mean and deviation of each file itself. Remove it, or `mean` and `deviation`"
            )
        return self


AnySource = TextSource | VectorSource | ImageSource | SoundSource | VideoSource | MovementSource | FeaturesSource
Source = Annotated[AnySource, Field(discriminator="kind")]
Sources = Annotated[dict[str, Source], AfterValidator(Named)]
"""What each source is, by its name."""
