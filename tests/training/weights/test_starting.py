"""Training that starts from what another run has learnt."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqloom.data.vocabulary import Vocabulary, build_vocabulary
from seqloom.errors import RunError, UsageError
from seqloom.recipe import sections
from seqloom.runs import RunFolder
from seqloom.training.reporting.display import SilentDisplay, StepReport
from seqloom.training.session import train
from seqloom.training.weights.starting import StartingRun

Recipe = dict[str, Any]


class Stopper(SilentDisplay):
    """Ends the training, as a kill would, at a step."""

    def __init__(self, step: int) -> None:
        self._step = step

    def stepped(self, report: StepReport) -> None:
        if report.step == self._step:
            raise ZeroDivisionError


class Listener(SilentDisplay):
    """Remembers what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def other_data(tiny_recipe: Recipe, tmp_path: Path) -> Recipe:
    """Words with letters that the tiny run has not seen, in a short training that leaves the decoder as it is."""
    words = ["abx", "bay", "caz", "dxy", "exx", "fay", "gab", "haz"] * 10
    (tmp_path / "new.tsv").write_text("".join(f"{word}\t{word.upper()}\t\n" for word in words), encoding="utf-8")
    data = {**tiny_recipe["data"], "train": str(tmp_path / "new.tsv"), "validation": str(tmp_path / "new.tsv")}
    training = {**tiny_recipe["training"], "steps": 4, "checkpoint": {"steps": 3}, "rates": {"decoder": 0.0}}
    return {**tiny_recipe, "data": data, "training": training}


def stored(run: RunFolder, side: str) -> tuple[str, ...]:
    return Vocabulary.from_json(run.vocabularies()[side], where=side).stored


def test_rows_are_taken_by_symbol_and_what_was_learnt_stays(other_data: Recipe, tiny_run: Path, tmp_path: Path) -> None:
    train(other_data, tmp_path / "run", start=tiny_run)
    before, after = RunFolder.open(tiny_run), RunFolder.open(tmp_path / "run")
    old, new = before.load_weights()[0], after.load_weights()[0]
    rows, known = stored(after, "target"), stored(before, "target")
    for name in ("decoder.embedding.weight", "decoder.output.weight", "decoder.output.bias"):
        assert len(new[name]) == len(rows) != len(old[name])
        for symbol in set(rows) & set(known):
            assert np.array_equal(new[name][rows.index(symbol)], old[name][known.index(symbol)])
    assert np.array_equal(new["decoder.bridge.first.leaves.0.0.weight"], old["decoder.bridge.first.leaves.0.0.weight"])
    assert after.facts["start"]["run"] == str(tiny_run.resolve())
    assert after.facts["start"]["new_symbols"] == {"source": 3, "target": 3}
    assert not (tmp_path / "run" / "start.safetensors").exists()


def test_rows_of_every_position_and_place_are_taken_by_symbol(tiny_recipe: Recipe, other_data: Recipe, tmp_path: Path) -> None:
    model = {**tiny_recipe["model"], "bridge": {"kind": "monotonic"}, "ctc": {"symbols": 2}}
    short = {**tiny_recipe, "model": model, "training": {**tiny_recipe["training"], "steps": 2}}
    before = RunFolder.open(train(short, tmp_path / "before").path)
    rates = {"decoder": 0.0, "ctc": 0.0}
    body = {**other_data, "model": model, "training": {**other_data["training"], "rates": rates}}
    after = RunFolder.open(train(body, tmp_path / "after", start=before.path).path)
    old, new = before.load_weights()[0], after.load_weights()[0]
    rows, known = stored(after, "target"), stored(before, "target")
    for name, places in (("decoder.emission.weight", 1), ("decoder.emission.bias", 1), ("ctc.output.weight", 2)):
        each, others = (one[name].reshape(places, -1, *one[name].shape[1:]) for one in (new, old))
        for symbol in set(rows) & set(known):
            assert np.array_equal(each[:, rows.index(symbol)], others[:, known.index(symbol)])


def test_vocabularies_that_are_kept_grow_by_what_is_new(other_data: Recipe, tiny_run: Path, tmp_path: Path) -> None:
    train(other_data, tmp_path / "run", start=StartingRun(tiny_run, keeps_vocabularies=True))
    before, after = RunFolder.open(tiny_run), RunFolder.open(tmp_path / "run")
    for side in ("source", "target"):
        assert stored(after, side)[: len(stored(before, side))] == stored(before, side)
        assert {one.lower() for one in stored(after, side)[len(stored(before, side)) :]} == {"x", "y", "z"}
    assert Vocabulary.from_json(after.vocabularies()["source"], where="").features == ("loud",)


def test_a_kill_at_any_time_goes_on_the_same_also_if_the_other_run_is_gone(
    other_data: Recipe, tiny_run: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copytree(tiny_run, tmp_path / "other"))
    train(other_data, tmp_path / "whole", start=other)
    for step in (2, 4):
        with pytest.raises(ZeroDivisionError):
            train(other_data, tmp_path / f"killed-{step}", start=other, display=Stopper(step))
    assert (tmp_path / "killed-2" / "start.safetensors").exists()
    shutil.rmtree(other)
    train(other_data, tmp_path / "killed-2", start=other)
    train(other_data, tmp_path / "killed-4")
    weights = {(tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "killed-2", "killed-4")}
    assert len(weights) == 1


def test_what_does_not_fit_is_drawn_fresh_and_said(other_data: Recipe, tiny_run: Path, tmp_path: Path) -> None:
    other_data["training"] = {**other_data["training"], "steps": 1, "rates": {}}
    other_data["model"] = {**other_data["model"], "encoder": {"size": 24, "embedding": 20}}
    train(other_data, tmp_path / "run", start=tiny_run, display=(listener := Listener()))
    [sentence] = [one for one in listener.said if one.startswith("starts from")]
    assert "parts taken over; drawn fresh: encoders.source.embedding.weight, " in sentence
    assert sentence.endswith("(absent there, or of another shape); 3 new source symbols; 3 new target symbols")


def test_what_one_cannot_start_from_is_refused_and_nothing_is_made(
    other_data: Recipe, tiny_run_copy: Path, tiny_run: Path, tiny_language_run: Path, tmp_path: Path
) -> None:
    (tiny_run_copy / "weights.safetensors").write_bytes(b"no weights")
    for start, error, said in [
        (tmp_path / "nothing", RunError, "expected a run folder, found nothing"),
        (tiny_run_copy, RunError, "is damaged or not a weights file"),
        (tiny_language_run, RunError, "its model is a language model and the new one is none"),
        (tmp_path / "run", UsageError, "a run cannot start from itself"),
    ]:
        with pytest.raises(error, match=said):
            train(other_data, tmp_path / "run", start=start)
        assert not (tmp_path / "run").exists()
    with pytest.raises(RunError, match="was not started from another run"):
        train(RunFolder.open(tiny_run).recipe, tiny_run, start=tiny_run_copy)


@pytest.mark.parametrize(
    "section",
    [sections.Characters(), sections.Words(), sections.Symbols(), sections.Bpe(size=30), sections.Unigram(size=30)],
)
def test_a_grown_vocabulary_keeps_its_ids_and_reads_what_is_new(section: sections.BuiltVocabulary) -> None:
    from seqloom.data.vocabulary import VocabularyBuilder

    vocabulary = build_vocabulary(section, ["ab ba", "aab b", "abba ab"])
    builder = VocabularyBuilder(section)
    builder.count({"zab": 2, "ab": 1})
    grown = vocabulary.grown(builder.beyond(vocabulary), ["loud"])
    assert grown.stored[: len(vocabulary.stored)] == vocabulary.stored
    assert grown.features == ("loud",)
    [before], [after] = vocabulary.encode_targets(["zab"]), grown.encode_targets(["zab"])
    assert 2 in before
    assert 2 not in after
    assert grown.decode(after) == "zab"
    assert Vocabulary.from_json(grown.to_json(), where="").to_json() == grown.to_json()
