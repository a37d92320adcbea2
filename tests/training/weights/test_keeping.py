"""Weights of several validations, and their mean."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqloom.errors import RunError
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Keep
from seqloom.runs import RunFolder
from seqloom.training.session import train
from seqloom.training.weights.averaging import average_run, mean_of
from seqloom.training.weights.kept_snapshots import wanted

Recipe = dict[str, Any]
VALUES = {2: 5.0, 4: 3.0, 6: float("nan"), 8: 3.0, 10: 9.0}


def test_the_latest_and_the_best_are_kept_of_equal_ones_the_earlier() -> None:
    assert wanted(VALUES, Keep(last=2), "cer") == {8, 10}
    assert wanted(VALUES, Keep(best=1), "cer") == {4}
    assert wanted(VALUES, Keep(last=1, best=2), "cer") == {4, 8, 10}
    assert wanted(VALUES, Keep(best=1), "chrf") == {10}
    assert wanted(VALUES, Keep(best=99), "cer") == set(VALUES)


@pytest.fixture(scope="module")
def kept(tiny_recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kept") / "run"
    training = tiny_recipe["training"] | {"steps": 8, "keep": {"last": 2, "best": 1}, "validation": {"every_steps": 2}}
    train({**tiny_recipe, "training": training}, path)
    return path


def test_a_run_keeps_what_its_recipe_wants(kept: Path) -> None:
    run = RunFolder.open(kept)
    judged = {record["step"]: record["loss"] for record in run.metrics() if record["kind"] == "validation"}
    assert set(run.kept.steps) == {6, 8, min(judged, key=lambda step: judged[step])}
    best, _ = run.load_weights()
    again = run.kept.load(min(judged, key=lambda step: judged[step]))
    assert all(np.array_equal(best[name], again[name]) for name in best)


def test_the_mean_is_judged_and_becomes_a_run_of_its_own(kept: Path, tmp_path: Path) -> None:
    found = average_run(kept, tmp_path / "mean", last=2)
    run, mean = RunFolder.open(kept), RunFolder.open(tmp_path / "mean")
    assert found.steps == (6, 8)
    expected = mean_of([run.kept.load(6), run.kept.load(8)])
    assert all(np.array_equal(array, expected[name]) for name, array in mean.load_weights()[0].items())
    assert np.allclose(
        expected["decoder.output.bias"], (run.kept.load(6)["decoder.output.bias"] + run.kept.load(8)["decoder.output.bias"]) / 2
    )
    assert found.best["loss"] == pytest.approx(
        min(record["loss"] for record in run.metrics() if record["kind"] == "validation")
    )
    assert mean.facts["average"] == {"run": str(kept), "steps": [6, 8]}
    assert (mean.counters() or {})["finished"] == "the mean of the weights at the steps 6, 8"
    assert Predictor.load(tmp_path / "mean").predict(["abc"])[0].tokens
    with pytest.raises(RunError, match="holds a run already"):
        average_run(kept, tmp_path / "mean")


def test_where_there_is_nothing_to_average_a_sentence_says_so(kept: Path, tiny_run: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"has kept no weights but the best and the latest, so there is nothing to average"):
        average_run(tiny_run, tmp_path / "mean")
    with pytest.raises(RunError, match=r"has kept the weights of \d validations, (not of 9|and 9 are asked for)"):
        average_run(kept, tmp_path / "mean", best=9)
    assert not (tmp_path / "mean").exists()
