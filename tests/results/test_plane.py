"""Planes of encodings: where points lie, how far apart they are."""

import numpy as np
import pytest

from seqloom.errors import UsageError
from seqloom.results.plane import Plane, cosine_distances

RANDOM = np.random.default_rng(3)


def _plane(encodings: np.ndarray, groups: str = "") -> Plane:
    return Plane.of(
        encodings.astype(np.float32), [f"text {index}" for index in range(len(encodings))], groups or "a" * len(encodings)
    )


def test_points_of_a_plane_in_space_keep_their_distances() -> None:
    flat = RANDOM.normal(size=(9, 2)) * (3.0, 1.0)
    turned = flat @ np.linalg.qr(RANDOM.normal(size=(5, 2)))[0].T + 7.0
    plane = _plane(turned)

    drawn, true = (np.linalg.norm(points[:, None] - points[None], axis=-1) for points in (plane.places, flat))
    np.testing.assert_allclose(drawn, true, atol=1e-4)
    assert sum(plane.shares) == pytest.approx(1.0)
    assert plane.shares[0] > plane.shares[1]


def test_the_same_encodings_give_the_same_drawing_whatever_their_signs() -> None:
    vectors = RANDOM.normal(size=(6, 4))
    np.testing.assert_allclose(_plane(vectors).places, _plane(-vectors).places, atol=1e-5)


def test_distances_are_those_of_directions() -> None:
    vectors = np.asarray([[1, 0], [5, 0], [0, 2], [-3, 0], [0, 0]], dtype=np.float32)
    np.testing.assert_allclose(cosine_distances(vectors)[0], [0, 0, 1, 2, 1])


def test_neighbours_come_by_distance_and_the_text_is_not_its_own() -> None:
    plane = _plane(np.asarray([[1, 0], [1, 0.1], [1, 1], [0, 1]]))
    assert plane.neighbours(0, 3) == [1, 2, 3]
    assert plane.neighbours(3, 1) == [2]


def test_a_text_that_is_alone_in_its_group_or_in_none_does_not_count() -> None:
    groups = ["x", "x", "y", "", "x"]
    vectors = np.asarray([[1, 0], [1, 0.1], [0.9, 1], [0.8, 1], [0, 1]], dtype=np.float32)
    assert Plane.of(vectors, list("abcde"), groups).alike == (2, 3)


def test_encodings_that_are_all_equal_are_one_point() -> None:
    plane = _plane(np.ones((4, 3)))
    assert np.abs(plane.places).max() == pytest.approx(0.0)
    assert plane.shares == (0.0, 0.0)


def test_two_texts_make_no_plane() -> None:
    with pytest.raises(UsageError, match="3 texts or more, found 2"):
        _plane(np.ones((2, 3)))
