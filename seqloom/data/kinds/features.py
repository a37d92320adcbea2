"""Sources that are features which others computed."""

import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from seqloom.data.examples import Origin
from seqloom.data.kinds.files import FileKind
from seqloom.data.media.features import FeatureRows, read_array, shape_of
from seqloom.data.media.files import Media, MediaError
from seqloom.recipe.sections import FeaturesSource

_UTTERANCE = 40
"""From so many rows on, mean and deviation of a file say more about who made it than about what it holds."""
_LONG, _MIDDLING = 200, 60
"""Of so many rows, three become one layer's, or one of two."""
_WIDE = 256
"""Rows of more numbers are first made narrower."""


class FeaturesKind(FileKind[FeaturesSource]):
    """Arrays, each with as many rows as it has."""

    section_type = FeaturesSource
    usual_name = "frames"
    noun = "array"
    endings = frozenset({".npy", ".npz"})
    refusals: ClassVar[Mapping[str, str]] = {
        "not-an-array": "files are not arrays of numbers",
        "truncated-array": "arrays hold more or fewer numbers than their headers say",
        "empty-array": "arrays have no rows",
        "misshapen-array": "arrays are not rows of as many numbers as the others",
        "undefined-numbers": "arrays hold NaN or infinity",
        "enormous-array": "arrays have too many rows",
    }

    def find(self, name: str, origin: Origin) -> Media:
        """The file of a name. The arrays of an .npz may be called as NumPy calls them, without their ending."""
        in_archive = (self.section.root or "").lower().endswith(".npz") and origin.is_table
        return super().find(f"{name}.npy" if in_archive and not name.endswith(".npy") else name, origin)

    def trouble_in(self, media: Media) -> str | None:
        """What its header tells: whether it is an array, and of which shape."""
        try:
            trouble = self.frontend().trouble_with(media, shape_of(media))
        except MediaError as problem:
            return str(problem)
        return None if trouble is None else str(trouble)

    def frontend(self, threads: int = 1) -> FeatureRows:  # noqa: ARG002 (there is little to compute)
        """The numbers as they are, or made alike."""
        return FeatureRows.of(self.section)

    @classmethod
    def suggested(cls, files: Sequence[Media], width: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """As wide as most of them; made alike, and read by as many layers as they are long."""
        arrays = []
        for media in files:
            with suppress(MediaError):
                found = read_array(media)
                if found.ndim == 2 and found.size:
                    arrays.append(found.astype(np.float64))
        usual = statistics.mode([one.shape[1] for one in arrays]) if arrays else 1
        alike = [one for one in arrays if one.shape[1] == usual and np.isfinite(one).all()]
        rows = statistics.median([len(one) for one in alike]) if alike else 1
        source: dict[str, Any] = {"kind": "features", "width": int(usual)}
        if rows >= _UTTERANCE:
            source["normalise"] = "file"
        elif alike:
            every = np.concatenate(alike)
            source |= {"mean": _rounded(every.mean()), "deviation": _rounded(every.std()) or 1.0}
        layers = 3 if rows >= _LONG else 2 if rows >= _MIDDLING else 1
        encoder: dict[str, Any] = {"kind": "pyramid", "size": width, "layers": layers, "dropout": 0.3}
        if usual > _WIDE:
            narrowing = {"over": "time", "channels": [2 * width], "width": 1, "stride": 1}
            encoder |= {"convolution": narrowing, "halvings": layers - 1, "input_dropout": 0.3}
        return source, encoder


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
