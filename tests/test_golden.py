"""A run folder that was written once and is never written again: what old runs may expect of new code."""

import json
from pathlib import Path

import pytest

from seqloom.prediction.predictor import Predictor
from seqloom.runs import RunFolder
from seqloom.runs.documents import FORMAT

GOLDEN = Path(__file__).parent / "golden"


def test_a_run_of_this_format_still_opens() -> None:
    run = RunFolder.open(GOLDEN / "run")
    assert run.facts["format"] == FORMAT
    assert (run.counters() or {})["finished"] == "all steps done"
    assert run.load_checkpoint() is not None


def test_it_still_predicts_what_it_predicted() -> None:
    wanted = [json.loads(line) for line in (GOLDEN / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    predictions = Predictor.load(GOLDEN / "run").predict([one["source"] for one in wanted], nbest=2)
    for prediction, before in zip(predictions, wanted, strict=True):
        now = prediction.as_json()
        assert now.keys() == before.keys()
        assert (now["text"], now["tokens"]) == (before["text"], before["tokens"])
        assert now["log_prob"] == pytest.approx(before["log_prob"], abs=1e-4)
        assert now["score"] == pytest.approx(before["score"], abs=1e-4)
        assert [one["text"] for one in now["alternatives"]] == [one["text"] for one in before["alternatives"]]
