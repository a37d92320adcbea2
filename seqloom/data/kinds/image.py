"""Sources that are image files, or drawings that are made from a number."""

import importlib.util
import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from seqloom.data.examples import Origin
from seqloom.data.kinds.contract import Renderer
from seqloom.data.kinds.files import FileKind
from seqloom.data.media.files import DRAWN, Drawing, Media, MediaError
from seqloom.data.media.images import ImagePixels, check_header, whole_size
from seqloom.recipe.sections import ImageSource
from seqloom.recipe.sections.vision import PRETRAINED_PACKAGE

_SMALL = 64
"""Pictures of fewer pixels a side are drawings, digits or the like: a network for photographs has nothing to say of them."""


class ImageKind(FileKind[ImageSource]):
    """Pictures, all made of one size."""

    section_type = ImageSource
    usual_name = "image"
    noun = "picture"
    endings = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
    root_option = "--images"
    extra = ("PIL", "images")
    refusals: ClassVar[Mapping[str, str]] = {
        "not-a-picture": "files are not pictures of a known kind",
        "truncated-picture": "pictures break off before their end",
        "enormous-picture": "pictures are too large to be decoded",
        "undecodable-picture": "pictures cannot be decoded",
    }

    def find(self, name: str, origin: Origin) -> Media:
        """The file of a name; a scene such as `scene:12` is the same everywhere."""
        if not self.is_named(name):
            return super().find(name, origin)
        from seqloom.data.builtin.scenes import SceneRoot

        return SceneRoot().resolve(name)

    @classmethod
    def is_named(cls, place: str) -> bool:
        """Whether it is a scene."""
        return place.startswith(DRAWN)

    def trouble_in(self, media: Media) -> str | None:
        """What its header tells: kind and size."""
        return None if isinstance(media, Drawing) else check_header(media)

    def shortcoming(self, media: Media) -> str | None:
        """How large it is, if that is less than what the recipe makes of it."""
        width, height = whole_size(media)
        least = self.section.height_and_width
        return f"{width} x {height}" if width < least[1] or height < least[0] else None

    def shortcomings(self) -> tuple[str, str]:
        """Pictures that have to be enlarged."""
        height, width = self.section.height_and_width
        return "small-pictures", (
            f"are smaller than the recipe's {width} x {height} (width x height) and "
            "have to be enlarged: choose a smaller size, or look for larger pictures"
        )

    def frontend(self, threads: int = 1) -> ImagePixels:
        """Pixels."""
        return ImagePixels(*self.section.height_and_width, self.section.fit, threads)

    def renderer(self, media: Media) -> Renderer:
        """The picture as a model sees it."""
        return partial(self.frontend().array, media)

    @classmethod
    def suggested(cls, files: Sequence[Media], width: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The size to give images, by the shorter side of most; pictures that cannot be read are told of later."""
        sides = []
        for media in files:
            with suppress(MediaError):
                sides.append(min(whole_size(media)))
        side = round(statistics.median(sides)) if sides else 224
        if side > _SMALL and importlib.util.find_spec(PRETRAINED_PACKAGE) is not None:
            return {"kind": "image", "size": 224}, {"kind": "efficientnet_lite0", "size": width, "dropout": 0.3}
        pixels = max(16, min(128, 8 * round(side / 8)))
        channels = [32, 64, 128] if pixels <= _SMALL else [32, 64, 128, 128]
        encoder = {"kind": "cnn", "channels": channels, "size": width, "summary": "dense"}
        return {"kind": "image", "size": pixels}, encoder
