"""Where a model listened: the spectrogram above, words below, and a page that plays the sound."""

from pathlib import Path

import numpy as np
import pytest

from seqloom.results.layouts import Frames
from seqloom.results.predictions import Alignment, Candidate, Prediction
from seqloom.views import Exhibit, Picture, write_map
from seqloom.views.maps.listening import LARGEST_SOUND, heard_source, listening_drawing, listening_sketch


@pytest.fixture
def exhibit() -> Exhibit:
    weights = np.zeros((1, 3, 10), np.float32)
    weights[0, [0, 1, 2], [1, 5, 9]] = 1.0
    alignment = Alignment(weights, ("",) * 10, ((0, 0),) * 10, Frames(4, 0.01))
    best = Candidate("c4 <e5>", ("c4", "<e5>", "<end>"), 0.0, 0.0, (0.0,) * 3, {"sound": alignment})
    return Exhibit(
        Prediction({"sound": "clip.wav"}, best), {"sound": Picture(np.zeros((8, 40, 3), np.uint8))}, sounds={"sound": b"RIFF"}
    )


def test_a_page_plays_the_sound_and_knows_when_symbols_listened(exhibit: Exhibit, tmp_path: Path) -> None:
    page = write_map(exhibit, tmp_path / "map.html").read_text(encoding="utf-8")
    assert 'src="data:audio/wav;base64,UklGRg=="' in page
    assert 'data-seconds="0.4" data-moments="0.040 0.200 0.360"' in page
    assert "&lt;e5&gt;" in page
    assert "<e5>" not in page


def test_a_long_recording_stays_outside(exhibit: Exhibit, tmp_path: Path) -> None:
    long = Exhibit(exhibit.prediction, exhibit.pictures, sounds={"sound": b"\0" * (LARGEST_SOUND + 1)})
    page = write_map(long, tmp_path / "map.html").read_text(encoding="utf-8")
    assert "<audio" not in page
    assert "too long to be put into a page" in page


def test_pictures_and_rows_share_one_scale(exhibit: Exhibit, tmp_path: Path) -> None:
    assert heard_source(exhibit) == "sound"
    svg = listening_sketch(exhibit, "a title").svg("where it listened")
    assert svg.count("data-index") == 3
    assert "0.4 s" in svg
    assert write_map(exhibit, tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_picture_it_is_a_heat_map(exhibit: Exhibit, tmp_path: Path) -> None:
    assert heard_source(Exhibit(exhibit.prediction)) is None
    assert "<audio" not in write_map(exhibit.prediction, tmp_path / "map.html").read_text(encoding="utf-8")


def test_a_page_of_a_server_gets_it_as_data(exhibit: Exhibit) -> None:
    drawn = listening_drawing(exhibit)
    assert drawn is not None
    audio, drawing = drawn[2]
    assert audio[1]["src"] == "data:audio/wav;base64,UklGRg=="
    [svg] = drawing[2]
    assert [one[0] for one in svg[2]].count("image") == 1
    assert listening_drawing(Exhibit(exhibit.prediction)) is None
