"""What moves before a camera that stands still becomes numbers: its shape, and how fast it goes."""

from dataclasses import replace
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest

from seqloom.data.builtin.moves import MovesRoot
from seqloom.data.doctor.examination import examine
from seqloom.data.doctor.file_checks import file_checks
from seqloom.data.examples import Origin
from seqloom.data.kinds.movement import MovementKind
from seqloom.data.media.files import FrameFolder
from seqloom.data.media.movement import MovementRows
from seqloom.data.media.videos import VideoFrames, Watched
from seqloom.errors import RecipeError
from seqloom.models.encoders.frontends import frontend_variants
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import MovementSource, Recipe
from seqloom.suggest.recognition import recognise
from seqloom.training.session import train

pytest.importorskip("av")
Frames = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def scene(pace: int, *, count: int = 20, side: int = 12) -> Frames:
    """A dark letter L that goes across a bright wall, [L, 60, 100]; before a camera at ten frames a second."""
    frames = np.full((count, 60, 100), 200, dtype=np.uint8)
    for number in range(count):
        left = (10 if pace >= 0 else 78) + pace * number
        frames[number, 20 : 20 + side, left : left + side // 2] = 30
        frames[number, 20 + side // 2 : 20 + side, left : left + side] = 30
    return frames


def saved(folder: Path, frames: Frames) -> None:
    """A folder of pictures."""
    images = pytest.importorskip("PIL.Image")
    folder.mkdir()
    for number, frame in enumerate(frames):
        images.fromarray(np.repeat(frame[..., None], 3, axis=-1)).save(folder / f"{number}.png")


def rows_of(path: Path, frames: Frames, *, size: int = 10) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    saved(path / "clip", frames)
    kind = MovementKind(MovementSource(size=size, root=str(path)))
    return kind.frontend().array(kind.find("clip", Origin("table.tsv", 1)))


def test_the_shape_is_seen_in_the_box(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, scene(3))
    assert rows.shape == (20, 103)
    middle = rows[10, :100].reshape(10, 10)
    assert middle.min() >= 0.0
    assert middle.max() > 0.9
    assert middle[2:4, 6:8].max() < 0.3  # where the letter has its gap
    assert middle[6:8, 6:8].min() > 0.7
    assert middle[:, 0].max() < 0.2


def test_the_shape_does_not_tell_where_it_is(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, scene(3))
    assert np.abs(rows[6, :100] - rows[12, :100]).max() < 0.5


@pytest.mark.parametrize("pace", [3, -3])
def test_the_pace_is_in_sides_of_the_box_a_second(tmp_path: Path, pace: int) -> None:
    down, across, speed = rows_of(tmp_path, scene(pace))[5:-5, -3:].T
    side = 20  # a fifth of the frame
    np.testing.assert_allclose(across, 10 * pace / side, rtol=0.01)
    np.testing.assert_allclose(down, 0.0, atol=0.05)
    np.testing.assert_allclose(speed, np.hypot(down, across), rtol=1e-5)


def test_a_mirrored_clip_goes_the_other_way(tmp_path: Path) -> None:
    saved(tmp_path / "clip", scene(3))
    kind = MovementKind(MovementSource(size=10, root=str(tmp_path)))
    clip = kind.find("clip", Origin("table.tsv", 1))
    rows, mirrored = kind.frontend().array(clip), replace(kind.frontend(), mirrored=True).array(clip)
    fields = rows[:, :100].reshape(-1, 10, 10)
    np.testing.assert_allclose(mirrored[:, :100].reshape(-1, 10, 10), fields[:, :, ::-1], atol=1e-5)
    np.testing.assert_allclose(mirrored[:, 100:], rows[:, 100:] * [1, -1, 1], atol=1e-5)


def test_where_nothing_moves_all_numbers_are_zero(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, scene(0))
    assert rows.shape == (20, 103)
    assert not rows.any()


def test_a_single_frame_has_a_row(tmp_path: Path) -> None:
    assert rows_of(tmp_path, scene(3, count=1)).shape == (1, 103)


def _shown(_: VideoFrames, seen: Watched, *__: object) -> Watched:
    return seen


def test_videos_are_turned_as_their_files_say(monkeypatch: pytest.MonkeyPatch) -> None:
    upright, times = scene(3), np.arange(20) / 10
    clip = FrameFolder("clip", "clip", 0, 0, bytes)
    found = []
    for turns in (0, 1):
        lying = np.rot90(upright, -turns, axes=(1, 2))
        seen = Watched(lying, times, turns)
        monkeypatch.setattr(VideoFrames, "watched", partialmethod(_shown, seen))
        found.append(MovementRows(10).array(clip))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_drawn_films_have_movement() -> None:
    film = MovesRoot().resolve("moves:12")
    rows = MovementRows(16).array(film)
    assert len(rows) == len(VideoFrames(16, 16).array(film))
    assert rows.any()


def test_several_threads_change_nothing() -> None:
    films = [MovesRoot().resolve(f"moves:{number}") for number in range(3)]
    for one, other in zip(MovementRows(8).arrays(films), MovementRows(8, threads=2).arrays(films), strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_are_kept_apart_by_what_they_depend_on() -> None:
    some = (MovementRows(8), MovementRows(16), MovementRows(8, 5.0), MovementRows(8, 5.0, 20), MovementRows(8, mirrored=True))
    assert len({one.key for one in some}) == 5
    assert MovementRows(8, threads=2).key == MovementRows(8).key


def test_a_table_of_videos_is_still_one_of_videos() -> None:
    assert not MovementKind.endings
    source, encoder = MovementKind.suggested([], 64)
    assert MovementSource.model_validate(source).in_words == "what moves in videos, 16 x 16 fields, 10 frames per second"
    assert encoder["size"] == 32


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Clips of things that go left or right, as folders of pictures."""
    lines = []
    for number in range(12):
        pace = 3 if number % 2 else -3
        saved(tmp_path / f"clip{number}", scene(pace, count=8))
        lines.append(f"clip{number}\t{'right' if pace > 0 else 'left'}\n")
    (tmp_path / "table.tsv").write_text("".join(lines))
    return tmp_path / "table.tsv"


def test_it_is_examined_trains_predicts_and_is_explained(table: Path) -> None:
    sources = {"movement": MovementSource(size=4, maximum_frames=6)}
    diagnosis = examine({"train": str(table)}, sources=sources, further=file_checks(sources, sized=True))
    assert "cut-videos" in {one.code for one in diagnosis.findings}
    outcome = train(
        {
            "data": {
                "train": str(table),
                "validation": str(table),
                "sources": {"movement": {"kind": "movement", "size": 4}},
            },
            "model": {
                "encoder": {"kind": "pyramid", "size": 4, "layers": 1},
                "decoder": {"cell": "gru", "size": 8, "embedding": 8},
            },
            "training": {"steps": 2, "batch_size": 4, "threads": 1, "augment": {"time_masks": 0, "flip": True}},
        },
        table.parent / "run",
    )
    (found,) = Predictor.load(outcome.path).predict([str(table.parent / "clip3")])
    assert len(found.alignment["movement"].symbols) == 8
    page = found.save(table.parent / "map.html").read_text(encoding="utf-8")
    assert "clip3" in page


def test_it_is_drawn_dark_on_white(table: Path) -> None:
    kind = MovementKind(MovementSource(size=4))
    drawn = kind.renderer(kind.find("clip3", Origin(str(table), 4)))()
    assert drawn.shape == (8, 96, 96, 3)
    assert drawn[4].max() == 255
    assert drawn[4].min() < 100


def test_columns_of_videos_are_recognised_as_before(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"")
    (tmp_path / "table.tsv").write_text("".join(f"a.mp4\t{word}\n" for word in ("left", "right") * 4))
    assert {one.kind for one in recognise(str(tmp_path / "table.tsv")).sources.values()} == {"video"}


def test_only_what_moves_is_mirrored_by_training(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text(
        "data: {train: t.tsv, sources: {sound: {kind: sound}}}\nmodel: {encoder: {kind: pyramid}}\n"
        "training: {augment: {flip: true}}\n"
    )
    with pytest.raises(RecipeError, match=r"training\.augment\.flip: it mirrors sources of kind movement, and there is none"):
        read_recipe(tmp_path / "recipe.yaml")


def test_forms_to_learn_from_are_drawn_if_a_recipe_says_so() -> None:
    data = {"train": "t.tsv", "sources": {"movement": {"kind": "movement"}}}
    recipe = Recipe.model_validate({"data": data, "model": {"encoder": {"kind": "pyramid"}}})
    assert not frontend_variants(recipe)
    flipped = Recipe.model_validate({**recipe.model_dump(), "training": {"augment": {"flip": True}}})
    assert [one.key for one in frontend_variants(flipped)["movement"]] == [
        "movement 1 16 10 200",
        "movement 1 16 10 200 mirrored",
    ]
