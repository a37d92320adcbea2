"""What sources share that are videos: files, folders of frames, or films that are drawn from a number."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import ClassVar, TypeVar

from seqloom.data.examples import Origin
from seqloom.data.kinds.files import FileKind
from seqloom.data.kinds.image import ImageKind
from seqloom.data.media.files import FILMED, DrawnFilm, FrameFolder, Media
from seqloom.data.media.videos import VideoFrames, VideoProblem, check_video, header_of
from seqloom.recipe.sections import FilmedSource

_SIDE = 8
"""So large are frames that are only counted."""

Filmed = TypeVar("Filmed", bound=FilmedSource)


class FilmedKind(FileKind[Filmed]):
    """Videos: where they are found, and what may be wrong with them."""

    noun = "video"
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
        frames = VideoFrames(_SIDE, _SIDE, frames_per_second=self.section.frames_per_second, maximum_frames=most + 1)
        if len(frames.array(media)) <= most:
            return None
        seconds = header_of(media).seconds
        return f"{seconds:.0f} s" if seconds else f"more than {most} frames"

    def shortcomings(self) -> tuple[str, str]:
        """Videos that are cut."""
        return "cut-videos", (
            f"have more than the recipe's {self.section.maximum_frames} frames, and only their beginning is read: "
            "raise maximum_frames, lower frames_per_second, or cut them into clips"
        )


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
