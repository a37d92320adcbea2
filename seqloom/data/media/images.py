"""Pictures: files of many kinds become arrays of red, green and blue.

What comes from outside is not trusted. The kinds of files that are decoded are a closed list, sizes are checked in the header
before a pixel is decoded, and a file that breaks off is refused, not filled up.

Pictures are turned as their EXIF data says, transparent ones lie on white, and 16 bits become 8. Of an animation, the first
frame is the picture. Colour profiles are not applied.
"""

import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import abbreviated
from seqloom.data.media.files import Drawing, Media, MediaError
from seqloom.data.media.threads import in_order
from seqloom.errors import MissingExtraError

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
"""What is decoded. Pillow knows many more, some of which start other programs."""

LARGEST_PICTURE = 50_000_000
"""How many pixels a picture may have: 150 MB once it is decoded."""

LARGEST_SIDE = 32_000
"""How many pixels a picture may be wide or high."""

Fit = Literal["crop", "pad", "stretch"]
"""How a picture gets another shape: the edges are cut off, white is added, or it is distorted."""

Trouble = Literal["not-a-picture", "truncated-picture", "enormous-picture", "undecodable-picture"]

Pixels = npt.NDArray[np.uint8]
"""A picture: [height, width, 3], red, green and blue from 0 to 255."""

_SPARE = 2
"""How many times larger than asked for a JPEG is decoded at least, so that resizing has something to average."""

_ORIENTATION = 0x0112
_LYING = (5, 6, 7, 8)
"""EXIF's number of what says how a picture was held, and its values for pictures that lie on their side."""

# Pillow warns of large pictures, which are refused here anyway. Python's filters of warnings belong to the whole process, so
# only one thread may change them at a time.
_header_lock = Lock()


class ImageProblem(MediaError):  # noqa: N818
    """A file that cannot be used as a picture. The text begins with its name; `code` is stable."""

    def __init__(self, text: str, code: Trouble = "undecodable-picture") -> None:
        super().__init__(text)
        self.code = code


def open_image(media: Media, *, at_least: int | None = None) -> "PillowImage":
    """Decode a picture: RGB, the right way up. Raises `ImageProblem` if it is not a whole picture of a sensible size.

    at_least: sides of so many pixels are enough. A larger JPEG is then decoded at a half, a quarter or an eighth of its size,
    which is several times faster.
    """
    _require_pillow()
    from PIL import ImageOps

    with _problems_of(media.name):
        image = _opened(media)
        if at_least is not None:
            image.draft(None, (at_least, at_least))
        ImageOps.exif_transpose(image, in_place=True)
        return _as_rgb(image)


def check_header(media: Media) -> str | None:
    """What is wrong with a picture as far as its header tells: kind and size. No pixel is decoded."""
    _require_pillow()
    try:
        with _problems_of(media.name):
            _opened(media)
    except MediaError as problem:
        return str(problem)
    return None


def whole_size(media: Media) -> tuple[int, int]:
    """Width and height of a picture as it is shown, after decoding all of it. Raises `ImageProblem` if that fails."""
    _require_pillow()
    with _problems_of(media.name):
        image = _opened(media)
        width, height = image.size
        lies = image.getexif().get(_ORIENTATION, 1) in _LYING
        image.draft(None, (1, 1))  # At a fraction of the size, a file is read to its end all the same.
        _as_rgb(image)
    return (height, width) if lies else (width, height)


@dataclass(frozen=True)
class ImagePixels:
    """Makes arrays of equal size from pictures of any size.

    threads: how many pictures are decoded at once. It changes nothing but speed.
    """

    height: int
    width: int
    fit: Fit = "crop"
    threads: int = 1

    @property
    def key(self) -> str:
        """What the arrays depend on besides the files. The number counts changes of the arithmetic."""
        return f"pixels 1 {self.height}x{self.width} {self.fit}"

    @property
    def row(self) -> tuple[int, ...]:
        """A picture is one position."""
        return (self.height, self.width, 3)

    def arrays(self, files: Iterable[Media]) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield one row for each file, [1, height, width, 3]. Raises `ImageProblem` at the first that is no picture."""
        seen = map(self.array, files) if self.threads == 1 else in_order(self.array, files, threads=self.threads)
        for pixels in seen:
            yield pixels[None]

    def array(self, media: Media) -> Pixels:
        """The pixels of one picture. A drawing is drawn in the size that is wanted, which takes no decoder."""
        if isinstance(media, Drawing) and self.height == self.width:
            return media.draw(self.height)
        return np.array(self._fitted(open_image(media, at_least=_SPARE * max(self.height, self.width))))

    def _fitted(self, image: "PillowImage") -> "PillowImage":
        from PIL import Image

        match self.fit:
            case "stretch":
                return _resized(image, self.width, self.height)
            case "crop":
                scale = min(image.width / self.width, image.height / self.height)
                # Rounding must not lead out of the picture.
                left = max(0.0, (image.width - scale * self.width) / 2)
                top = max(0.0, (image.height - scale * self.height) / 2)
                return _resized(image, self.width, self.height, box=(left, top, image.width - left, image.height - top))
            case "pad":
                scale = max(image.width / self.width, image.height / self.height)
                width, height = max(1, round(image.width / scale)), max(1, round(image.height / scale))
                padded = Image.new("RGB", (self.width, self.height), "white")
                padded.paste(_resized(image, width, height), ((self.width - width) // 2, (self.height - height) // 2))
                return padded


def _resized(
    image: "PillowImage", width: int, height: int, box: tuple[float, float, float, float] | None = None
) -> "PillowImage":
    """Resize a picture, or the part of it that `box` says. Every pixel counts: where it becomes smaller, Pillow averages."""
    from PIL import Image

    # What is more than three times too large is first divided by a whole number: the same to the eye, and much faster.
    return image.resize((width, height), Image.Resampling.BICUBIC, box=box, reducing_gap=3.0)


def _opened(media: Media) -> "PillowImage":
    """A picture of which the header was read, and nothing else."""
    from PIL import Image, UnidentifiedImageError

    content = media.read()
    if not content:
        raise ImageProblem(
            f"{media.name}: expected a picture, found an empty file. Copy or download it again", "truncated-picture"
        )
    try:
        with _header_lock, warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content), formats=FORMATS)
    except UnidentifiedImageError as problem:
        found = f"a file that begins with {abbreviated(content[:12])}"
        kinds = "JPEG, PNG, WebP, GIF, BMP or TIFF"
        text = f"{media.name}: expected a picture ({kinds}), found {found}. Convert it, or remove it from the data"
        raise ImageProblem(text, "not-a-picture") from problem
    except Image.DecompressionBombError as problem:
        raise _enormous(media.name, "a much larger one") from problem
    if image.width * image.height > LARGEST_PICTURE or max(image.size) > LARGEST_SIDE:
        raise _enormous(media.name, f"{image.width:,} x {image.height:,}")
    return image


def _enormous(name: str, found: str) -> ImageProblem:
    most = f"{LARGEST_PICTURE // 1_000_000} million pixels and {LARGEST_SIDE:,} on a side"
    return ImageProblem(f"{name}: expected a picture of at most {most}, found {found}. Make it smaller", "enormous-picture")


@contextmanager
def _problems_of(name: str) -> Iterator[None]:
    """Say in a sentence why a picture cannot be decoded, whatever the decoder stumbled over."""
    try:
        yield
    except (MediaError, MemoryError):
        raise
    except Exception as problem:  # Pillow's decoders raise what they meet: OSError, ValueError, SyntaxError, struct.error ...
        if "truncated" in str(problem).lower():
            text = f"{name}: expected a whole picture, found one that breaks off. Copy or download it again"
            raise ImageProblem(text, "truncated-picture") from problem
        reason = str(problem) or type(problem).__name__
        text = f"{name}: could not be decoded ({reason}). Save it anew, or remove it from the data"
        raise ImageProblem(text) from problem


def _as_rgb(image: "PillowImage") -> "PillowImage":
    """The picture in red, green and blue of 8 bits each, without transparency."""
    from PIL import Image

    if image.mode.startswith("I"):  # Grey of 16 bits, which Pillow would cut off at 255.
        values = np.clip(np.asarray(image), 0, 65_535).astype(np.uint32)
        return Image.fromarray(((values + 128) // 257).astype(np.uint8)).convert("RGB")
    if image.mode == "F":
        raise ValueError("its numbers have 32 bits and no known range")
    if image.has_transparency_data:
        transparent = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), transparent).convert("RGB")
    image.load()
    return image.convert("RGB") if image.mode != "RGB" else image


def _require_pillow() -> None:
    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("Reading pictures", "images") from error
