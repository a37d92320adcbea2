"""`seqloom explain --tree` and `--steps`: a model at work on one input."""

import json
from pathlib import Path

import numpy as np
import pytest

from .conftest import Seqloom


@pytest.mark.parametrize("option", ["--tree", "--steps"])
@pytest.mark.parametrize("ending", ["html", "svg", "png", "json"])
def test_every_form_is_written(seqloom: Seqloom, tiny_run: Path, here: Path, option: str, ending: str) -> None:
    answer = seqloom("explain", tiny_run, "abc", option, "--out", f"inside.{ending}")
    assert (answer.code, answer.out.splitlines()[-1]) == (0, f"inside.{ending}")
    assert (here / f"inside.{ending}").stat().st_size > 500


def test_a_tree_tells_what_became_of_every_continuation(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    [predicted] = seqloom("predict", tiny_run, "--beam", 2, "--nbest", 2, "--json", given="abc\n").objects
    [tree] = seqloom("explain", tiny_run, "abc", "--tree", "--beam", 2, "--out", "tree.json", "--json").objects
    assert [one["text"] for one in tree["outputs"]] == [predicted["text"], predicted["alternatives"][0]["text"]]
    assert json.loads((here / "tree.json").read_text(encoding="utf-8"))["steps"] == tree["steps"]
    for step, before in zip(tree["steps"], [[], *tree["steps"]], strict=False):
        taken = [one for one in step if one["fate"] not in ("pruned", "forbidden")]
        assert 1 <= len(taken) <= 2
        assert [one["total"] for one in step] == sorted((one["total"] for one in step), reverse=True)
        for one in step:
            start = before[one["parent"]] if one["parent"] >= 0 else {"total": 0.0, "fate": "kept"}
            assert start["fate"] == "kept"
            assert one["total"] == pytest.approx(start["total"] + one["log_prob"])
    way = [next(one for one in step if one["chosen"]) for step in tree["steps"] if any(one["chosen"] for one in step)]
    assert [one["symbol"] for one in way] == predicted["tokens"]
    assert way[-1]["score"] == pytest.approx(predicted["score"])


def test_steps_show_scores_whose_softmax_are_the_weights(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    [walk] = seqloom("explain", tiny_run, "abc", "--steps", "--out", "steps.json", "--json").objects
    [predicted] = seqloom("predict", tiny_run, "--json", given="abc\n").objects
    assert [one["symbol"] for one in walk["steps"]] == predicted["tokens"]
    for step, weights in zip(walk["steps"], predicted["alignment"]["source"]["weights"], strict=True):
        scores = np.exp(np.array(step["energies"]) - max(step["energies"]))
        assert np.allclose(scores / scores.sum(), step["weights"], atol=1e-4)
        assert np.allclose(step["weights"], weights, atol=1e-4)
        assert len(step["alone"]) == len(walk["symbols"])
        assert step["own"][0]["probability"] >= step["own"][1]["probability"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tree", "--steps"), "two pictures"),
        (("--tree", "--oracle", "0-0"), "Leave --oracle out"),
        (("--steps", "--out", "steps.pdf"), "expected a file name that ends in"),
    ],
)
def test_what_does_not_go_together_is_refused(
    seqloom: Seqloom, tiny_run: Path, here: Path, words: tuple[str, ...], said: str
) -> None:
    answer = seqloom("explain", tiny_run, "abc", *words)
    assert (answer.code, said in answer.err) == (2, True)


def test_a_language_model_has_neither(seqloom: Seqloom, tiny_language_run: Path, here: Path) -> None:
    answer = seqloom("explain", tiny_language_run, "abc", "--tree")
    assert answer.code == 2
    assert "--tree and --steps are for models that read a source" in answer.err


@pytest.mark.parametrize("option", [[], ["--tree"], ["--steps"]])
def test_a_prefix_is_what_the_output_begins_with(seqloom: Seqloom, tiny_run: Path, here: Path, option: list[str]) -> None:
    answer = seqloom("explain", tiny_run, "abc", "--prefix", "BB", *option, "--out", "map.svg")
    assert (answer.code, answer.out.startswith("BB")) == (0, True), answer.err
