"""Sources that are videos, of which frames are seen."""

import statistics
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from seqloom.data.kinds.contract import Renderer
from seqloom.data.kinds.filmed import FilmedKind
from seqloom.data.media.files import DrawnFilm, Media, MediaError
from seqloom.data.media.videos import Header, VideoFrames, header_of
from seqloom.recipe.sections import VideoSource

_SIDE = 64
_SECONDS = 10.0
_PACES = (12.0, 8.0, 5.0)
"""Frames per second that are suggested: more of short clips, so that no clip has very many frames."""


class VideoKind(FilmedKind[VideoSource]):
    """Videos, whose frames are all made of one size."""

    section_type = VideoSource
    usual_name = "video"
    endings = frozenset(
        {".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".apng", ".gif", ".3gp", ".wmv"}
    )  # names that end in .gif are those of pictures, unless a recipe says otherwise

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
