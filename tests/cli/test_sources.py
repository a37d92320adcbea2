"""Several sources: a vector and a text of which both matter, from a table to a trained model and its outputs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.conftest import Seqloom
from seqloom.errors import RunError, UsageError
from seqloom.predict import Predictor
from seqloom.recipe import read_recipe
from seqloom.training.session import train

LETTERS = "abcd"


def answer(sign: float, letter: str) -> str:
    return f"{'big' if sign > 0 else 'small'} {letter}"


def recipe_for(file: Path, **settings: Any) -> dict[str, Any]:
    return {
        "data": {
            "train": str(file),
            "sources": {"reading": {"kind": "vector", "size": 2}, "word": {"kind": "text"}},
            "vocabularies": {"target": {"kind": "whole"}},
            **settings,
        },
        "model": {
            "encoders": {"word": {"size": 12, "embedding": 8}, "reading": {"kind": "dense", "size": 8}},
            "decoder": {"size": 24, "embedding": 8},
        },
        "training": {
            "epochs": 12,
            "batch_tokens": 40,
            "learning_rate": 0.02,
            "precision": "fp32",
            "threads": 1,
            "validation": {"metric": "exact_match"},
        },
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that says a class of a vector and a letter, and the table that it learnt from."""
    folder = tmp_path_factory.mktemp("sources")
    random = np.random.default_rng(5)
    with (folder / "table.tsv").open("w") as stream:
        for _ in range(300):
            one, other = random.uniform(0.2, 1, 2).round(3) * random.choice([-1, 1], 2)
            letter = str(random.choice(list(LETTERS)))
            stream.write(f"{one} {other}\t{letter}\t{answer(one, letter)}\n")
    train(recipe_for(folder / "table.tsv"), folder / "run")
    return folder


def test_a_class_depends_on_both_sources(folder: Path, seqloom: Seqloom) -> None:
    [body] = seqloom("evaluate", folder / "run", "--json").objects
    assert body["metrics"]["exact_match"] > 90
    assert {one["name"] for one in body["classes"]["classes"]} <= {
        answer(sign, letter) for sign in (-1, 1) for letter in LETTERS
    }


def test_tables_and_json_lines_give_the_same_outputs(folder: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    (tmp_path / "in.tsv").write_text("0.9 0.3\ta\n-0.5 0.9\tb\n\n")
    lines = '{"reading": [0.9, 0.3], "word": "a"}\n{"word": "b", "reading": "-0.5 0.9"}\n\n'
    assert seqloom("predict", folder / "run", tmp_path / "in.tsv").out == "big a\nsmall b\n\n"
    assert seqloom("predict", folder / "run", given=lines).out == "big a\nsmall b\n\n"
    (tmp_path / "turned.tsv").write_text("a\t0.9 0.3\n")
    turned = seqloom("predict", folder / "run", tmp_path / "turned.tsv", "--columns", "word=1,reading=2")
    assert turned.out == "big a\n"


def test_a_prediction_tells_all_sources_and_where_it_looked_in_each(folder: Path) -> None:
    predictor = Predictor.load(folder / "run")
    [found] = predictor.predict([{"word": "c", "reading": [-0.7, 0.1]}])
    assert found.text == "small c"
    assert found.sources == {"reading": "-0.7 0.1", "word": "c"}
    assert {name: one.symbols for name, one in found.alignment.items()} == {"reading": ("vector",), "word": ("c",)}
    assert found.as_json()["source"] == {"reading": "-0.7 0.1", "word": "c"}
    together = predictor.predict([{"word": "c" * n, "reading": [-0.7, 0.1]} for n in (1, 3)])
    np.testing.assert_allclose(together[0].log_prob, found.log_prob, atol=1e-4)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("a", "input 1: this model reads reading and word, found one text. Give a mapping with these keys"),
        ({"word": "a"}, r"input 1: expected the keys `reading`, `word` and perhaps `features`, found \['word'\]"),
        ({"word": "a", "reading": [1, 2], "x": 1}, "input 1: expected the keys `reading`, `word`"),
    ],
)
def test_a_wrong_input_is_told_what_the_model_reads(folder: Path, given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Predictor.load(folder / "run").predict([given])


@pytest.mark.parametrize(
    ("words", "given", "code", "said"),
    [
        ([], "abc\n", 3, "<stdin>:1: expected one JSON object on the line"),
        ([], '{"word": "a"}\n', 3, "<stdin>:1: expected the key 'reading', found 'word'"),
        ([], '{"word": "a", "reading": [1]}\n', 3, "<stdin>:1: expected 2 numbers, found 1"),
        (["--format", "text"], "abc\n", 2, "a line of plain text is one source, and this model reads reading and word"),
        (
            ["--format", "tsv"],
            "1 2\n",
            3,
            "<stdin>:1: expected at least 2 tab-separated columns, found 1. Put the word into column 2",
        ),
        (["--columns", "source=1"], "a\n", 2, "with names out of reading, word, target, weight, features; got 'source=1'"),
    ],
)
def test_wrong_input_gives_one_sentence(
    folder: Path, seqloom: Seqloom, words: list[str], given: str, code: int, said: str
) -> None:
    answer = seqloom("predict", folder / "run", *words, given=given)
    assert answer.code == code
    assert said in answer.err


def test_every_command_takes_several_sources(folder: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    run, recipe = folder / "run", folder / "run" / "recipe.yaml"
    [*scored, last] = seqloom("score", run, folder / "table.tsv", "--json").objects
    assert (len(scored), last["summary"]["count"]) == (300, 300)
    assert seqloom("check", recipe).code == 0
    told = seqloom("recipes", "show", recipe).out
    assert "Vector and text to class: say of which class an example is, given its sources reading and word." in told
    assert "dense encoder (8 wide) for reading" in told
    one = json.dumps({"reading": "0.5 0.5", "word": "d"})
    assert seqloom("explain", run, one, "--out", tmp_path / "map.html").out.startswith("big d\n")
    assert "this run reads reading and word" in seqloom("explain", run, "d", "--out", tmp_path / "map.html").err
    assert seqloom("report", run, "--out", tmp_path / "report.html").code == 0


def test_a_run_goes_on_with_the_same_sources_only(folder: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    body = recipe_for(folder / "table.tsv")
    sources = body["data"]["sources"]
    turned = {**body, "data": {**body["data"], "sources": dict(reversed(sources.items()))}}
    with pytest.raises(RunError, match=r"data\.sources: in the order reading, word -> word, reading"):
        train(turned, folder / "run")
    assert read_recipe(folder / "run" / "recipe.yaml").data.columns.target == 3


def test_references_are_grouped_where_the_recipe_says_so(folder: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    (tmp_path / "several.tsv").write_text("0.9 0.3\ta\tbig a\n0.9 0.3\ta\tsmall b\n-0.9 0.3\tb\tsmall b\n")
    [single] = seqloom("evaluate", folder / "run", tmp_path / "several.tsv", "--json").objects
    assert (single["count"], round(single["metrics"]["exact_match"], 1)) == (3, 66.7)
    body = recipe_for(folder / "table.tsv", references="grouped")
    train({**body, "training": {**body["training"], "steps": 1}}, tmp_path / "run")
    [grouped] = seqloom("evaluate", tmp_path / "run", tmp_path / "several.tsv", "--json").objects
    assert grouped["count"] == 2
