"""Attention over a picture as light."""

import numpy as np
import pytest

from seqloom.results.predictions import FloatArray
from seqloom.views.maps.overlays import blocks, composed, is_hard, light, mask_png, overlay_colours, smooth, spoken_place

from . import pictures


def one_cell(row: int, column: int, grid: tuple[int, int] = (5, 7)) -> FloatArray:
    weights = np.zeros(grid, np.float32)
    weights[row, column] = 1.0
    return weights


@pytest.mark.parametrize(("row", "column"), [(0, 0), (4, 6), (2, 3), (0, 3)])
def test_enlarging_keeps_the_greatest_weight_in_its_cell(row: int, column: int) -> None:
    for enlarge in (smooth, blocks):
        found = divmod(int(enlarge(one_cell(row, column), 50, 70).argmax()), 70)
        assert (found[0] // 10, found[1] // 10) == (row, column)


def test_equal_weights_stay_equal() -> None:
    even = np.full((5, 7), 1 / 35, np.float32)
    assert np.allclose(smooth(even, 41, 90), 1 / 35)
    assert np.allclose(blocks(even, 41, 90), 1 / 35)


def test_the_sum_of_the_weights_stays() -> None:
    share = 1 / (12 * 12)  # of a cell that a pixel covers
    for weights in pictures.looking(["ball", "house", "a"])[0].reshape(-1, *pictures.GRID):
        for enlarge in (smooth, blocks):
            assert enlarge(weights, 8 * 12, 10 * 12).sum() * share == pytest.approx(1.0, abs=0.02)


def test_smooth_has_no_edges_and_blocks_show_each_cell() -> None:
    weights = one_cell(2, 3)
    steps = np.abs(np.diff(smooth(weights, 50, 70), axis=1)).max()
    assert steps < 0.12
    assert set(np.unique(blocks(weights, 50, 70))) == {0.0, 1.0}
    assert blocks(weights, 50, 70)[20:30, 30:40].min() == 1.0


def test_a_side_that_cells_do_not_divide_is_covered_all_the_same() -> None:
    assert blocks(one_cell(4, 6), 33, 23).shape == smooth(one_cell(4, 6), 33, 23).shape == (33, 23)
    assert blocks(one_cell(4, 6), 33, 23)[-1, -1] == 1.0


def test_the_brightest_place_keeps_the_picture_and_the_rest_is_veiled() -> None:
    pixels = np.full((50, 70, 3), 200, np.uint8)
    drawn = composed(pixels, light(blocks(one_cell(2, 3), 50, 70)))
    assert drawn[25, 35].min() > 190
    assert drawn[0, 0].max() < 70


def test_even_black_shows_that_it_was_looked_at() -> None:
    drawn = composed(np.zeros((5, 7, 3), np.uint8), light(one_cell(2, 3)))
    assert drawn[2, 3].min() > drawn[0, 0].max()


def test_colours_run_evenly_from_veil_to_light() -> None:
    opacity = overlay_colours(np.linspace(0, 1, 9, dtype=np.float32))[:, 3]
    assert np.allclose(np.diff(opacity), np.diff(opacity)[0], atol=1e-6)
    assert opacity[0] > opacity[-1] > 0


def test_weights_that_are_all_zero_light_nothing() -> None:
    assert light(np.zeros((3, 3), np.float32)).max() == 0
    assert mask_png(np.zeros((3, 3), np.float32), as_blocks=False)[:4] == b"\x89PNG"


def test_attention_is_hard_if_every_step_looks_at_one_place() -> None:
    assert is_hard(pictures.picture_alignment(["a", "ball"], hard=True))
    assert not is_hard(pictures.picture_alignment(["a", "ball"]))


def test_places_are_said_in_words() -> None:
    assert spoken_place(one_cell(0, 0)) == "upper left"
    assert spoken_place(one_cell(2, 3)) == "centre"
    assert spoken_place(one_cell(4, 3)) == "lower"
    assert spoken_place(np.full((5, 7), 1 / 35, np.float32)) == "everywhere"
    assert spoken_place(np.zeros((5, 7), np.float32)) == "nowhere"
