"""Features that others computed: arrays of numbers in .npy files, or in the members of an .npz.

What comes from outside is not trusted. Nothing is ever unpickled: the header is read by itself, and must promise plain numbers,
as many as the file holds. What they become is a row of so many numbers for every moment.
"""

import io
import tokenize
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import abbreviated
from seqloom.data.media.files import Media, MediaError
from seqloom.recipe.sections import FeaturesSource

Trouble = Literal["not-an-array", "truncated-array", "empty-array", "misshapen-array", "undefined-numbers", "enormous-array"]
Array = npt.NDArray[Any]

_DELTA_REACH = 2
"""How many rows before and after tell how fast numbers change."""
_TINY = 1e-5
"""Deviations are taken to be so large at least: a column that never changes stays at zero."""


class ArrayProblem(MediaError):  # noqa: N818
    """A file that cannot be used as features. The text begins with its name; `code` is stable."""

    def __init__(self, text: str, code: Trouble) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class FeatureRows:
    """Makes rows of numbers from arrays. source: what a recipe says of them."""

    source: FeaturesSource

    @classmethod
    def of(cls, source: FeaturesSource) -> Self:
        """Those that a recipe wants, wherever they are."""
        return cls(source.model_copy(update={"root": None, "column": None}))

    @property
    def key(self) -> str:
        """What the rows depend on besides the files. The number counts changes of the arithmetic."""
        return f"features 1 {self.source.model_dump_json(exclude={'kind', 'root', 'column', 'longest'})}"

    @property
    def row(self) -> tuple[int, ...]:
        """Of the numbers, and of how they change."""
        return ((self.source.width or 0) * (1 + self.source.deltas),)

    def arrays(self, files: Iterable[Media]) -> Iterator[npt.NDArray[np.float32]]:
        """Yield the rows of each file, [rows, width]. Raises `ArrayProblem` at the first that is no such array."""
        for media in files:
            yield self._made(self.array(media))

    def array(self, media: Media) -> npt.NDArray[np.float32]:
        """The numbers of one file as they are, checked."""
        values = read_array(media)
        trouble = self.trouble_with(media, values.shape)
        if trouble is not None:
            raise trouble
        rows = values.astype(np.float32)
        undefined = np.argwhere(~np.isfinite(rows))
        if len(undefined):
            row, column = undefined[0] + 1
            text = f"{media.name}: expected numbers, found {rows[tuple(undefined[0])]} in row {row}, column {column}"
            raise ArrayProblem(f"{text}. Compute the features again, or remove the file from the data", "undefined-numbers")
        return rows

    def trouble_with(self, media: Media, shape: tuple[int, ...]) -> ArrayProblem | None:
        """What is wrong with an array of a shape, if anything."""
        width = self.source.width
        wanted = f"rows of {width} numbers" if width else "rows of numbers"
        if len(shape) != 2 or (width and shape[1] != width) or not shape[1]:
            found = f"an array of shape {_shaped(shape)}"
            text = f"{media.name}: expected {wanted}, found {found}. Make it [rows, {width or 'width'}]"
            return ArrayProblem(f"{text}, or correct `width`" if width else text, "misshapen-array")
        if not shape[0]:
            return ArrayProblem(f"{media.name}: expected {wanted}, found none. Remove it from the data", "empty-array")
        if shape[0] > self.source.longest:
            text = f"{media.name}: expected at most {self.source.longest:,} rows, found {shape[0]:,}"
            return ArrayProblem(f"{text}. Cut it up, or raise `longest`", "enormous-array")
        return None

    def _made(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        whole: npt.NDArray[np.float32] = rows - np.asarray(self.source.mean, np.float32)
        parts = [np.divide(whole, np.asarray(self.source.deviation, np.float32), dtype=np.float32)]
        for _ in range(self.source.deltas):
            parts.append(changes(parts[-1]))
        whole = np.concatenate(parts, axis=1)
        if self.source.normalise == "file":
            whole = (whole - whole.mean(axis=0)) / np.maximum(whole.std(axis=0), _TINY)
        return whole.mean(axis=0, keepdims=True) if self.source.pooled else whole


def changes(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """`sum_n n (x_{t+n} - x_{t-n}) / (2 sum_n n^2)`: how fast numbers change. First and last rows go on as they are."""
    padded = np.pad(rows, ((_DELTA_REACH, _DELTA_REACH), (0, 0)), mode="edge")
    count, reaches = len(rows), range(1, _DELTA_REACH + 1)
    differences = [
        reach * (padded[_DELTA_REACH + reach :][:count] - padded[_DELTA_REACH - reach :][:count]) for reach in reaches
    ]
    found: npt.NDArray[np.float32] = np.sum(differences, axis=0) / np.float32(2 * sum(reach**2 for reach in reaches))
    return found


def read_array(media: Media) -> Array:
    """The array of a .npy file, or the only one of an .npz. Raises `ArrayProblem` if there is none."""
    content = _only_member(media) if media.name.lower().endswith(".npz") else media.read()
    stream = io.BytesIO(content)
    shape, fortran, dtype = _header(media, stream)
    start = stream.tell()
    expected = dtype.itemsize * int(np.prod(shape, dtype=object))
    if len(content) - start != expected:
        text = f"{media.name}: expected {expected:,} bytes of numbers as its header says, found {len(content) - start:,}"
        raise ArrayProblem(f"{text}. Copy or download it again", "truncated-array")
    flat = np.frombuffer(content, dtype=dtype, offset=start)
    return flat.reshape(shape, order="F" if fortran else "C")


def shape_of(media: Media) -> tuple[int, ...]:
    """The shape that the header of an array tells."""
    content = _only_member(media) if media.name.lower().endswith(".npz") else media.read()
    return _header(media, io.BytesIO(content))[0]


def _header(media: Media, stream: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and kind of numbers. What a header says is parsed as plain Python values."""
    start = stream.getvalue()[:12]
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, EOFError, MemoryError, RecursionError) as problem:
        found = f"a file that begins with {abbreviated(start)}" if start else "an empty file"
        raise ArrayProblem(
            f"{media.name}: expected an array as NumPy saves it (.npy), found {found}. Save it with numpy.save", "not-an-array"
        ) from problem
    if dtype.hasobject or dtype.kind not in "fiub" or any(size < 0 for size in shape):
        found = "Python objects, which are never unpickled" if dtype.hasobject else f"values of type {dtype}"
        raise ArrayProblem(f"{media.name}: expected an array of numbers, found {found}. Save it as float32", "not-an-array")
    return shape, fortran, dtype


def _only_member(media: Media) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(media.read())) as archive:
            names = [one for one in archive.infolist() if one.filename.endswith(".npy")]
            if len(names) == 1:
                return Media(media.name, media.where, names[0].file_size, 0, lambda: archive.read(names[0])).read()
    except (zipfile.BadZipFile, NotImplementedError) as problem:  # the second: a version or a method that zipfile has not
        raise ArrayProblem(
            f"{media.name}: expected an archive of arrays (.npz), found something else. Save it with numpy.savez",
            "not-an-array",
        ) from problem
    raise ArrayProblem(
        f"{media.name}: expected one array, found {len(names)}. Write `root: {media.name}`, and name arrays in it",
        "not-an-array",
    )


def _shaped(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(str(size) for size in shape)}]"
