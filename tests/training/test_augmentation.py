"""Frames that are changed while a model learns."""

import numpy as np
import pytest

from seqloom.data.arrays import Padded
from seqloom.errors import RecipeError
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Augment
from seqloom.training.augmentation import masked


def frames(*lengths: int, bands: int = 20) -> Padded:
    random = np.random.default_rng(1)
    return Padded.of([random.normal(size=(length, bands)).astype(np.float32) for length in lengths])


def test_stretches_and_bands_are_covered_by_the_mean_and_nothing_else_changes() -> None:
    whole = frames(100, 40)
    covered = masked(whole, Augment(time_masks=1, time_width=10, band_masks=1, band_width=4), np.random.default_rng(3))
    changed = covered.values != whole.values
    for one, before, length in zip(changed, whole.values, (100, 40), strict=True):
        assert not one[length:].any()
        rows, bands = one[:length].all(axis=1), one[:length].all(axis=0)
        assert rows.sum() <= 10
        assert bands.sum() <= 4
        assert (one[:length] == (rows[:, None] | bands[None])).all()
        assert before.any()
    place = np.argwhere(changed[0])[0]
    assert covered.values[0][tuple(place)] == pytest.approx(whole.values[0, :100, place[1]].mean(), abs=1e-5)


def test_a_short_recording_keeps_most_of_itself() -> None:
    covered = masked(frames(5), Augment(time_masks=1, time_width=50, band_masks=0), np.random.default_rng(1))
    assert (covered.values == frames(5).values).all(axis=-1).sum() >= 4


def test_the_same_numbers_cover_the_same_parts() -> None:
    one, other = (masked(frames(50), Augment(), np.random.default_rng(7)).values for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_text_has_nothing_to_cover() -> None:
    with pytest.raises(RecipeError, match=r"training.augment: it covers parts of sounds or other frames, and no source is one"):
        recipe_from({"data": {"builtin": "dates"}, "training": {"augment": {}}})
