import copy
import io
import json
import os
import random
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from seqloom.errors import DataError, RunError, UsageError
from seqloom.recipe import recipe_from, to_yaml
from seqloom.runs import RunFolder
from seqloom.training.reporting.display import PlainDisplay, SilentDisplay, StepReport, open_display
from seqloom.training.reporting.journal import Journal
from seqloom.training.session import train

Recipe = dict[str, Any]


class Stopper(SilentDisplay):
    """Ends the process's training, as a crash would, when it reaches a step."""

    def __init__(self, step: int) -> None:
        self._step = step

    def stepped(self, report: StepReport) -> None:
        if report.step == self._step:
            raise ZeroDivisionError


def short(recipe: Recipe, **training: Any) -> Recipe:
    return {**recipe, "training": {**recipe["training"], "steps": 6, "checkpoint": {"steps": 2}, **training}}


def output_of(recipe: Recipe | Path, out: Path) -> str:
    stream = io.StringIO()
    train(recipe, out, display=PlainDisplay(Console(file=stream, width=200)))
    return stream.getvalue()


# --- a whole run ----------------------------------------------------------------------------------------------------


def test_a_run_folder_is_complete(tiny_run: Path, tiny_recipe: Recipe) -> None:
    run = RunFolder.open(tiny_run)
    assert {"versions", "command", "fingerprint", "threads", "precision", "examples"} <= run.facts.keys()
    assert (run.facts["threads"], run.facts["precision"]) == (1, "fp32")
    assert run.counters() is not None
    assert not [path for path in tiny_run.rglob("*") if "draft" in path.name]
    body = json.loads(max((tiny_run / "validation").iterdir(), key=lambda path: int(path.stem)).read_text())
    assert len(body["samples"]) == 8
    assert "alignment" in body["samples"][0]
    card = (tiny_run / "model-card.md").read_text()
    assert "seqloom predict tiny FILE" in card
    assert "| exact_match |" in card


def test_training_says_what_it_does(tiny_recipe: Recipe, tmp_path: Path) -> None:
    said = output_of(short(tiny_recipe), tmp_path / "run")
    assert re.search(
        r"examples: 1,[12]\d\d train, \d+ validation, \d+ test; symbols: \d+ source, \d+ target; parameters: ", said
    )
    assert "starting: 6 steps" in said
    assert "validation at step 6: loss " in said
    assert "(best)" in said


def test_a_metric_that_cannot_improve_is_named_at_the_start(tiny_recipe: Recipe, tmp_path: Path) -> None:
    said = output_of(short(tiny_recipe, validation={"metric": "bleu"}), tmp_path / "bleu")
    assert "training.validation.metric is bleu, but no reference has four words" in said
    assert "--set training.validation.metric=cer" in said
    assert said.index("warning:") < said.index("validation at step")
    assert "warning" not in output_of(short(tiny_recipe, validation={"metric": "chrf"}), tmp_path / "chrf")


def test_a_metric_that_cannot_be_computed_is_refused_before_anything_is_made(
    tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no Java
    with pytest.raises(UsageError, match=r"validation\.metric is meteor, but METEOR 1\.5 is a Java program"):
        train(short(tiny_recipe, validation={"metric": "meteor"}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_recipe_may_be_a_file_with_paths_of_its_own(
    tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recipe.yaml").write_text(to_yaml(recipe_from(short(tiny_recipe))), encoding="utf-8")
    assert train(tmp_path / "recipe.yaml", tmp_path / "run").finished
    monkeypatch.chdir("/")
    assert train(short(tiny_recipe), tmp_path / "run").finished


def test_an_unfinished_run_goes_on_and_says_from_where(tiny_recipe: Recipe, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        train(short(tiny_recipe), tmp_path / "run", display=Stopper(5))
    assert "going on from step 4: 6 steps" in output_of(short(tiny_recipe), tmp_path / "run")


def test_a_finished_run_says_so_and_stays_as_it_is(tiny_recipe: Recipe, tiny_run_copy: Path) -> None:
    before = {path: path.read_bytes() for path in tiny_run_copy.rglob("*") if path.is_file() and path.name != ".lock"}
    said = output_of(tiny_recipe, tiny_run_copy)
    assert "this run is finished (all steps done). For another one, choose another --out" in said
    assert before == {path: path.read_bytes() for path in tiny_run_copy.rglob("*") if path.is_file() and path.name != ".lock"}


def test_training_leaves_the_settings_of_the_process_as_they_were(tiny_recipe: Recipe, tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    train(short(tiny_recipe), tmp_path / "run")
    assert torch.get_num_threads() == threads
    assert np.float64(5e-324) * 1.0 > 0.0  # numbers next to zero are not flushed to it


# --- refusals -------------------------------------------------------------------------------------------------------


def test_a_changed_recipe_is_refused_with_the_differences(tiny_recipe: Recipe, tiny_run_copy: Path) -> None:
    other = copy.deepcopy(tiny_recipe)
    other["training"]["learning_rate"] = 0.5
    other["model"]["decoder"]["size"] = 40
    with pytest.raises(RunError, match=r"holds a run of another recipe") as caught:
        train(other, tiny_run_copy)
    assert "training.learning_rate" in str(caught.value)
    assert "model.decoder.size" in str(caught.value)
    assert "0.008" in str(caught.value)


def test_changed_data_is_refused_and_touched_data_is_not(tiny_recipe: Recipe, tiny_pairs: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    shutil.copy(tiny_pairs, pairs)
    recipe = short({**tiny_recipe, "data": {**tiny_recipe["data"], "train": str(pairs)}})
    with pytest.raises(ZeroDivisionError):
        train(recipe, tmp_path / "run", display=Stopper(3))
    text = pairs.read_text()
    pairs.write_text(text.replace("a", "b"))
    with pytest.raises(RunError, match=r"its data has changed since the run was started \(content hash [0-9a-f]{12} then"):
        train(recipe, tmp_path / "run")
    pairs.write_text(text)
    os.utime(pairs, ns=(5, 5))
    assert train(recipe, tmp_path / "run").finished


def test_a_folder_of_something_else_is_refused(tiny_recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("dear")
    with pytest.raises(RunError, match="exists and is not a run folder"):
        train(tiny_recipe, tmp_path)


def test_data_without_validation_examples_is_refused(tiny_recipe: Recipe, tmp_path: Path) -> None:
    data = {**tiny_recipe["data"], "split": {"validation": 0.0, "test": 0.0}}
    with pytest.raises(DataError, match=r"there are no validation examples\. Give more data, name a file in data\.validation"):
        train({**tiny_recipe, "data": data}, tmp_path / "run")
    with pytest.raises(DataError, match=r"there are no train examples: all \d+ are longer than data\.maximum_length\."):
        train({**tiny_recipe, "data": {**tiny_recipe["data"], "maximum_length": 1}}, tmp_path / "run")
    assert not (tmp_path / "run").exists()


# --- vocabularies of a run ------------------------------------------------------------------------------------------


def test_a_run_goes_on_with_its_own_vocabularies(tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No two trainings of unigram pieces agree, so an emptied cache must not bring other symbols into a run."""
    draw = random.Random(2)
    words = ["".join(draw.choices("abcde", k=draw.randint(2, 5))) for _ in range(300)]
    lines = [" ".join(draw.choices(words, k=3)) for _ in range(200)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{line}\t{line}\n" for line in lines), encoding="utf-8")
    pieces = {"kind": "unigram", "size": 60}
    data = {"train": str(tmp_path / "pairs.tsv"), "vocabularies": {"source": pieces, "target": pieces}}
    recipe = short({**tiny_recipe, "data": data})
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ZeroDivisionError):
        train(recipe, tmp_path / "one", display=Stopper(3))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    train(recipe, tmp_path / "one")
    shutil.rmtree(tmp_path / "cache")
    train(recipe, tmp_path / "two")
    assert (tmp_path / "one" / "weights.safetensors").read_bytes() == (tmp_path / "two" / "weights.safetensors").read_bytes()


# --- records --------------------------------------------------------------------------------------------------------


def test_tensorboard_events_are_written_if_wanted(tiny_recipe: Recipe, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    train(short(tiny_recipe, tensorboard=True), tmp_path / "run")
    [events] = (tmp_path / "run" / "tensorboard").iterdir()
    assert b"validation/loss" in events.read_bytes()


def test_records_are_strict_json(tiny_run_copy: Path) -> None:
    Journal(RunFolder.open(tiny_run_copy), tensorboard=False, from_step=0).append(
        {"kind": "train", "step": 999, "loss": float("nan")}
    )
    last = (tiny_run_copy / "metrics.jsonl").read_text().splitlines()[-1]
    record = json.loads(last, parse_constant=lambda name: pytest.fail(name))
    assert record.pop("crc32") > 0
    assert record == {"kind": "train", "step": 999, "loss": None}


def test_without_a_terminal_the_display_is_plain_lines() -> None:
    assert isinstance(open_display(), PlainDisplay)
