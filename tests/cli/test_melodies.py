"""The built-in melodies: what is said and drawn of where a model listened."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Seqloom
from cli.test_scenes import trained
from seqloom.data.builtin.tones import splits, write_melodies

TINY_TONES = {
    "training.steps": 2,
    "training.batch_size": 8,
    "training.threads": 1,
    "training.precision": "fp32",
    "model.encoder.convolution.channels": "[8]",
    "model.encoder.size": 8,
    "model.decoder.size": 12,
    "model.decoder.embedding": 4,
    "model.bridge.attention.size": 8,
}
FEW_MELODIES = {"train": 24, "validation": 4, "test": 6}


@pytest.fixture(scope="module", autouse=True)
def few_melodies() -> Iterator[None]:
    """Splits that are played in a moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "MELODIES", FEW_MELODIES)
        yield


@pytest.fixture(scope="module")
def melodies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the recipe `tones` that has heard a few of them."""
    return trained("tones", TINY_TONES, tmp_path_factory.mktemp("tones") / "run")


def test_explaining_a_sound_says_when_each_word_was_heard(melodies: Path, seqloom: Seqloom, here: Path) -> None:
    write_melodies(here, {"test": 1})
    [recording] = (here / "sounds").iterdir()
    answer = seqloom("explain", melodies, recording, "--prefix", "c4 e4", "--out", "heard.svg")
    assert answer.code == 0, answer.err
    text, *times, written = answer.out.splitlines()
    assert [re.sub(r"^ +\d+\.\d\d s  ", "", one) for one in times] == text.split()
    assert text.startswith("c4 e4")
    assert written == "heard.svg"


def test_a_report_shows_where_the_model_listened(melodies: Path, seqloom: Seqloom, here: Path) -> None:
    answer = seqloom("report", melodies, "--out", "report.html")
    assert answer.code == 0, answer.err
    page = (here / "report.html").read_text(encoding="utf-8")
    assert page.count('<section class="listening"') == page.count("<audio ") > 0
    assert 'class="seqloom-map"' not in page
