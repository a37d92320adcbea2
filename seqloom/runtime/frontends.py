"""What a frozen network sees of images, by an exported graph."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from seqloom.data.media.files import Media
from seqloom.data.media.images import ImagePixels
from seqloom.runtime.sessions import Session


class SeenFeatures:
    """Arrays [P, F] in half precision, as training had them. network: the graph; its hash is a part of the key."""

    def __init__(self, network: Session, pixels: ImagePixels, sha256: str) -> None:
        self._network, self._pixels, self._sha256 = network, pixels, sha256

    @property
    def key(self) -> str:
        """All that the arrays depend on beside the files."""
        return f"graph {self._sha256[:16]} of {self._pixels.key}"

    @property
    def row(self) -> tuple[int, ...]:
        """How many numbers there are at each place of the grid."""
        return self._network.shape_of("features")[2:]

    def arrays(self, files: Sequence[Media]) -> Iterator[npt.NDArray[np.float16]]:
        """Yield what is seen of each file, in order."""
        for media in files:
            (seen,) = self._network.run(["features"], {"pixels": self._pixels.array(media)[None]})
            yield seen[0].astype(np.float16)
