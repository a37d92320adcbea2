"""Sources that are videos: files, folders of frames, or films that are drawn from a number."""

import re
import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any, ClassVar

import numpy as np

from seqloom.data.examples import Origin
from seqloom.data.kinds.contract import Renderer
from seqloom.data.kinds.files import FileKind
from seqloom.data.kinds.image import ImageKind
from seqloom.data.media.files import FILMED, DrawnFilm, FrameFolder, Media, MediaError
from seqloom.data.media.videos import Header, VideoFrames, VideoProblem, check_video, header_of
from seqloom.recipe.sections import VideoSource

_SIDE = 64
_SECONDS = 10.0
_PACES = (12.0, 8.0, 5.0)
"""Frames per second that are suggested: more of short clips, so that no clip has very many frames."""


class VideoKind(FileKind[VideoSource]):
    """Videos, whose frames are all made of one size."""

    section_type = VideoSource
    usual_name = "video"
    noun = "video"
    endings = frozenset(
        {".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".apng", ".gif", ".3gp", ".wmv"}
    )  # names that end in .gif are those of pictures, unless a recipe says otherwise
    extra = ("av", "video")
    refusals: ClassVar[Mapping[str, str]] = {
        "not-a-video": "files are not videos of a known kind",
        "truncated-video": "videos break off before their end",
        "enormous-video": "videos have frames that are too large to be decoded",
        "endless-video": "videos are too long",
        "empty-video": "videos have no frames",
        "undecodable-video": "videos cannot be decoded",
    }

    def find(self, name: str, origin: Origin) -> Media:
        """The file of a name, or the folder of frames; a film such as `moves:12` is the same everywhere."""
        if self.is_named(name):
            from seqloom.data.builtin.moves import MovesRoot

            return MovesRoot().resolve(name)
        inside = self._finder.files_in(name, origin)
        return super().find(name, origin) if inside is None else _folder(name, inside)

    @classmethod
    def is_named(cls, place: str) -> bool:
        """Whether it is a drawn film."""
        return place.startswith(FILMED)

    def trouble_in(self, media: Media) -> str | None:
        """What its header tells: kind, size and length."""
        return None if isinstance(media, DrawnFilm) else check_video(media)

    def shortcoming(self, media: Media) -> str | None:
        """How long it is, if only the beginning of it is read."""
        most = self.section.maximum_frames
        if len(replace(self.frontend(), maximum_frames=most + 1, follow=False).array(media)) <= most:
            return None
        seconds = header_of(media).seconds
        return f"{seconds:.0f} s" if seconds else f"more than {most} frames"

    def shortcomings(self) -> tuple[str, str]:
        """Videos that are cut."""
        return "cut-videos", (
            f"have more than the recipe's {self.section.maximum_frames} frames, and only their beginning is read: "
            "raise maximum_frames, lower frames_per_second, or cut them into clips"
        )

    def frontend(self, threads: int = 1) -> VideoFrames:
        """Frames."""
        section = self.section
        height, width = section.height_and_width
        pace, most = section.frames_per_second, section.maximum_frames
        return VideoFrames(height, width, section.fit, section.grey, pace, most, section.follow, threads=threads)

    def renderer(self, media: Media) -> Renderer:
        """The frames as a model sees them."""
        return partial(self._drawn, media)

    def _drawn(self, media: Media) -> Any:
        frames = self.frontend().array(media)
        return np.repeat(frames, 3, axis=-1) if self.section.grey else frames

    @classmethod
    def suggested(cls, files: Sequence[Media], width: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Frames of 64 pixels, as many as clips of this length can have; videos that cannot be read are told of later."""
        headers: list[Header] = []
        for media in files:
            if not isinstance(media, DrawnFilm):
                with suppress(MediaError):
                    headers.append(header_of(media))
        seconds = statistics.median([one.seconds for one in headers]) if headers else 0.0
        pace = next((pace for pace in _PACES if seconds * pace <= _SECONDS * _PACES[-1]), _PACES[-1])
        frames = {"kind": "cnn", "channels": [24, 48, 96, 96], "blocks": [0, 0, 1, 1], "summary": "dense"}
        encoder = {
            "kind": "video",
            "frames": frames,
            "differences": True,
            "time": {"kind": "pyramid", "layers": 1, "size": width // 2, "dropout": 0.3},
            "shift": 0.1,
        }
        return {"kind": "video", "size": _SIDE, "frames_per_second": pace}, encoder


def _folder(name: str, files: Sequence[Media]) -> FrameFolder:
    """The pictures of a folder, in the order of their names: 2 comes before 10."""
    frames = [one for one in files if PurePosixPath(one.name).suffix.lower() in ImageKind.endings]
    if not frames:
        raise VideoProblem(
            f"{name}: expected a video, or a folder with a picture for each frame, found a folder without pictures. "
            "Check the name",
            "empty-video",
        )
    frames.sort(key=lambda one: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", one.name)])
    return FrameFolder(name, name, sum(one.size for one in frames), max(one.stamp for one in frames), bytes, tuple(frames))
