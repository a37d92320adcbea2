"""Film strips: what stands where."""

import numpy as np

from seqloom.views.maps.reels import Reel, ReelStep
from seqloom.views.text.labels import label


def _reel(name: str) -> Reel:
    step = ReelStep(label("run"), 0.5, np.ones((3, 1, 1), dtype=np.float32))
    return Reel(name, np.zeros((3, 8, 8, 3), dtype=np.uint8), [step])


def test_the_margin_holds_words_and_the_name_of_the_source() -> None:
    assert _reel("movement").margin > _reel("it").margin
    assert _reel("movement").margin > _reel("video").margin
