"""What moves before a camera that stands still is found and cut out; if nothing moves, frames stay whole."""

from pathlib import Path

import numpy as np
import pytest

from seqloom.data.builtin.moves import MovesRoot
from seqloom.data.examples import Origin
from seqloom.data.kinds.video import VideoKind
from seqloom.data.media.following import boxes
from seqloom.data.media.videos import VideoFrames
from seqloom.recipe.sections import VideoSource

Frames = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def scene(count: int = 20, *, height: int = 48, width: int = 80, side: int = 8, pace: int = 3, top: int = 20) -> Frames:
    """A bright square that goes from left to right before a wall that is darker above than below."""
    frames = np.repeat(np.linspace(40, 90, height).astype(np.uint8)[None, :, None], count, axis=0).repeat(width, axis=2)
    for number in range(count):
        left = 4 + pace * number
        frames[number, top : top + side, left : left + side] = 220
    return frames


def times(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.arange(count) / 10


def test_a_box_goes_along_with_what_moves() -> None:
    found = boxes(scene(), times(20), ratio=1.0)
    assert found is not None
    centres = (found[:, 1] + found[:, 3]) / 2 * 80
    np.testing.assert_allclose(centres[3:-3], 8 + 3 * np.arange(20)[3:-3], atol=1.0)
    assert (found[:, 0] * 48 <= 20).all()
    assert (found[:, 2] * 48 >= 28).all()


def test_a_box_has_one_size_and_the_wanted_shape() -> None:
    found = boxes(scene(), times(20), ratio=1.5)
    assert found is not None
    heights, widths = (found[:, 2] - found[:, 0]) * 48, (found[:, 3] - found[:, 1]) * 80
    np.testing.assert_allclose(heights, heights[0])
    np.testing.assert_allclose(heights / widths, 1.5)


def test_a_box_stays_within_the_frame_however_large_it_is() -> None:
    for side in (2, 30, 47):
        found = boxes(scene(side=side, top=0), times(20), ratio=4.0)
        assert found is not None
        assert found.min() >= 0.0
        assert found.max() <= 1.0 + 1e-9


def test_a_hop_is_seen_within_the_box() -> None:
    frames = np.concatenate([scene(1, pace=0, top=20 + 6 * (number % 2)) for number in range(20)])
    found = boxes(frames, times(20), ratio=1.0)
    assert found is not None
    assert np.ptp(found[:, 0] * 48) < 2.0


def test_noise_is_nothing_that_moves() -> None:
    noise = np.random.default_rng(1).integers(100, 110, (20, 48, 80)).astype(np.uint8)
    assert boxes(noise, times(20), ratio=1.0) is None
    assert boxes(scene(1), times(1), ratio=1.0) is None


def test_frames_without_what_moves_leave_the_box_where_it_was() -> None:
    frames = scene()
    frames[10] = np.median(frames, axis=0)
    found = boxes(frames, times(20), ratio=1.0)
    assert found is not None
    assert abs((found[10, 1] + found[10, 3]) / 2 * 80 - 38) < 2.0


def folder_of(path: Path, frames: Frames) -> VideoKind:
    """A folder of pictures, as a source that is followed."""
    images = pytest.importorskip("PIL.Image")
    (path / "clip").mkdir()
    for number, frame in enumerate(frames):
        images.fromarray(np.repeat(frame[..., None], 3, axis=-1)).save(path / "clip" / f"{number}.png")
    return VideoKind(VideoSource.model_validate({"size": 16, "root": str(path), "follow": True}))


def test_what_moves_is_large_and_in_the_middle(tmp_path: Path) -> None:
    pytest.importorskip("av")
    kind = folder_of(tmp_path, scene())
    frames = kind.frontend().array(kind.find("clip", Origin("table.tsv", 1)))
    assert frames.shape == (20, 16, 16, 3)
    assert (frames[3:-3, 7:9, 7:9] > 200).all()
    assert 0.2 < (frames > 150).mean() < 0.8  # of whole frames, it is a fiftieth


def test_where_nothing_moves_frames_stay_whole(tmp_path: Path) -> None:
    pytest.importorskip("av")
    kind = folder_of(tmp_path, scene(pace=0))
    media = kind.find("clip", Origin("table.tsv", 1))
    whole = VideoFrames(16, 16).array(media).astype(int)
    assert np.abs(kind.frontend().array(media).astype(int) - whole).max() <= 12  # another way of making it smaller


def test_drawn_films_can_be_followed() -> None:
    pytest.importorskip("av")
    film = MovesRoot().resolve("moves:12")
    assert VideoFrames(16, 16, follow=True).array(film).shape == VideoFrames(16, 16).array(film).shape


def test_rows_of_what_is_followed_are_kept_apart() -> None:
    assert VideoFrames(16, 16, follow=True).key != VideoFrames(16, 16).key
    assert "following" not in VideoFrames(16, 16).key
