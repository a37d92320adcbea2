import copy
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

from seqloom.data.preparing.batches import Batch, plan_epoch
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import prepare
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.models.decoders import DecoderState
from seqloom.models.encoder_decoder import EncoderDecoder, Loss, build_model
from seqloom.recipe import recipe_from
from seqloom.runs import RunFolder
from seqloom.training.loop import DivergedError, update
from seqloom.training.plans import ExamplePlans, batch_lengths
from seqloom.training.reporting.display import SilentDisplay, StepReport
from seqloom.training.session import train
from seqloom.training.validation import PairValidator, ValidationResult

Recipe = dict[str, Any]


class Watcher(SilentDisplay):
    """Keeps the reports of every step."""

    def __init__(self) -> None:
        self.reports: list[StepReport] = []
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def stepped(self, report: StepReport) -> None:
        self.reports.append(report)


@pytest.fixture(scope="module")
def split(tiny_recipe: Recipe) -> PreparedSplit:
    recipe = recipe_from(tiny_recipe)
    return prepare(Corpus(recipe.data, recipe.seed)).splits["train"]


def changed(recipe: Recipe, **training: Any) -> Recipe:
    return {**recipe, "training": {**recipe["training"], **training}}


# --- one update -----------------------------------------------------------------------------------------------------


def updated(recipe: Recipe, batches: list[Batch], average: Literal["tokens", "sequences"]) -> dict[str, torch.Tensor]:
    """How far one step of plain gradient descent moves each parameter."""
    wanted = recipe_from(changed(recipe, loss_per=average, clip=None))
    model = build_model(wanted, {"source": 20, "target": 20})
    before = copy.deepcopy(dict(model.named_parameters()))
    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
    update(model, batches, optimiser, wanted, step=0, precision="fp32")
    return {name: (parameter - before[name]).detach() for name, parameter in model.named_parameters()}


@pytest.mark.parametrize("average", ["tokens", "sequences"])
def test_accumulation_follows_one_large_batch(
    tiny_recipe: Recipe, split: PreparedSplit, average: Literal["tokens", "sequences"]
) -> None:
    """Dropout 0; the tolerance is that of summing in another order in float32."""
    first, second = np.arange(0, 10), np.arange(10, 13)
    apart = updated(tiny_recipe, [split.batch(first), split.batch(second)], average)
    together = updated(tiny_recipe, [split.batch(np.concatenate([first, second]))], average)
    for name, moved in together.items():
        torch.testing.assert_close(apart[name], moved, atol=1e-6, rtol=1e-4)
    assert max(float(moved.abs().max()) for moved in together.values()) > 1e-3


def test_the_loss_is_averaged_over_tokens_or_sequences(tiny_recipe: Recipe, split: PreparedSplit) -> None:
    batch = split.batch(np.arange(12))
    per_token, per_sequence = (updated(tiny_recipe, [batch], average) for average in ("tokens", "sequences"))
    for name, moved in per_sequence.items():
        torch.testing.assert_close(moved * 12 / batch.num_symbols, per_token[name], atol=1e-6, rtol=1e-4)


def test_an_example_of_weight_two_counts_as_two(tiny_recipe: Recipe, split: PreparedSplit) -> None:
    twice = split.batch(np.asarray([0, 0, 1]))
    once = split.batch(np.asarray([0, 1]))
    weighted = Batch(once.sources, once.target, np.asarray([2.0, 1.0], dtype=np.float32), once.origins)
    for average in ("tokens", "sequences"):
        expected, found = updated(tiny_recipe, [twice], average), updated(tiny_recipe, [weighted], average)
        for name, moved in expected.items():
            torch.testing.assert_close(found[name], moved, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(("side", "key", "chance"), [("encoder", "dropout", 0.5), ("decoder", "inputs", {"kind": "mixed"})])
def test_the_random_choices_of_a_step_depend_on_its_number_alone(
    tiny_recipe: Recipe, split: PreparedSplit, side: str, key: str, chance: object
) -> None:
    body = copy.deepcopy(tiny_recipe)
    body["model"].setdefault(side, {})[key] = chance
    recipe = recipe_from(body)

    def loss(step: int, disturbance: int) -> float:
        model = build_model(recipe, {"source": 20, "target": 20}).train()
        torch.manual_seed(disturbance)
        optimiser = torch.optim.SGD(model.parameters())
        return update(model, [split.batch(np.arange(8))], optimiser, recipe, step=step, precision="fp32")[0]

    assert loss(3, 1) == loss(3, 2)
    assert loss(3, 1) != loss(4, 1)


def test_a_gradient_is_clipped_to_its_norm(tiny_recipe: Recipe, split: PreparedSplit) -> None:
    recipe = recipe_from(changed(tiny_recipe, clip=0.01))
    model = build_model(recipe, {"source": 20, "target": 20})
    update(model, [split.batch(np.arange(8))], torch.optim.SGD(model.parameters(), lr=0.0), recipe, step=0, precision="fp32")
    norm = math.sqrt(
        sum(float(parameter.grad.square().sum()) for parameter in model.parameters() if parameter.grad is not None)
    )
    assert norm == pytest.approx(0.01, rel=1e-3)


def test_steps_walk_through_every_epochs_batches(tiny_recipe: Recipe, split: PreparedSplit) -> None:
    plans = ExamplePlans(split, recipe_from(changed(tiny_recipe, accumulate=4)))
    per_epoch = plans.steps_per_epoch
    assert per_epoch == math.ceil(
        len(plan_epoch(batch_lengths(split), budget=plans.recipe.training.batch_tokens, most=None, seed=1, epoch=0).batches) / 4
    )
    for epoch in (0, 1):
        lines = _lines(plans, range(epoch * per_epoch, (epoch + 1) * per_epoch))
        assert len(lines) == len(set(lines)) == len(split)


def test_an_epoch_of_small_data_goes_over_it_again(tiny_recipe: Recipe, split: PreparedSplit) -> None:
    once = ExamplePlans(split, recipe_from(tiny_recipe)).steps_per_epoch
    plans = ExamplePlans(split, recipe_from(changed(tiny_recipe, epochs=3, shortest_epoch=2 * once + 1)))
    assert (plans.steps_per_epoch, plans.total_steps) == (2 * once + 1, 3 * (2 * once + 1))
    first, second = (_lines(plans, range(start, start + once)) for start in (0, once))
    assert first != second
    assert len(set(first)) == len(split)
    assert set(first) == set(second)


def test_an_epoch_of_enough_data_is_as_long_as_it_is(tiny_recipe: Recipe, split: PreparedSplit) -> None:
    once = ExamplePlans(split, recipe_from(tiny_recipe)).steps_per_epoch
    plans = ExamplePlans(split, recipe_from(changed(tiny_recipe, epochs=3, shortest_epoch=1, steps=once + 1)))
    assert (plans.steps_per_epoch, plans.total_steps) == (once, once + 1)


def _lines(plans: ExamplePlans, steps: range) -> list[int | None]:
    """The lines whose examples make up some updates."""
    return [origin.line for step in steps for batch in plans.batches(step) for origin in batch.origins]


# --- divergence -----------------------------------------------------------------------------------------------------


def losing(call: int) -> Callable[..., Loss]:
    """A forward pass whose call-th loss in training is not a number."""
    original, calls = EncoderDecoder.forward, [0]

    def forward(self: EncoderDecoder, batch: Batch, state: DecoderState | None = None, *, step: int = 0) -> Loss:
        loss = original(self, batch, state, step=step)
        calls[0] += self.training
        lost = self.training and calls[0] == call
        return Loss(loss.objective * math.nan, loss.nll * math.nan, loss.state) if lost else loss

    return forward


def test_a_loss_that_is_no_number_stops_with_the_examples_and_keeps_the_checkpoint(
    tiny_recipe: Recipe, many_pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = changed(tiny_recipe, checkpoint={"steps": 3}, steps=12)
    monkeypatch.setattr(EncoderDecoder, "forward", losing(8))
    with pytest.raises(
        DivergedError, match=rf"at step 8, on the examples {many_pairs}:\d+, .* and \d+ more\. The last checkpoint"
    ):
        train(recipe, tmp_path / "run")
    checkpoint = RunFolder.open(tmp_path / "run").load_checkpoint()
    assert checkpoint is not None
    assert checkpoint.counters["step"] == 6
    assert all(np.isfinite(array).all() for array in checkpoint.weights.values())
    monkeypatch.undo()
    assert train(recipe, tmp_path / "run").finished == "all steps done"


@pytest.mark.parametrize("clip", [1.0, None])
def test_weights_that_are_no_numbers_are_never_saved(tiny_recipe: Recipe, tmp_path: Path, clip: float | None) -> None:
    wild = changed(tiny_recipe, learning_rate=1e39, optimiser={"kind": "sgd"}, checkpoint={"steps": 1}, clip=clip)
    with pytest.raises(DivergedError, match="is not a number any more at step 1"):
        train(wild, tmp_path / "run")
    assert RunFolder.open(tmp_path / "run").load_checkpoint() is None


# --- the course of training -----------------------------------------------------------------------------------------


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[float]], None]:
    """Let validations find the given losses, one after the other."""

    def script(losses: list[float]) -> None:
        remaining: Iterator[float] = iter(losses)
        monkeypatch.setattr(
            PairValidator, "validate", lambda self, model: ValidationResult({"loss": next(remaining)}, math.nan, [])
        )

    return script


def test_training_stops_when_patience_is_over_and_keeps_the_best(
    tiny_recipe: Recipe, tmp_path: Path, scripted: Callable[[list[float]], None]
) -> None:
    scripted([1.0, 0.5, 0.6, 0.5, 0.4])
    outcome = train(changed(tiny_recipe, validation={"every_steps": 2, "patience": 2}), tmp_path / "run")
    assert (outcome.finished, outcome.step, outcome.best) == ("no better for 2 validations", 8, 0.5)
    _, facts = RunFolder.open(tmp_path / "run").load_weights()
    assert facts == {"step": "4", "metric": "loss", "value": "0.5"}


def test_training_that_waits_for_better_stops_when_nothing_is(
    tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter([50.0, 100.0, 100.0])
    monkeypatch.setattr(
        PairValidator, "validate", lambda self, model: ValidationResult({"exact_match": next(found)}, math.nan, [])
    )
    wish = {"every_steps": 2, "patience": 2, "metric": "exact_match"}
    outcome = train(changed(tiny_recipe, validation=wish), tmp_path / "run")
    assert (outcome.finished, outcome.step, outcome.best) == ("nothing better than exact_match 100", 4, 100.0)


def test_a_plateau_lowers_the_learning_rate(
    tiny_recipe: Recipe, tmp_path: Path, scripted: Callable[[list[float]], None]
) -> None:
    scripted([1.0, 2.0, 2.0, 0.5, 2.0, 2.0])
    schedule = {"kind": "plateau", "factor": 0.1, "patience": 2}
    watcher = Watcher()
    training = changed(tiny_recipe, validation={"every_steps": 1}, schedule=schedule, steps=6, learning_rate=1.0)
    train(training, tmp_path / "run", display=watcher)
    assert [report.learning_rate for report in watcher.reports] == pytest.approx([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])


def test_dropout_that_rises_begins_with_none_of_it(tiny_recipe: Recipe, tmp_path: Path) -> None:
    def first_losses(name: str, dropout: float, **training: Any) -> list[float]:
        body = changed(copy.deepcopy(tiny_recipe), steps=2, **training)
        for side in ("encoder", "decoder"):
            body["model"].setdefault(side, {})["dropout"] = dropout
        watcher = Watcher()
        train(body, tmp_path / name, display=watcher)
        return [report.loss for report in watcher.reports]

    without, risen = first_losses("without", 0.0), first_losses("risen", 0.5, dropout_epochs=0.1)
    assert risen[0] == without[0]
    assert risen[1] != without[1]


def test_the_last_step_is_always_validated(tiny_recipe: Recipe, tmp_path: Path) -> None:
    outcome = train(changed(tiny_recipe, steps=5, validation={"every_steps": 3}), tmp_path / "run")
    records = [record for record in RunFolder.open(tmp_path / "run").metrics() if record["kind"] == "validation"]
    assert [record["step"] for record in records] == [3, 5]
    assert outcome.finished == "all steps done"
    assert sorted(path.name for path in (tmp_path / "run" / "validation").iterdir()) == ["3.json", "5.json"]


def test_bfloat16_training_learns_too(tiny_recipe: Recipe, split: PreparedSplit) -> None:
    recipe = recipe_from(tiny_recipe)
    model = build_model(recipe, {"source": 20, "target": 20})
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    batch = [split.batch(np.arange(4))]
    losses = [update(model, batch, optimiser, recipe, step=step, precision="bf16")[0] for step in range(8)]
    assert losses[-1] < 0.9 * losses[0]
    assert all(parameter.dtype == torch.float32 for parameter in model.parameters())
