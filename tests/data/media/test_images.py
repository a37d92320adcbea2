"""Pictures: every kind becomes upright RGB, sizes fit, and a bad file is refused in one sentence before it costs anything."""

import io
import struct
import subprocess
import sys
import warnings
import zlib
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFile

from seqloom.data.media import images
from seqloom.data.media.files import Media
from seqloom.data.media.images import ImagePixels, ImageProblem, check_header, open_image
from seqloom.errors import MissingExtraError
from seqloom.installation import install_command

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def file_of(name: str, content: bytes) -> Media:
    """A file in memory."""
    return Media(name, name, len(content), 0, lambda: content)


def saved(image: Image.Image, kind: str = "PNG", **options: Any) -> Media:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return file_of(f"picture.{kind.lower()}", stream.getvalue())


def smooth(width: int, height: int) -> Image.Image:
    """A picture without sharp edges: red grows to the right, green downward."""
    red, green = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([red, green, np.full_like(red, 90)], axis=2).astype(np.uint8))


def corners(image: Image.Image) -> list[object]:
    right, bottom = image.width - 1, image.height - 1
    return [image.getpixel(place) for place in ((0, 0), (right, 0), (0, bottom), (right, bottom))]


def close(first: object, second: object, tolerance: float) -> bool:
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return float(np.abs(difference).max()) <= tolerance


def png_that_claims(width: int, height: int) -> Media:
    """A PNG of some hundred bytes with a header that promises a picture of any size, and a first piece of its pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return file_of("bomb.png", b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))


# --- kinds of files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "tolerance"), [("PNG", 0), ("JPEG", 12), ("WEBP", 24), ("BMP", 0), ("TIFF", 0)])
def test_common_kinds_are_read_as_rgb(kind: str, tolerance: int) -> None:
    picture = smooth(40, 30)
    image = open_image(saved(picture, kind))
    assert (image.mode, image.size) == ("RGB", (40, 30))
    assert close(image, picture, tolerance)


def test_grey_becomes_three_equal_channels() -> None:
    assert corners(open_image(saved(Image.new("L", (4, 4), 77)))) == [(77, 77, 77)] * 4
    assert corners(open_image(saved(Image.new("1", (4, 4), 1)))) == [WHITE] * 4


def test_sixteen_bits_are_scaled_and_not_cut_off() -> None:
    ramp = np.array([[0, 257, 32_896, 65_535]], dtype=np.uint16)
    image = open_image(saved(Image.fromarray(ramp)))
    assert [image.getpixel((x, 0)) for x in range(4)] == [(value,) * 3 for value in (0, 1, 128, 255)]


def transparent() -> Image.Image:
    image = Image.new("RGBA", (2, 1), (255, 0, 0, 255))
    image.putpixel((1, 0), (255, 0, 0, 0))
    return image


def transparent_palette() -> Image.Image:
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putpixel((1, 0), 1)
    image.info["transparency"] = 1
    return image


@pytest.mark.parametrize("make", [transparent, transparent_palette])
def test_transparent_pictures_lie_on_white(make: Callable[[], Image.Image]) -> None:
    image = open_image(saved(make()))
    assert [image.getpixel((x, 0)) for x in (0, 1)] == [RED, WHITE]


def test_half_transparent_is_half_white() -> None:
    assert open_image(saved(Image.new("LA", (1, 1), (0, 128)))).getpixel((0, 0)) == (127, 127, 127)


def test_a_palette_is_looked_up() -> None:
    assert close(open_image(saved(smooth(16, 16).quantize(256))), smooth(16, 16), 20)


def test_cmyk_is_read_with_its_colours() -> None:
    cyan = saved(Image.new("CMYK", (8, 8), (255, 0, 0, 0)), "JPEG")
    assert close(open_image(cyan).getpixel((3, 3)), (0, 255, 255), 3)


@pytest.mark.parametrize(
    ("orientation", "expected"),
    [
        (1, [RED, GREEN, BLUE, WHITE]),
        (3, [WHITE, BLUE, GREEN, RED]),
        (6, [BLUE, RED, WHITE, GREEN]),
        (8, [GREEN, WHITE, RED, BLUE]),
    ],
)
def test_pictures_are_turned_as_exif_says(orientation: int, expected: list[object]) -> None:
    quarters = Image.new("RGB", (48, 32), RED)
    for colour, place in ((GREEN, (24, 0)), (BLUE, (0, 16)), (WHITE, (24, 16))):
        quarters.paste(colour, (*place, place[0] + 24, place[1] + 16))
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = open_image(saved(quarters, "JPEG", exif=exif, quality=95))
    assert image.size == ((32, 48) if orientation in (6, 8) else (48, 32))
    assert all(close(found, wanted, 12) for found, wanted in zip(corners(image), expected, strict=True))


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_counts(kind: str) -> None:
    file = saved(Image.new("RGB", (8, 8), RED), kind, save_all=True, append_images=[Image.new("RGB", (8, 8), BLUE)])
    assert close(open_image(file).getpixel((4, 4)), RED, 3)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(10_000, 10_000), (60_000, 60_000), (40_000, 1)])
def test_an_enormous_picture_is_refused_by_its_header(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    def load(self: ImageFile.ImageFile) -> None:
        raise AssertionError("pixels were decoded")

    monkeypatch.setattr(ImageFile.ImageFile, "load", load)
    file = png_that_claims(*size)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = check_header(file)
        with pytest.raises(ImageProblem) as caught:
            open_image(file)
    assert (str(caught.value), caught.value.code) == (text, "enormous-picture")
    assert str(text).startswith("bomb.png: expected a picture of at most 50 million pixels and 32,000 on a side, found ")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP"])
def test_a_file_that_breaks_off_is_refused(kind: str) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (80, 80, 3), dtype=np.uint8)
    whole = saved(Image.fromarray(noise), kind)
    for share in (0.5, 0.9):
        with pytest.raises(ImageProblem, match=r"breaks off|could not be decoded"):
            open_image(file_of("half", whole.read()[: int(share * len(whole.read()))]))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_the_sentence_for_a_truncated_picture(kind: str) -> None:
    whole = saved(smooth(200, 200), kind)
    half = file_of("half.dat", whole.read()[: len(whole.read()) // 2])
    assert check_header(half) is None
    with pytest.raises(ImageProblem) as caught:
        ImagePixels(8, 8).array(half)
    assert str(caught.value) == "half.dat: expected a whole picture, found one that breaks off. Copy or download it again"
    assert caught.value.code == "truncated-picture"


@pytest.mark.parametrize(
    ("content", "code", "text"),
    [
        (b"", "truncated-picture", "a.png: expected a picture, found an empty file. Copy or download it again"),
        (
            b"<!DOCTYPE html><html>404",
            "not-a-picture",
            "a.png: expected a picture (JPEG, PNG, WebP, GIF, BMP or TIFF), found a file that begins with b'<!DOCTYPE ht'. "
            "Convert it, or remove it from the data",
        ),
    ],
)
def test_what_is_no_picture_is_refused(content: bytes, code: str, text: str) -> None:
    assert check_header(file_of("a.png", content)) == text
    with pytest.raises(ImageProblem) as caught:
        open_image(file_of("a.png", content))
    assert (str(caught.value), caught.value.code) == (text, code)


def test_a_file_that_cannot_be_read_is_said_to_be_so() -> None:
    def reader() -> bytes:
        raise PermissionError("no")

    assert check_header(Media("a.png", "photos/a.png", 5, 0, reader)) == "photos/a.png: could not be read (no). Check the file"


def test_kinds_that_start_other_programs_are_not_opened() -> None:
    assert "expected a picture" in str(check_header(file_of("a.eps", saved(smooth(8, 8), "EPS").read())))


def test_numbers_without_a_range_are_refused() -> None:
    with pytest.raises(ImageProblem, match="32 bits and no known range"):
        open_image(saved(Image.new("F", (2, 2), 0.5), "TIFF"))


SAMPLES = [saved(smooth(24, 18), kind).read() for kind in ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP")]


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(SAMPLES), st.data())
@pytest.mark.filterwarnings("ignore")
def test_damage_of_any_kind_gives_a_picture_or_a_sentence(content: bytes, data: st.DataObject) -> None:
    damaged = bytearray(content)
    for place, value in data.draw(st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=4)):
        damaged[place] = value
    file = file_of("damaged", bytes(damaged[: data.draw(st.integers(0, len(content)))]))
    try:
        image = open_image(file)
    except ImageProblem as problem:
        assert str(problem).startswith("damaged: ")  # noqa: PT017
    else:
        assert image.mode == "RGB"
        assert check_header(file) is None


# --- arrays of one size ---------------------------------------------------------------------------------------------


def halves() -> Image.Image:
    """Twice as wide as high: a red quarter, a blue half, a green quarter."""
    image = Image.new("RGB", (80, 40), BLUE)
    image.paste(RED, (0, 0, 20, 40))
    image.paste(GREEN, (60, 0, 80, 40))
    return image


@pytest.mark.parametrize(
    ("fit", "expected"),
    [("crop", [BLUE, BLUE, BLUE, BLUE]), ("stretch", [RED, GREEN, RED, GREEN]), ("pad", [WHITE, WHITE, WHITE, WHITE])],
)
def test_fits_differ_in_what_the_corners_show(fit: Literal["crop", "pad", "stretch"], expected: list[object]) -> None:
    array = ImagePixels(20, 20, fit).array(saved(halves()))
    assert array.shape == (20, 20, 3)
    assert array.dtype == np.uint8
    # The filter sees a little beyond the edge of what is cut out.
    assert all(close(found, wanted, 20) for found, wanted in zip(corners(Image.fromarray(array)), expected, strict=True))


def test_padding_keeps_the_whole_picture_in_the_middle() -> None:
    array = ImagePixels(20, 20, "pad").array(saved(halves()))
    assert (array[:5] == 255).all()
    assert (array[15:] == 255).all()
    assert array[10, 0].tolist() == list(RED)
    assert array[10, 19].tolist() == list(GREEN)


def test_the_shape_is_height_then_width() -> None:
    pixels = ImagePixels(8, 16)
    assert pixels.array(saved(smooth(100, 100))).shape == pixels.row == (8, 16, 3)


def test_fine_patterns_are_averaged() -> None:
    board = np.indices((256, 256)).sum(axis=0) % 2 * 255
    array = ImagePixels(16, 16).array(saved(Image.fromarray(board.astype(np.uint8))))
    assert close(array, 127.5, 2)


@pytest.mark.parametrize("fit", ["crop", "pad", "stretch"])
def test_a_large_jpeg_is_as_good_as_the_same_picture_without_shortcuts(fit: Literal["crop", "pad", "stretch"]) -> None:
    picture = smooth(1600, 900)
    quick, slow = (ImagePixels(32, 48, fit).array(saved(picture, kind)) for kind in ("JPEG", "PNG"))
    assert close(quick, slow, 6)


def test_cropping_works_for_every_size() -> None:
    image = smooth(97, 61)
    for size in range(1, 120):
        assert ImagePixels(size, 7)._fitted(image).size == (7, size)


def test_arrays_may_be_written_to() -> None:
    assert ImagePixels(4, 4).array(saved(smooth(4, 4))).flags.writeable


def test_extreme_proportions_leave_something() -> None:
    for fit in ("crop", "pad", "stretch"):
        assert ImagePixels(8, 8, fit).array(saved(smooth(3000, 1))).shape == (8, 8, 3)


def test_threads_change_neither_order_nor_values() -> None:
    files = [saved(Image.new("RGB", (30, 30), (shade, 0, 0)), "JPEG") for shade in range(0, 250, 10)]

    def arrays(threads: int) -> npt.NDArray[np.uint8]:
        return np.stack(list(ImagePixels(8, 8, threads=threads).arrays(files)))

    np.testing.assert_array_equal(arrays(1), arrays(2))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_bad_file_ends_the_arrays_where_it_stands(threads: int) -> None:
    good = saved(smooth(8, 8))
    arrays = ImagePixels(8, 8, threads=threads).arrays([good, file_of("bad.png", b"no"), good])
    next(arrays)
    with pytest.raises(ImageProblem, match=r"bad\.png"):
        next(arrays)


def test_files_are_read_a_few_at_a_time() -> None:
    taken = 0

    def files() -> Any:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield saved(smooth(4, 4))

    arrays = ImagePixels(4, 4, threads=2).arrays(files())
    next(arrays)
    assert taken < 10
    arrays.close()  # type: ignore[attr-defined]


def test_the_key_tells_settings_apart_and_not_threads() -> None:
    keys = {ImagePixels(*size, fit).key for size in ((8, 8), (8, 9)) for fit in ("crop", "pad", "stretch")}
    assert len(keys) == 6
    assert ImagePixels(8, 8, threads=2).key == ImagePixels(8, 8).key


# --- Pillow ---------------------------------------------------------------------------------------------------------


def test_without_pillow_the_extra_is_named(without_library: Callable[[str], None]) -> None:
    without_library("PIL")
    for look in (open_image, check_header, ImagePixels(4, 4).array):
        with pytest.raises(MissingExtraError) as caught:
            look(file_of("a.png", b""))
        assert str(caught.value) == (
            "Reading pictures needs the extra 'images', which is not installed. Run: " + install_command("images")
        )


def test_pillow_is_imported_only_when_needed() -> None:
    code = f"import sys, {images.__name__}; sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
