"""Recordings as a source: what is left out, what is refused, and what the doctor says."""

from pathlib import Path

import little_data
import numpy as np
import pytest
import soundfile

from seqloom.data.doctor.examination import examine
from seqloom.data.doctor.file_checks import file_checks
from seqloom.data.examples import Origin
from seqloom.data.kinds import file_kind_of
from seqloom.errors import DataError
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import SoundSource
from seqloom.training.session import train

RATE = 8_000


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve recordings of high and low tones; each second has one."""
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    return little_data.write_tones(tmp_path, RATE)


def recipe(table: Path, **sound: object) -> dict[str, object]:
    return {
        "data": {
            "train": str(table),
            "sources": {"sound": {"kind": "sound", "rate": RATE, "bands": 16, **sound}},
            "vocabularies": {"target": {"kind": "words"}},
            "split": {"validation": 0.2, "test": 0.0},
        },
        "model": {
            "encoder": {"kind": "pyramid", "size": 8, "layers": 2},
            "decoder": {"cell": "gru", "size": 8, "embedding": 8},
        },
        "training": {"steps": 2, "batch_tokens": 200, "threads": 1, "augment": {"speeds": [0.9, 1.1]}},
    }


def test_a_table_of_recordings_trains_and_predicts(table: Path) -> None:
    outcome = train(recipe(table), table.parent / "run")
    (prediction,) = Predictor.load(outcome.path).predict([str(table.parent / "2.wav")])
    alignment = prediction.alignment["sound"]
    assert alignment.as_json()["stride"] == 2
    assert alignment.as_json()["seconds"] == 0.01
    assert alignment.symbols[:3] == ("0.00", "0.02", "0.04")


def test_what_is_longer_than_the_recipe_takes_is_left_out_and_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = train(recipe(table, longest=0.6), table.parent / "run")
    with pytest.raises(DataError, match=r"2\.wav: expected a sound of at most 0\.6 seconds .*, found 0\.75 seconds"):
        Predictor.load(outcome.path).predict([str(table.parent / "2.wav")])
    with pytest.raises(DataError, match=r"there are no train examples: all \d+ are longer"):
        train(recipe(table, longest=0.1), table.parent / "short")


def test_a_bad_file_is_named_with_its_line(table: Path) -> None:
    (table.parent / "3.wav").write_text("no sound")
    (table.parent / "4.wav").unlink()
    with pytest.raises(DataError) as caught:
        train(recipe(table), table.parent / "run")
    assert "table.tsv:4: 3.wav: expected a sound (WAV, FLAC, OGG or MP3, or a video with sound), found a file" in str(
        caught.value
    )
    assert "table.tsv:5: expected a file" in str(caught.value)


def test_outputs_may_be_as_long_as_the_sound_has_room_for(table: Path) -> None:
    kind = file_kind_of(SoundSource(rate=RATE))
    short, long = (kind.symbols(kind.find(f"{one}.wav", Origin(str(table), 1))) for one in (0, 2))
    assert (short, long) == (7, 20)


def test_the_doctor_hears_what_is_poor(table: Path) -> None:
    folder = table.parent
    soundfile.write(folder / "0.wav", np.zeros(RATE), RATE)
    soundfile.write(folder / "1.wav", np.sign(np.sin(np.arange(RATE))), RATE)
    soundfile.write(folder / "2.wav", 0.1 * np.ones(RATE), 4_000)
    (folder / "5.wav").write_bytes((folder / "8.wav").read_bytes())
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join([*lines[:7], f"7.wav\t{'word ' * 20}\n", *lines[8:]]))
    sources = {"sound": SoundSource(rate=RATE, longest=1.5)}
    found = examine({"train": str(table)}, sources=sources, further=file_checks(sources, sized=True)).findings
    counts = {one.code: one.count for one in found if one.code.endswith("sounds")}
    assert counts == {
        "silent-sounds": 1,
        "clipped-sounds": 1,
        "low-sounds": 1,
        "long-sounds": 1,
        "hurried-sounds": 1,
        "duplicate-sounds": 1,
    }
