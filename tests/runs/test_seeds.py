"""Several runs that differ in their seed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import seqloom
from seqloom.errors import RunError
from seqloom.prediction.predictor import Predictor
from seqloom.runs import RunFolder
from seqloom.runs.seeds import SeedFolder, runs_at
from seqloom.training.reporting.display import SilentDisplay, StepReport
from seqloom.training.session import train

Recipe = dict[str, Any]


class Watcher(SilentDisplay):
    """Remembers what was said; ends the training when so many steps are done in all."""

    def __init__(self, steps: int = 999) -> None:
        self.said: list[str] = []
        self._steps = steps

    def say(self, text: str) -> None:
        self.said.append(text)

    def stepped(self, report: StepReport) -> None:
        self._steps -= 1
        if not self._steps:
            raise ZeroDivisionError


def short(recipe: Recipe) -> Recipe:
    return {**recipe, "seed": 5, "training": {**recipe["training"], "steps": 4, "checkpoint": {"steps": 2}}}


@pytest.fixture(scope="module")
def three(tiny_recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seeds") / "three"
    seqloom.train(short(tiny_recipe), out=str(path), seeds=3)
    return path


def test_the_runs_have_their_seeds_and_share_splits_and_vocabularies(three: Path) -> None:
    runs = [RunFolder.open(path) for path in runs_at(three)]
    assert [(run.path.name, run.recipe.seed, run.recipe.data.seed) for run in runs] == [("1", 5, 5), ("2", 6, 5), ("3", 7, 5)]
    assert len({json.dumps(run.vocabularies()) for run in runs}) == 1
    assert len({run.facts["fingerprint"] for run in runs}) == 1
    assert len({run.load_weights()[0]["decoder.output.bias"].tobytes() for run in runs}) == 3


def test_the_folder_votes_like_its_runs_named_one_by_one(three: Path) -> None:
    together, apart = seqloom.load(str(three)), Predictor.load(*runs_at(three))
    assert together.predict(["abc"])[0].best.log_prob == apart.predict(["abc"])[0].best.log_prob
    assert together.predict(["abc"])[0].best.log_prob != Predictor.load(three / "1").predict(["abc"])[0].best.log_prob


def test_the_same_command_goes_on_and_another_may_add_seeds(tiny_recipe: Recipe, three: Path, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        train(short(tiny_recipe), tmp_path / "runs", seeds=2, display=Watcher(steps=7))
    with pytest.raises(RunError, match="has no weights yet"):
        Predictor.load(tmp_path / "runs")
    outcome = train(short(tiny_recipe), tmp_path / "runs", seeds=3, display=(watcher := Watcher()))
    assert [said for said in watcher.said if said.startswith("model")][1] == f"model 2 of 3, seed 6: {tmp_path / 'runs' / '2'}"
    assert len(outcome.members) == 3
    assert outcome.finished == "all 3 runs are finished"
    for one, other in zip(runs_at(tmp_path / "runs"), runs_at(three), strict=True):
        assert (one / "weights.safetensors").read_bytes() == (other / "weights.safetensors").read_bytes()


def test_what_is_not_a_folder_of_these_seeds_is_refused(
    tiny_recipe: Recipe, three: Path, tiny_run: Path, tmp_path: Path
) -> None:
    for seeds, path, said in [
        (2, three, "holds 3 runs, and --seeds asks for 2"),
        (None, three, "holds several runs of different seeds. Go on with --seeds"),
        (3, tiny_run, "holds a single run"),
    ]:
        with pytest.raises(RunError, match=said):
            train(short(tiny_recipe), path, seeds=seeds)
    with pytest.raises(RunError, match="holds runs of the seeds 5, 6, 7, and now 9, 10, 11 are asked for"):
        train(short(tiny_recipe) | {"seed": 9}, three, seeds=3)
    with pytest.raises(
        RunError, match=r"holds several runs of different seeds, and one is wanted here\. Name it, such as .*three/1"
    ):
        RunFolder.open(three)


def test_a_folder_that_lacks_runs_or_is_damaged_does_not_vote(three: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(three, tmp_path / "copy"))
    shutil.rmtree(copy / "2")
    with pytest.raises(RunError, match="1 of its 3 runs are not there yet"):
        Predictor.load(copy)
    (copy / "seeds.json").write_text("{}")
    with pytest.raises(RunError, match="is damaged or was not written by seqloom"):
        SeedFolder.open(copy)
