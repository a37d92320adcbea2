"""A recording that is heard at several speeds."""

from pathlib import Path

import little_data
import numpy as np
import pytest

from seqloom.errors import RecipeError, UsageError
from seqloom.export.writing import export_run
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Beam, Greedy, Search
from seqloom.training.session import train

RATE = 8_000
SPEEDS = (0.8, 1.0, 1.25)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with CTC that has heard a few tones, two steps long."""
    folder = tmp_path_factory.mktemp("speeds")
    table = little_data.write_tones(folder, RATE)
    recipe = {
        "data": {
            "train": str(table),
            "sources": {"sound": {"kind": "sound", "rate": RATE, "bands": 16}},
            "vocabularies": {"target": {"kind": "words"}},
            "split": {"validation": 0.2, "test": 0.0},
        },
        "model": {
            "encoder": {"kind": "pyramid", "size": 8, "layers": 2},
            "decoder": {"cell": "gru", "size": 8, "embedding": 8},
            "ctc": {"weight": 0.5},
        },
        "training": {"steps": 2, "batch_tokens": 200, "threads": 1},
        "search": {"kind": "beam", "width": 3, "ctc": 0.4, "speeds": SPEEDS},
    }
    return train(recipe, folder / "run").path


def plainly(search: Search) -> Search:
    return search.model_copy(update={"speeds": ()})


def test_all_speeds_have_a_say_and_attention_is_over_the_recording_as_it_is(run: Path) -> None:
    names = [str(run.parent / f"{number}.wav") for number in (2, 0, 7)]
    predictor = Predictor.load(run)
    heard = predictor.predict(names)
    plain = predictor.predict(names, search=plainly(predictor.recipe.search))
    assert [one.score for one in heard] != pytest.approx([one.score for one in plain], rel=1e-6)
    assert [one.alignment["sound"].symbols for one in heard] == [one.alignment["sound"].symbols for one in plain]
    assert predictor.predict(names[:1])[0].score == pytest.approx(heard[0].score, rel=1e-5)
    alone = predictor.predict(names, search=predictor.recipe.search.model_copy(update={"speeds": (1.0,)}))
    assert [one.score for one in alone] == [one.score for one in plain]


@pytest.mark.parametrize("search", [Greedy(speeds=SPEEDS), Beam(width=2, speeds=SPEEDS, ctc=1.0)])
def test_log_probs_are_those_of_the_recording_as_it_is(run: Path, search: Search) -> None:
    name = str(run.parent / "5.wav")
    predictor = Predictor.load(run)
    (heard,) = predictor.predict(name, search=search)
    task = predictor.task(name, plainly(search), prefix=heard.text)
    (again, *_), *_ = task.hypotheses(lambda: None)
    count = len(heard.best.log_probs)
    np.testing.assert_allclose(heard.best.log_probs[: count - 1], again.log_probs[: count - 1], rtol=1e-4)


def test_ensembles_and_exports_hear_them_too(run: Path) -> None:
    names = [str(run.parent / f"{number}.wav") for number in (2, 0)]
    heard = Predictor.load(run).predict(names)
    export_run(run, run.parent / "exported")
    for others in (Predictor.load(run.parent / "exported"), Predictor.load(run, run)):
        found = others.predict(names)
        assert [one.text for one in found] == [one.text for one in heard]
        assert [one.score for one in found] == pytest.approx([one.score for one in heard], rel=1e-3)


def test_an_oracle_goes_without_them(run: Path) -> None:
    with pytest.raises(UsageError, match="an oracle looks at a recording as it is"):
        Predictor.load(run).predict([str(run.parent / "0.wav")], oracle=["0-0"])


@pytest.mark.parametrize(
    ("speeds", "part"),
    [
        ([0.9, 1.1], "search.speeds: expected different speeds, and 1 among them"),
        ([1.0, 1.1, 1.1], "search.speeds: expected different speeds, and 1 among them"),
        ([1.0, 3.0], "search.speeds[1]: expected a number of at least 0.5 and at most 2"),
        ([0.9, 1.0], "search.speeds: sounds are heard at them, and no source is a sound"),
    ],
)
def test_speeds_that_make_no_sense_are_refused(speeds: list[float], part: str) -> None:
    with pytest.raises(RecipeError) as problem:
        recipe_from({"data": {"builtin": "dates"}, "search": {"kind": "beam", "speeds": speeds}})
    assert part in str(problem.value)


def test_a_model_that_reads_texts_has_none(tmp_path: Path) -> None:
    body = {
        "data": {"builtin": "dates"},
        "model": {"encoder": {"size": 4}, "decoder": {"size": 8}},
        "training": {"steps": 1, "batch_tokens": 50, "threads": 1, "validation": {"examples": 1}},
    }
    outcome = train(body, tmp_path / "run")
    with pytest.raises(UsageError, match="recordings are heard at several, and this model reads none"):
        Predictor.load(outcome.path).predict(["1 May 2020"], search=Greedy(speeds=(0.9, 1.0)))
