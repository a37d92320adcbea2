"""`seqloom demo lesson`: the models of the studio's guided steps."""

from pathlib import Path

import pytest

from seqloom.cli import demo_lesson
from seqloom.data.builtin import dates
from seqloom.runs import RunFolder

from .conftest import Seqloom


def test_the_lesson_has_three_models_that_differ_in_their_bridge(
    seqloom: Seqloom, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = ["model.encoder.size=8", "model.encoder.embedding=4", "model.decoder.size=8", "model.decoder.embedding=4"]
    quick = ["training.steps=1", "training.validation.examples=4"]
    monkeypatch.setattr(demo_lesson, "_SHORT", [*sizes, *quick])
    monkeypatch.setattr(demo_lesson, "_TRIED", 4)
    monkeypatch.setattr(dates, "SIZES", {"train": 200, "validation": 20, "test": 20})
    answer = seqloom("demo", "lesson", "--out", "lesson")
    assert answer.code == 0, answer.err
    kinds = [RunFolder.open(here / "lesson" / name).recipe.model.bridge.kind for name in demo_lesson.LESSON]
    assert kinds == ["initial", "every_step", "attention"]
    assert "serve lesson/no-attention lesson/every-step lesson/attention" in answer.out
    [body] = seqloom("demo", "lesson", "--out", "lesson", "--json").objects
    assert [Path(one["run"]).name for one in body["runs"]] == list(demo_lesson.LESSON)
    assert all(0 <= one["exact_match"] <= 100 for one in body["runs"])
