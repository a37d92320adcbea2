"""Videos: files of many kinds, and folders of pictures, become rows of frames.

What comes from outside is not trusted. The kinds of files that are opened are a closed list, told apart by how a file begins,
so that nothing is opened that could lead to other files. Sizes and lengths are checked before a frame is decoded, decoders are
told the largest frame, and no more frames are decoded than are wanted.

Frames are turned as the file says. Where a file has more of them than are wanted, those between are left out. If what moves is
followed, frames are decoded twice, to find it and to cut it out, so that no more than one of them is there in full.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import abbreviated
from seqloom.data.media.containers import demuxer_of, open_container
from seqloom.data.media.files import DrawnFilm, FrameFolder, Media, MediaError
from seqloom.data.media.following import LOOKED_AT, Numbers, boxes
from seqloom.data.media.images import LARGEST_PICTURE, LARGEST_SIDE, Fit, ImagePixels, check_header, open_image
from seqloom.data.media.threads import in_order

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer
    from av.video.stream import VideoStream

LONGEST = 3600.0
"""How many seconds a video may have. Whoever has longer ones has to say which part of them is meant."""

Frames = npt.NDArray[np.uint8]
"""[frames, height, width, 3], or 1 channel if they are grey."""

Trouble = Literal["not-a-video", "truncated-video", "enormous-video", "endless-video", "empty-video", "undecodable-video"]

_ENDS = {"gif": b";", "apng": b"IEND\xaeB`\x82"}
"""How files end that say nothing of their length."""

_WHOLE = 0.9
"""A file whose frames end before this share of what its header promises breaks off."""

_DRAWN = 4
"""A film that is drawn is drawn so many times larger than wanted if what moves is to be cut out of it."""

_FOLDER_PACE = 10.0
"""How many frames of a folder are taken for a second."""

_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


class VideoProblem(MediaError):  # noqa: N818
    """A file that cannot be used as a video. The text begins with its name; `code` is stable."""

    def __init__(self, text: str, code: Trouble = "undecodable-video") -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Header:
    """What a file says of itself. seconds, frames: 0 if it says nothing of them."""

    width: int
    height: int
    seconds: float
    frames: int


def check_video(media: Media) -> str | None:
    """What is wrong with a video as far as its header tells: kind, size and length. No frame is decoded."""
    try:
        header_of(media)
    except MediaError as problem:
        return str(problem)
    return None


def header_of(media: Media) -> Header:
    """What a video says of itself. Raises `VideoProblem` if it cannot be one, or is too large or too long."""
    if isinstance(media, FrameFolder):
        for frame in media.frames:
            if (trouble := check_header(frame)) is not None:
                raise VideoProblem(f"{media.name}: {trouble}")
        return Header(0, 0, 0.0, len(media.frames))
    with _opened(media) as (_, stream):
        return _header(stream)


@dataclass(frozen=True)
class ClipForm:
    """One of the forms in which a clip can be learnt from. down, across: by which share of its sides it is moved."""

    down: float = 0.0
    across: float = 0.0
    mirrored: bool = False

    @property
    def key(self) -> str:
        """What tells it from other forms."""
        return f"moved {self.down:g} {self.across:g}{' mirrored' if self.mirrored else ''}"

    def of(self, frames: Frames) -> Frames:
        """Frames in this form; where a frame was moved away from, its edge is repeated."""
        height, width = frames.shape[1:3]
        rows, columns = np.arange(height) - round(self.down * height), np.arange(width) - round(self.across * width)
        moved = frames[:, rows.clip(0, height - 1)][:, :, columns.clip(0, width - 1)]
        return np.ascontiguousarray(moved[:, :, ::-1] if self.mirrored else moved)


@dataclass(frozen=True)
class Watched:
    """Grey frames [L, H, W] as they lie in the file, when they are [L], in seconds, and by how many right angles they turn."""

    frames: npt.NDArray[np.uint8]
    times: Numbers
    turns: int


@dataclass(frozen=True)
class VideoFrames:
    """Makes rows of frames of equal size from videos of any size.

    follow: whether what moves before a camera that stands still is cut out of each frame, and made as large as is wanted.
    form: in which form frames are wanted; None means as they are.
    threads: how many videos are decoded at once. It changes nothing but speed.
    """

    height: int
    width: int
    fit: Fit = "crop"
    grey: bool = False
    frames_per_second: float | None = None
    maximum_frames: int = 200
    follow: bool = False
    form: ClipForm | None = None
    threads: int = 1

    @property
    def key(self) -> str:
        """What the rows depend on besides the files. The number counts changes of the arithmetic."""
        pace = "all" if self.frames_per_second is None else f"{self.frames_per_second:g}"
        colours = "grey" if self.grey else "colours"
        further = (" following 1" if self.follow else "") + (f" {self.form.key}" if self.form else "")
        return f"frames 1 {self.height}x{self.width} {self.fit} {colours} {pace} {self.maximum_frames}{further}"

    @property
    def row(self) -> tuple[int, ...]:
        """A frame is one position."""
        return (self.height, self.width, 1 if self.grey else 3)

    def arrays(self, files: Iterable[Media]) -> Iterator[Frames]:
        """Yield the frames of each file, [L, height, width, C]. Raises `VideoProblem` at the first that is no video."""
        return map(self.array, files) if self.threads == 1 else in_order(self.array, files, threads=self.threads)

    def array(self, media: Media) -> Frames:
        """The frames of one video. A drawing is drawn in the size that is wanted, which takes no decoder."""
        frames = self._seen(media) if self.form is None else self.form.of(self._seen(media))
        return np.rint(frames @ _LUMA)[..., None].astype(np.uint8) if self.grey else frames

    def _seen(self, media: Media) -> Frames:
        if self.follow:
            return self._followed(media)
        if isinstance(media, DrawnFilm) and self.height == self.width:
            return media.draw(self.height)[: self.maximum_frames]
        if isinstance(media, FrameFolder):
            pictures = ImagePixels(self.height, self.width, self.fit)
            return np.stack([pictures.array(frame) for frame in media.frames[: self.maximum_frames]])
        return np.stack([self._fitted(frame, _turns(frame)) for frame in self._wanted(media)])

    def _followed(self, media: Media) -> Frames:
        """What moves, cut out of each frame; whole frames if nothing does."""
        places = self._places(media)
        if places is None:
            return np.stack([self._fitted(frame, _turns(frame)) for frame in self._wanted(media)])
        frames = zip(self._wanted(media), places, strict=True)
        return np.stack([self._fitted(_cut(frame, place), _turns(frame)) for frame, place in frames])

    def _places(self, media: Media) -> Numbers | None:
        """Where what moves is in each frame."""
        seen = self.watched(media, LOOKED_AT)
        height, width = (self.width, self.height) if seen.turns % 2 else (self.height, self.width)
        return boxes(seen.frames, seen.times, height / width)

    def watched(self, media: Media, side: int) -> Watched:
        """Small grey frames, enough to see what moves. side: how many pixels the longer side has at most."""
        small: list[npt.NDArray[np.uint8]] = []
        times: list[float] = []
        turns = 0
        for number, frame in enumerate(self._wanted(media)):
            across, down = (small[0].shape[::-1]) if small else _reduced(frame, side)
            seen = frame.reformat(across, down, format="gray", interpolation="AREA").to_ndarray()
            small.append(seen.astype(np.uint8, copy=False))
            times.append(number / _FOLDER_PACE if frame.pts is None else frame.time)
            turns = _turns(frame)
        return Watched(np.stack(small), np.maximum.accumulate(times), turns)

    def _wanted(self, media: Media) -> "Iterator[VideoFrame]":
        """Frames as they are, at the pace that is wanted. Raises `VideoProblem` if there is none."""
        from av import VideoFrame

        if isinstance(media, DrawnFilm):
            drawn = media.draw(_DRAWN * max(self.height, self.width))
            yield from map(VideoFrame.from_ndarray, drawn[: self.maximum_frames])
            return
        if isinstance(media, FrameFolder):
            for picture in media.frames[: self.maximum_frames]:
                yield VideoFrame.from_ndarray(np.array(open_image(picture)))
            return
        some = False
        with _opened(media) as (container, stream):
            for frame in _paced(_decoded(media, container, stream, _header(stream)), self):
                yield frame
                some = True
        if not some:
            raise VideoProblem(f"{media.name}: expected a video with frames, found none in it. Copy it again", "empty-video")

    def _fitted(self, frame: "VideoFrame", turns: int) -> Frames:
        """A frame the right way up, in the wanted size. turns: by how many right angles it is to be turned."""
        height, width = (self.width, self.height) if turns % 2 else (self.height, self.width)
        pixels = frame.reformat(*_scaled(frame, width, height, self.fit), format="rgb24", interpolation="AREA").to_ndarray()
        return np.rot90(_centred(pixels, height, width), turns)


def _turns(frame: "VideoFrame") -> int:
    return round((frame.rotation % 360) / 90) % 4


def _reduced(frame: "VideoFrame", side: int) -> tuple[int, int]:
    """Width and height of a frame whose longer side has so many pixels at most."""
    scale = min(1.0, side / max(frame.width, frame.height))
    return max(1, round(scale * frame.width)), max(1, round(scale * frame.height))


def _cut(frame: "VideoFrame", place: Numbers) -> "VideoFrame":
    """A part of a frame. place: top, left, bottom and right, as shares of its sides."""
    from av import VideoFrame

    pixels = frame.to_ndarray(format="rgb24").astype(np.uint8, copy=False)
    top, left = (min(int(share * side), side - 1) for share, side in zip(place[:2], pixels.shape, strict=False))
    height, width = (max(1, round(share * side)) for share, side in zip(place[2:] - place[:2], pixels.shape, strict=False))
    return VideoFrame.from_ndarray(np.ascontiguousarray(pixels[top : top + height, left : left + width]))


def _scaled(frame: "VideoFrame", width: int, height: int, fit: Fit) -> tuple[int, int]:
    """Width and height that a frame is given before it is cut or gets margins."""
    across, down = frame.width / width, frame.height / height
    match fit:
        case "stretch":
            return width, height
        case "crop":
            scale = min(across, down)
            return max(width, round(frame.width / scale)), max(height, round(frame.height / scale))
        case "pad":
            scale = max(across, down)
            return max(1, min(width, round(frame.width / scale))), max(1, min(height, round(frame.height / scale)))


def _centred(pixels: npt.NDArray[Any], height: int, width: int) -> Frames:
    """The middle of a picture, or a picture in the middle of white."""
    for axis, side in ((0, height), (1, width)):
        spare = pixels.shape[axis] - side
        if spare > 0:
            pixels = pixels.take(range(spare // 2, spare // 2 + side), axis=axis)
        elif spare < 0:
            around = [(0, 0)] * 3
            around[axis] = (-spare // 2, -spare - -spare // 2)
            pixels = np.pad(pixels, around, constant_values=255)
    return pixels


def _paced(frames: "Iterator[VideoFrame]", wanted: VideoFrames) -> "Iterator[VideoFrame]":
    """The first frame of each part of a second, until there are enough."""
    count, last, began = 0, -1, None
    for number, frame in enumerate(frames):
        slot = number
        if wanted.frames_per_second is not None and frame.time is not None:
            began = frame.time if began is None else began
            # Times are rounded: a frame a little too early is of the next part.
            slot = int((frame.time - began) * wanted.frames_per_second + 0.01)
        if slot > last:
            yield frame
            count, last = count + 1, slot
        if count >= wanted.maximum_frames:
            return


def _decoded(media: Media, container: "InputContainer", stream: "VideoStream", header: Header) -> "Iterator[VideoFrame]":
    """The frames of a video; one that ends before its header says so is refused."""
    count, end = 0, 0.0
    for frame in container.decode(stream):
        count, end = count + 1, max(end, frame.time or 0.0)
        yield frame
    short = count < _WHOLE * header.frames if header.frames else end < _WHOLE * header.seconds - 1.0
    if count and short:
        text = (
            f"{media.name}: expected a whole video, found one that breaks off after {count} frames. Copy or download it again"
        )
        raise VideoProblem(text, "truncated-video")


def _header(stream: "VideoStream") -> Header:
    seconds = float(stream.duration * (stream.time_base or Fraction(1))) if stream.duration else 0.0
    return Header(stream.codec_context.width, stream.codec_context.height, seconds, stream.frames)


@contextmanager
def _opened(media: Media) -> "Iterator[tuple[InputContainer, VideoStream]]":
    """A video of which the header was read and found good. Says in a sentence whatever goes wrong until it is closed."""
    content = media.read()
    _require_video(media, content)
    try:
        with open_container(media.name, content, "pictures") as container:
            yield container, _stream(media, container)
    except OSError as problem:  # FFmpeg's errors are such, and so is what else happens to files
        raise _broken(media, problem.strerror or str(problem)) from problem
    except (ValueError, EOFError) as problem:  # the second: FFmpeg's end of file, which is no OSError
        raise _broken(media, str(problem)) from problem


def _require_video(media: Media, content: bytes) -> None:
    if not content:
        raise VideoProblem(f"{media.name}: expected a video, found an empty file. Copy or download it again", "empty-video")
    kind = demuxer_of(content)
    if kind is None:
        found = f"a file that begins with {abbreviated(content[:12])}"
        kinds = "MP4, AVI, MKV, WebM, MPEG, GIF or APNG"
        text = f"{media.name}: expected a video ({kinds}), found {found}. Convert it, or remove it from the data"
        raise VideoProblem(text, "not-a-video")
    if not content.rstrip(b"\0").endswith(_ENDS.get(kind, b"")):
        raise _broken(media, "end of file")


def _stream(media: Media, container: "InputContainer") -> "VideoStream":
    """The first stream of pictures, after a look at what it says of itself."""
    if not container.streams.video:
        raise VideoProblem(f"{media.name}: expected a video, found a file without pictures. Name another file", "empty-video")
    stream = container.streams.video[0]
    if stream.codec_context is None:  # PyAV has no decoder for what the header names
        text = f"{media.name}: expected a video whose coding is known, found another. Convert it, or download it again"
        raise VideoProblem(text, "not-a-video")
    header = _header(stream)
    sides = header.width, header.height
    if not all(sides) or sides[0] * sides[1] > LARGEST_PICTURE or max(sides) > LARGEST_SIDE:
        most = f"{LARGEST_PICTURE // 1_000_000} million pixels and {LARGEST_SIDE:,} on a side"
        # Decoders that refused a size have forgotten it.
        found = f"{sides[0]:,} x {sides[1]:,}" if all(sides) else "larger ones, or none at all"
        raise VideoProblem(f"{media.name}: expected frames of at most {most}, found {found}. Make it smaller", "enormous-video")
    seconds = max(header.seconds, (container.duration or 0) / 1_000_000)
    if seconds > LONGEST:
        text = f"{media.name}: expected a video of at most {LONGEST:,.0f} seconds, found {seconds:,.0f}. Cut it into clips"
        raise VideoProblem(text, "endless-video")
    stream.codec_context.thread_count = 1
    stream.codec_context.options = {"max_pixels": str(LARGEST_PICTURE)}
    return stream


def _broken(media: Media, reason: str) -> VideoProblem:
    if "end of file" in reason.lower() or "invalid data" in reason.lower():
        text = f"{media.name}: expected a whole video, found one that breaks off or is damaged. Copy or download it again"
        return VideoProblem(text, "truncated-video")
    return VideoProblem(f"{media.name}: could not be decoded ({reason}). Save it anew, or remove it from the data")
