"""Training for some minutes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seqloom.errors import RunError, UsageError
from seqloom.recipe import recipe_from
from seqloom.runs import RunFolder
from seqloom.training import session
from seqloom.training.reporting.display import PlainDisplay, StepReport
from seqloom.training.session import train
from seqloom.training.timing import Pace, as_decided, fitted

PACE = Pace(update=0.5, validation=2.0, steps_per_epoch=100)


def recipe(**training: Any) -> Any:
    return recipe_from({"data": {"builtin": "dates"}, "training": training})


def test_as_many_updates_as_fit_with_their_validations() -> None:
    training = fitted(recipe(epochs=3), PACE, 600.0).training
    assert training.steps is not None
    spent = training.steps * PACE.update + 20 * PACE.validation
    assert 0.95 * 600 < spent <= 600
    assert training.epochs == -(-training.steps // 100)
    assert training.validation.every_steps == -(-training.steps // 20)


def test_slow_validations_are_few_and_quick_ones_not_too_many() -> None:
    slow = fitted(recipe(), replace(PACE, validation=30.0), 600.0).training
    assert slow.steps is not None
    assert slow.validation.every_steps == -(-slow.steps // 3)


def test_the_schedule_ends_on_time_and_nothing_ends_before() -> None:
    wanted = recipe(schedule={"kind": "cosine", "warmup": 2000, "final": 0.1}, validation={"patience": 2, "metric": "cer"})
    training = fitted(wanted, PACE, 600.0).training
    assert training.steps is not None
    assert training.schedule.warmup == training.steps // 10
    assert (training.validation.patience, training.validation.metric) == (None, "cer")
    assert fitted(recipe(schedule={"kind": "inverse_sqrt"}), PACE, 1.0).training.schedule.warmup == 1
    assert fitted(recipe(), PACE, 0.1).training.steps == 1


def test_what_was_decided_is_all_that_differs() -> None:
    wanted = recipe(schedule={"kind": "cosine", "warmup": 2000}, validation={"patience": 2})
    assert as_decided(wanted, fitted(wanted, PACE, 600.0)) == fitted(wanted, PACE, 600.0)


@pytest.fixture
def quick(tiny_recipe: dict[str, Any]) -> dict[str, Any]:
    return {**tiny_recipe, "training": {"threads": 1, "validation": {"examples": 4}}}


def test_a_run_of_some_minutes_goes_on_as_it_was_begun(
    quick: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace = Pace(update=0.2, validation=0.1, steps_per_epoch=1)
    monkeypatch.setattr(session, "measure_pace", lambda *_, **__: pace)
    first = train(quick, tmp_path / "run", minutes=0.02)
    run = RunFolder.open(tmp_path / "run")
    assert (run.facts["minutes"], run.recipe.training.steps) == (0.02, first.step)
    monkeypatch.setattr(session, "measure_pace", lambda *_, **__: replace(pace, update=99.0))
    assert train(quick, tmp_path / "run", minutes=0.02).step == first.step
    with pytest.raises(RunError, match=r"was begun for 0.02 minutes.*Go on with the same --minutes 0.02"):
        train(quick, tmp_path / "run", minutes=5)
    with pytest.raises(RunError, match="another recipe"):
        train(quick, tmp_path / "run")
    assert train(tmp_path / "run" / "recipe.yaml", tmp_path / "run").finished


def test_updates_are_timed_on_the_data_itself(quick: dict[str, Any], tmp_path: Path) -> None:
    outcome = train(quick, tmp_path / "run", minutes=0.01)
    assert outcome.finished == "all steps done"


@pytest.mark.parametrize("minutes", [0, -1, float("nan")])
def test_no_time_is_refused(quick: dict[str, Any], tmp_path: Path, minutes: float) -> None:
    with pytest.raises(UsageError, match="expected a number above 0"):
        train(quick, tmp_path / "run", minutes=minutes)


def test_an_early_stop_leaves_weights_to_try(quick: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    import seqloom

    patient = {**quick, "training": {**quick["training"], "validation": {"every_steps": 3}, "steps": 3}}
    monkeypatch.setattr(session, "stops_politely", lambda: nullcontext(lambda: True))
    assert not train(patient, tmp_path / "run").finished
    assert seqloom.load(tmp_path / "run").predict("abc")
    monkeypatch.undo()
    assert train(patient, tmp_path / "run").finished
    _, facts = RunFolder.open(tmp_path / "run").load_weights()
    assert facts["step"] == "3"


def test_how_long_it_takes_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    display = PlainDisplay(Console(width=200))
    display.started(step=0, total=1000, steps_per_epoch=10, waste=0.0)
    for step in range(1, 40):
        display.stepped(StepReport(step, 0.5 * step, 10, 1.0, 0.1))
    said = capsys.readouterr().out
    assert said.count("0.5 s an update: about 8 minutes more") == 1
