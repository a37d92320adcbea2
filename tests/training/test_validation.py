import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from seqloom.data.examples import Example, Origin, evenly_taken
from seqloom.metrics import CAPTIONS
from seqloom.runs import RunFolder
from seqloom.training.session import train
from seqloom.training.validation import ValidationResult, _judged_by

Recipe = dict[str, Any]


def validations(path: Path) -> list[dict[str, Any]]:
    return [record for record in RunFolder.open(path).metrics() if record["kind"] == "validation"]


def shortened(recipe: Recipe, **training: Any) -> Recipe:
    return {**recipe, "training": {**recipe["training"], "validation": {"every_steps": 1000}, **training}}


def test_a_model_of_real_pairs_uses_its_source(tiny_run: Path) -> None:
    last = validations(tiny_run)[-1]
    assert last["uses_source"] is True
    assert last["shuffled_loss"] > 1.5 * last["loss"]


def test_examples_to_judge_by_are_taken_from_all_of_a_sorted_file() -> None:
    examples = [Example({"source": str(number)}, "", Origin("sorted.tsv", number)) for number in range(10)]
    assert [one.origin.line for one in evenly_taken(examples, 4)] == [0, 2, 5, 7]
    assert evenly_taken(examples, 500) == examples
    assert evenly_taken([], 500) == []


def test_a_model_of_unrelated_pairs_does_not_use_its_source(tiny_recipe: Recipe, tmp_path: Path) -> None:
    draw = random.Random(4)

    def word(letters: str) -> str:
        return "".join(draw.choices(letters, k=4))

    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{word('abcdefgh')}\t{word('XY')}\n" for _ in range(400)), encoding="utf-8")
    data = {"train": str(pairs), "split": {"validation": 0.3, "test": 0.0}}
    train({**shortened(tiny_recipe, steps=30, learning_rate=0.005), "data": data}, tmp_path / "run")
    [last] = validations(tmp_path / "run")
    assert last["uses_source"] is False
    assert last["shuffled_loss"] == pytest.approx(last["loss"], rel=0.02)


def test_some_batches_of_all_lengths_show_whether_sources_are_used(
    tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = shortened(tiny_recipe, steps=20, batch_tokens=64)
    train(body, tmp_path / "all")
    monkeypatch.setattr("seqloom.training.validation._ENOUGH", 5)
    train(body, tmp_path / "some")
    [by_all], [by_some] = validations(tmp_path / "all"), validations(tmp_path / "some")
    assert by_some["loss"] == by_all["loss"]
    assert by_some["shuffled_loss"] != by_all["shuffled_loss"]
    assert by_some["shuffled_loss"] == pytest.approx(by_all["shuffled_loss"], rel=0.25)


def test_a_metric_that_is_not_usual_for_the_data_can_decide(tiny_recipe: Recipe, tmp_path: Path) -> None:
    body = shortened(tiny_recipe, steps=2, validation={"metric": "cider"})
    outcome = train(body, tmp_path / "run")
    [last] = validations(tmp_path / "run")
    assert (outcome.metric, outcome.best) == ("cider", last["cider"])
    assert "exact_match" in last


def test_what_costs_much_is_left_to_evaluation_unless_it_decides() -> None:
    usual = ["bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l_coco", "cider"]
    assert _judged_by(CAPTIONS, "loss") == _judged_by(CAPTIONS, "cider") == usual
    assert _judged_by(CAPTIONS, "meteor") == [*usual, "meteor"]


def test_a_language_model_is_not_blamed_for_ignoring_its_source(tiny_recipe: Recipe, tmp_path: Path) -> None:
    model = {**tiny_recipe["model"], "encoder": None, "bridge": {"kind": "none"}}
    body = {**shortened(tiny_recipe, steps=2), "model": model}
    body["data"] = {"train": body["data"]["train"], "text": "lines"}
    body["training"] = {**body["training"], "validation": {}}
    train(body, tmp_path / "run")
    [last] = validations(tmp_path / "run")
    assert last["uses_source"] is True
    assert last["shuffled_loss"] is None


def test_where_no_wrong_source_exists_nothing_is_claimed() -> None:
    result = ValidationResult({"loss": 1.0}, math.nan, [])
    assert result.uses_source
    assert json.loads(json.dumps(result.as_json(), allow_nan=False))["shuffled_loss"] is None


def test_a_small_growth_of_the_loss_is_no_use_of_the_source() -> None:
    assert not ValidationResult({"loss": 1.0}, 1.019, []).uses_source
    assert ValidationResult({"loss": 1.0}, 1.021, []).uses_source
