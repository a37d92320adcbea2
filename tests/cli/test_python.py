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


def test_a_text_is_one_input_and_a_mapping_too(tiny_run: Path) -> None:
    predictor = seqloom.load(tiny_run)
    assert [one.text for one in predictor.predict("abc")] == ["ABC"]
    assert [one.text for one in predictor.predict({"source": "abc", "features": "loud"})] == ["ABC!"]
    assert [one.text for one in predictor.predict(iter(["abc", "fed"]))] == ["ABC", "FED"]


@pytest.mark.parametrize("wrong", [5, None, [5], [None], {"source": None}, {"text": "abc"}])
def test_other_inputs_are_refused_in_a_sentence(tiny_run: Path, wrong: Any) -> None:
    with pytest.raises(SeqloomError, match="expected"):
        seqloom.load(tiny_run).predict(wrong)


def test_a_beam_is_asked_for_by_its_width(tiny_run: Path) -> None:
    predictor = seqloom.load(tiny_run)
    assert len(predictor.predict("abc", beam=7, nbest=7)[0].candidates) == 7
    with pytest.raises(SeqloomError, match="beam=9"):
        predictor.predict("abc", beam=2, nbest=9)
    with pytest.raises(SeqloomError, match="no other search beside it"):
        predictor.predict("abc", beam=2, search=predictor.recipe.search)


def test_what_is_shown_of_an_object_is_short(tiny_run: Path) -> None:
    predictor = seqloom.load(tiny_run)
    [prediction] = predictor.predict("abc", nbest=3)
    assert repr(prediction).startswith("Prediction('abc' -> 'ABC', log_prob=-")
    assert repr(prediction).endswith("2 alternatives)")
    assert repr(prediction.best.alignment["source"]) == "Alignment(4 steps over 3 symbols)"
    assert all(len(repr(one)) < 100 for one in (predictor, prediction.best, *predictor.vocabularies.values()))


def test_a_run_is_evaluated(tiny_run: Path, tiny_pairs: Path) -> None:
    assert set(seqloom.evaluate(tiny_run, metrics=["exact_match"]).metrics) == {"exact_match"}
    assert seqloom.evaluate(seqloom.load(tiny_run), tiny_pairs, beam=1).count == 200


@pytest.mark.parametrize("ending", ["html", "svg", "json"])
def test_an_explanation_is_saved(tiny_run: Path, tmp_path: Path, ending: str) -> None:
    written = seqloom.explain(tiny_run, "abc").save(tmp_path / f"map.{ending}")
    assert written.stat().st_size > 100


def test_a_language_model_is_explained(text_runs: dict[str, Path], tmp_path: Path) -> None:
    read = seqloom.explain(text_runs["lines-characters"], "the cat")
    assert "bits per symbol" in repr(read)
    assert read.save(tmp_path / "next.html").exists()
    with pytest.raises(SeqloomError, match="expected a text"):
        seqloom.explain(text_runs["lines-characters"], "")


def test_pairs_train_without_a_recipe(tiny_pairs: Path, tmp_path: Path) -> None:
    small = {"model.encoder.size": 8, "model.decoder.size": 16, "training.steps": 2, "training.threads": 1}
    columns = {"source": 1, "target": 2}
    outcome = seqloom.train(pairs=tiny_pairs, columns=columns, settings=small, out=tmp_path / "run")
    assert outcome.step == 2
    again = seqloom.train("transliteration", pairs=[tiny_pairs], columns=columns, settings=small, out=tmp_path / "other")
    assert again.step == 2


def test_a_mapping_has_its_own_files(tiny_recipe: dict[str, Any], tiny_pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(SeqloomError, match="names its own files"):
        seqloom.train(tiny_recipe, pairs=tiny_pairs, out=tmp_path / "run")
    with pytest.raises(SeqloomError, match="give a recipe, data"):
        seqloom.train(out=tmp_path / "run")
    with pytest.raises(SeqloomError, match="pairs: expected the name of a file"):
        seqloom.train(pairs=5, out=tmp_path / "run")  # type: ignore[arg-type]


def test_errors_are_of_one_family(tmp_path: Path) -> None:
    with pytest.raises(SeqloomError, match="expected a run folder") as problem:
        seqloom.load(str(tmp_path / "nosuch"))
    assert problem.value.exit_code == 4
