"""Outputs that are classes: a text is one symbol, and evaluation says which are confused."""

from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Seqloom
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Beam, Greedy, Sample, Search
from seqloom.training.session import train


@pytest.fixture(scope="module")
def class_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that says whether a word has an `a` in it; one of the classes has a space in its name."""
    folder = tmp_path_factory.mktemp("classes")
    lines = [f"{word}\t{'with a' if 'a' in word else 'without'}\n" for word in _words(300)]
    (folder / "pairs.tsv").write_text("".join(lines))
    recipe = {
        "data": {"train": str(folder / "pairs.tsv"), "vocabularies": {"target": {"kind": "whole"}}},
        "model": {
            "encoder": {"size": 16, "embedding": 8},
            "decoder": {"size": 16, "embedding": 8},
            "bridge": {"kind": "initial"},
        },
        "training": {
            "epochs": 15,
            "batch_tokens": 120,
            "learning_rate": 0.02,
            "validation": {"metric": "exact_match"},
            "precision": "fp32",
            "threads": 1,
        },
    }
    train(recipe, folder / "run")
    return folder / "run"


def _words(count: int) -> list[str]:
    random = np.random.default_rng(5)
    return ["".join(random.choice(list("abcd"), size=random.integers(1, 6))) for _ in range(count)]


@pytest.mark.parametrize("search", [Greedy(), Beam(width=4), Sample(count=2, seed=3)], ids=["greedy", "beam", "sample"])
def test_a_class_is_one_symbol_under_every_search(class_run: Path, search: Search) -> None:
    predictions = Predictor.load(class_run).predict(["abcd", "dcb", "bbbb"], search=search, nbest=1)
    assert all(one.text in {"with a", "without"} for one in predictions)
    assert all(len(one.tokens) == 2 and one.best.finished for one in predictions)
    if not isinstance(search, Sample):
        assert [one.text for one in predictions] == ["with a", "without", "without"]


def test_the_beam_ranks_the_classes(class_run: Path) -> None:
    [prediction] = Predictor.load(class_run).predict(["abcd"], nbest=2)
    assert {one.text for one in prediction.candidates} == {"with a", "without"}


def test_every_class_is_given_once_with_its_probability(class_run: Path, seqloom: Seqloom) -> None:
    predictor = Predictor.load(class_run)
    for search, nbest in ((Greedy(), 9), (Beam(width=2), 2), (Sample(count=20, seed=3, temperature=9.0), 20)):
        [prediction] = predictor.predict(["abcd"], search=search, nbest=nbest)
        assert sorted(one.text for one in prediction.candidates) == ["with a", "without"]
        assert all(one.tokens[1:] == ("<end>",) and one.finished for one in prediction.candidates)
        assert sum(one.probability or 0 for one in prediction.candidates) == pytest.approx(1, abs=1e-5)
    answer = seqloom("predict", class_run, "--nbest", "5", given="abcd\n")
    (_, _, first, best), (_, _, second, _) = [line.split("\t") for line in answer.out.splitlines()]
    assert (best, float(first) > 0.5 > float(second)) == ("with a", True)
    [body] = seqloom("predict", class_run, "--json", given="abcd\n").objects
    assert body["probability"] == pytest.approx(float(first), abs=1e-3)


def test_errors_of_classes_are_a_table_of_classes(class_run: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("abcd\twith a\ndcb\twith a\nbbbb\twithout\n")
    [body] = seqloom("errors", class_run, tmp_path / "pairs.tsv", "--json").objects
    assert (body["unit"], body["wrong"]) == ("classes", 1)
    assert body["classes"]["confusions"] == [{"wanted": "with a", "written": "without", "count": 1}]
    answer = seqloom("errors", class_run, tmp_path / "pairs.tsv", "--out", tmp_path / "errors.html")
    assert "written instead" in answer.out
    assert "Rows: wanted. Columns: written." in (tmp_path / "errors.html").read_text()


def test_evaluating_classes_says_which_are_confused(class_run: Path, seqloom: Seqloom) -> None:
    [body] = seqloom("evaluate", class_run, "--json").objects
    assert body["classes"]["accuracy"] == body["metrics"]["exact_match"] > 80
    assert {one["name"] for one in body["classes"]["classes"]} == {"with a", "without"}
    text = seqloom("evaluate", class_run).out
    assert "precision" in text
    assert "with a" in text
    assert "symbol_error_rate, cer, wer, bleu, chrf: not shown: the targets are classes" in text
    assert seqloom("report", class_run).code == 0
    assert "Rows: wanted" in (class_run / "report.html").read_text()
