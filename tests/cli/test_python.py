"""The same from Python: train, load, predict, and a prediction that a notebook draws."""

from pathlib import Path
from typing import Any

import pytest

import seqloom
from seqloom.errors import SeqloomError


def test_a_mapping_trains_and_the_run_predicts(tiny_recipe: dict[str, Any], tmp_path: Path) -> None:
    quick = {**tiny_recipe, "training": {"steps": 2, "threads": 1}}
    outcome = seqloom.train(quick, out=str(tmp_path / "run"))
    assert (outcome.step, bool(outcome.finished)) == (2, True)
    assert len(seqloom.load(str(tmp_path / "run")).predict(["abc", "head"])) == 2


def test_a_loaded_run_predicts_texts_and_features(tiny_run: Path) -> None:
    predictor = seqloom.load(str(tiny_run))
    plain, loud = predictor.predict(["abc", {"source": "abc", "features": ["loud"]}], nbest=2)
    assert (plain.text, loud.text) == ("ABC", "ABC!")
    assert len(plain.alternatives) == 1


def test_a_prediction_draws_itself_in_a_notebook(tiny_run: Path) -> None:
    [prediction] = seqloom.load(str(tiny_run)).predict(["abc"])
    drawn = prediction._repr_html_()
    assert drawn.startswith('<div class="seqloom">')
    assert "ABC" in drawn
    assert "<svg" in drawn


def test_an_ensemble_is_loaded_from_several_folders(tiny_run: Path) -> None:
    assert seqloom.load(str(tiny_run), str(tiny_run)).predict(["abc"])[0].text == "ABC"


def test_a_language_model_is_fused_by_name_and_weight(tiny_run: Path, tiny_language_run: Path) -> None:
    fused = seqloom.load(str(tiny_run), language_model=str(tiny_language_run), weight=20)
    [prediction] = fused.predict(["abc"])
    assert (prediction.fusion_weight, prediction.text[:4]) == (20, "HHHH")


def test_errors_are_of_one_family(tmp_path: Path) -> None:
    with pytest.raises(SeqloomError, match="expected a run folder") as problem:
        seqloom.load(str(tmp_path / "nosuch"))
    assert problem.value.exit_code == 4
