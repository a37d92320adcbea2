"""Videos become rows of frames; what is no video, too large or too long is refused in a sentence."""

import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from seqloom.data.builtin.moves import draw
from seqloom.data.examples import Origin
from seqloom.data.kinds.video import VideoKind
from seqloom.data.media import videos
from seqloom.data.media.animations import apng
from seqloom.data.media.files import MediaError
from seqloom.recipe.sections import VideoSource

av = pytest.importorskip("av")


def write_clip(path: Path, *, count: int = 20, width: int = 32, height: int = 24, codec: str = "mpeg4", rate: int = 10) -> Path:
    """A clip whose frames grow brighter from left to right and from frame to frame."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "rgb8" if codec == "gif" else "yuv420p"
        for number in range(count):
            pixels = np.full((height, width, 3), 10 * number, np.uint8)
            pixels[:, width // 2 :] = 255 - 10 * number
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def kind_of(root: Path | None = None, **settings: object) -> VideoKind:
    """The kind with settings of a recipe, small unless they say otherwise."""
    return VideoKind(VideoSource.model_validate({"size": 8, "root": None if root is None else str(root), **settings}))


def frames_of(path: Path, **settings: object) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    kind = kind_of(path.parent, **settings)
    return kind.frontend().array(kind.find(path.name, Origin(str(path.parent / "table.tsv"), 1)))


def trouble(path: Path) -> str:
    """What is said of a file: by its header if possible, else when it is decoded."""
    kind = kind_of(path.parent)
    media = kind.find(path.name, Origin(str(path.parent / "table.tsv"), 1))
    told = kind.trouble_in(media)
    if told is not None:
        return told
    with pytest.raises(MediaError) as caught:
        kind.frontend().array(media)
    return str(caught.value)


@pytest.mark.parametrize(("ending", "codec"), [("mp4", "libx264"), ("avi", "mpeg4"), ("mkv", "mpeg4"), ("gif", "gif")])
def test_files_of_every_kind_become_frames(tmp_path: Path, ending: str, codec: str) -> None:
    frames = frames_of(write_clip(tmp_path / f"clip.{ending}", codec=codec), frames_per_second=None)
    assert frames.shape == (20, 8, 8, 3)
    assert frames.dtype == np.uint8
    assert (np.diff(frames[:, :, 0, 0].mean(axis=1)) >= 0).all()


def test_frames_between_are_left_out(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", rate=10)
    every = frames_of(path, frames_per_second=None)
    np.testing.assert_array_equal(frames_of(path, frames_per_second=5), every[::2])
    np.testing.assert_array_equal(frames_of(path, frames_per_second=30), every)


def test_no_more_frames_are_taken_than_wanted(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4")
    kind = kind_of(tmp_path, maximum_frames=7)
    media = kind.find(path.name, Origin("table.tsv", 1))
    assert len(kind.frontend().array(media)) == 7
    assert kind.shortcoming(media) == "2 s"
    assert kind_of(tmp_path).shortcoming(media) is None


def test_grey_is_one_channel(tmp_path: Path) -> None:
    assert frames_of(write_clip(tmp_path / "clip.mp4"), grey=True).shape == (20, 8, 8, 1)


def test_a_frame_is_cut_padded_or_stretched(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4", width=64, height=16, count=2)
    cut, padded, stretched = (frames_of(path, fit=fit)[1] for fit in ("crop", "pad", "stretch"))
    assert cut.shape == padded.shape == stretched.shape == (8, 8, 3)
    assert (padded[0] == 255).all()
    assert (stretched[:, 0] < 60).all()
    assert not (cut == 255).all(axis=(1, 2)).any()


def test_animated_pictures_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "film.apng").write_bytes(apng(draw(3, 16)))
    np.testing.assert_array_equal(frames_of(tmp_path / "film.apng", size=16, frames_per_second=None), draw(3, 16))


def test_a_folder_of_pictures_is_a_video_in_the_order_of_numbers(tmp_path: Path) -> None:
    images = pytest.importorskip("PIL.Image")
    (tmp_path / "clip").mkdir()
    for number in (1, 2, 10):
        images.fromarray(np.full((8, 8, 3), 20 * number, np.uint8)).save(tmp_path / "clip" / f"{number}.png")
    (tmp_path / "clip" / "notes.txt").write_text("no frame")
    assert frames_of(tmp_path / "clip")[:, 0, 0, 0].tolist() == [20, 40, 200]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for one in (tmp_path / "clip").iterdir():
            archive.write(one, f"clip/{one.name}")
    kind = kind_of(tmp_path / "all.zip")
    media = kind.find("clip", Origin("table.tsv", 1))
    assert len(kind.frontend().array(media)) == 3
    assert media.content_hash == kind_of(tmp_path).find("clip", Origin("table.tsv", 1)).content_hash


def test_a_form_moves_all_frames_alike_and_repeats_their_edges() -> None:
    frames = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
    moved = videos.ClipForm(down=0.25, across=-0.5).of(frames)
    np.testing.assert_array_equal(moved[:, 1:, :2], frames[:, :3, 2:])
    np.testing.assert_array_equal(moved[:, 0], moved[:, 1])
    np.testing.assert_array_equal(moved[:, :, 3], moved[:, :, 2])
    np.testing.assert_array_equal(videos.ClipForm(mirrored=True).of(frames), frames[:, :, ::-1])


def test_a_folder_without_pictures_is_none(tmp_path: Path) -> None:
    (tmp_path / "clip").mkdir()
    with pytest.raises(MediaError, match="folder without pictures"):
        kind_of(tmp_path).find("clip", Origin("table.tsv", 1))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"expected a file .*missing\.mp4"):
        kind_of(tmp_path).find("missing.mp4", Origin("table.tsv", 1))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty.mp4", b"", "found an empty file"),
        (
            "text.mp4",
            b"this is no video at all",
            "expected a video (MP4, AVI, MKV, WebM, MPEG, GIF or APNG), found a file that",
        ),
        ("concat.mp4", b"ffconcat version 1.0\nfile /etc/passwd\n", "expected a video"),
        ("header.mp4", b"\0\0\0\x18ftypisom" + bytes(40), "breaks off or is damaged"),
    ],
)
def test_what_is_no_video_is_refused(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert told in trouble(tmp_path / name)
    assert trouble(tmp_path / name).startswith(name)


@pytest.mark.parametrize(("ending", "codec"), [("mp4", "libx264"), ("avi", "mpeg4"), ("gif", "gif")])
def test_a_truncated_video_is_refused(tmp_path: Path, ending: str, codec: str) -> None:
    path = write_clip(tmp_path / f"clip.{ending}", codec=codec)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert "breaks off" in trouble(path)


def test_a_coding_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "clip.mp4")
    path.write_bytes(path.read_bytes().replace(b"mp4v", b"zzzz").replace(b"esds", b"zzzz"))
    assert "expected a video whose coding is known" in trouble(path)


def test_an_enormous_frame_is_refused_by_its_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_clip(tmp_path / "clip.gif", codec="gif")
    content = bytearray(path.read_bytes())
    content[6:10] = struct.pack("<HH", 16_384, 16_384)
    path.write_bytes(bytes(content))
    monkeypatch.setattr(videos, "_decoded", None)  # nothing is decoded
    assert "expected frames of at most 50 million pixels" in trouble(path)


def test_an_endless_video_is_refused_by_its_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_clip(tmp_path / "clip.mp4")
    monkeypatch.setattr(videos, "LONGEST", 1.0)
    assert "expected a video of at most 1 seconds, found 2. Cut it into clips" in trouble(path)
