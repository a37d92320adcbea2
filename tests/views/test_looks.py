"""Several looks at every step: a map for each."""

import numpy as np

from seqloom.results.predictions import Alignment, Candidate
from seqloom.views.maps.chosen import by_look


def test_every_look_at_every_source_is_a_map_of_its_own() -> None:
    weights = np.zeros((3, 1, 2), np.float32)
    weights[[0, 1, 2], 0, [0, 1, 1]] = 1.0
    story = Alignment(weights, ("a.", "b."), ((0, 2), (3, 5)), looks=3)
    candidate = Candidate("x", ("x",), 0.0, 0.0, (0.0,), {"story": story, "question": story})
    parted = by_look(candidate).alignment
    assert list(parted)[:3] == ["story, look 1", "question, look 1", "story, look 2"]
    assert [one.weights.argmax() for name, one in parted.items() if name.startswith("story")] == [0, 1, 1]
    assert story.as_json()["looks"][0] == [[1.0, 0.0]]


def test_one_look_stays_as_it_is() -> None:
    one = Alignment(np.ones((1, 1, 1), np.float32), ("a",), ((0, 1),))
    candidate = Candidate("x", ("x",), 0.0, 0.0, (0.0,), {"source": one})
    assert list(by_look(candidate).alignment) == ["source"]
    assert "looks" not in one.as_json()
