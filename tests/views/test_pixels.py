"""Our small writer of PNG files, read back by Pillow, which comes with matplotlib."""

import io

import numpy as np
import pytest
from PIL import Image

from seqloom.views.drawing.pixels import data_uri, indexed_png, rgb_png, shrunk

from . import pictures


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 17)])
def test_any_picture_comes_back_as_it_was(shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (*shape, 3)).astype(np.uint8)
    read = Image.open(io.BytesIO(rgb_png(pixels)))
    assert np.array_equal(np.asarray(read.convert("RGB")), pixels)


def test_a_drawn_scene_becomes_small() -> None:
    scene = pictures.scene()
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(rgb_png(scene)))), scene)
    assert len(rgb_png(scene)) < scene.size / 10


def test_a_palette_keeps_its_opacities() -> None:
    colours = np.array([[10, 20, 30, 0], [200, 100, 50, 128]], np.uint8)
    indices = np.array([[0, 1], [1, 1], [0, 0]], np.uint8)
    read = np.asarray(Image.open(io.BytesIO(indexed_png(indices, colours))).convert("RGBA"))
    assert np.array_equal(read, colours[indices])


def test_an_address_holds_the_file() -> None:
    assert data_uri(b"\x89PNG") == "data:image/png;base64,iVBORw=="


def test_large_pictures_shrink_by_whole_blocks() -> None:
    pixels = np.repeat(np.repeat(pictures.scene(), 3, axis=0), 3, axis=1)
    assert np.array_equal(shrunk(pixels, 300), pictures.scene())
    assert shrunk(pixels, 2000) is pixels
