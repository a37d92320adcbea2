"""Sources that are videos, of which only what moves is kept."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from seqloom.data.kinds.contract import Renderer
from seqloom.data.kinds.filmed import FilmedKind
from seqloom.data.media.files import Media
from seqloom.data.media.movement import PACES, MovementRows
from seqloom.recipe.sections import MovementSource

_DRAWN = 96
"""How many pixels high and wide a shape is drawn for a person, at least."""


class MovementKind(FilmedKind[MovementSource]):
    """What moves before a camera that stands still. A recipe has to ask for it: files alone do not tell."""

    section_type = MovementSource
    usual_name = "movement"
    endings = frozenset()

    def frontend(self, threads: int = 1) -> MovementRows:
        """Shapes, and how fast they go."""
        section = self.section
        return MovementRows(section.size, section.frames_per_second, section.maximum_frames, threads=threads)

    def renderer(self, media: Media) -> Renderer:
        """The shapes, dark on white."""
        return partial(self._drawn, media)

    def _drawn(self, media: Media) -> Any:
        size = self.section.size
        fields = self.frontend().array(media)[:, :-PACES].reshape(-1, size, size)
        times = -(-_DRAWN // size)
        pixels = np.rint(255 * (1 - fields)).astype(np.uint8).repeat(times, axis=1).repeat(times, axis=2)
        return np.repeat(pixels[..., None], 3, axis=-1)

    @classmethod
    def suggested(cls, files: Sequence[Media], width: int) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ARG003 (all alike)
        """Shapes of 16 x 16 fields; neighbouring frames are read together, then all in their order."""
        convolution = {"over": "time", "channels": [width], "width": 5, "stride": 1}
        encoder = {"kind": "pyramid", "convolution": convolution, "layers": 1, "size": width // 2, "dropout": 0.3}
        return {"kind": "movement"}, encoder
