"""Several sources, of which all matter, and sources that are files: from a table to a trained model and its outputs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cli.conftest import Seqloom
from seqloom.errors import DataError, RunError, UsageError
from seqloom.prediction.predictor import Predictor
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
        ({"word": "a"}, r"input 1: expected the keys `reading`, `word`, perhaps `features` or `preceding`, found \['word'\]"),
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
        (
            ["--columns", "source=1"],
            "a\n",
            2,
            "with names out of reading, word, target, weight, features, preceding; got 'source=1'",
        ),
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
    assert seqloom("explain", run, one, "--out", tmp_path / "map.html").out.startswith("big d ")
    assert "this run reads reading and word" in seqloom("explain", run, "d", "--out", tmp_path / "map.html").err
    assert seqloom("report", run, "--out", tmp_path / "report.html").code == 0
    [wrong] = seqloom("errors", run, folder / "table.tsv", "--out", tmp_path / "errors.html", "--json").objects
    assert wrong["count"] == 300
    assert seqloom("compare", run, run, "--held-out").code == 0


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


# --- files ----------------------------------------------------------------------------------------------------------

COLOURS = {"red": (220, 30, 30), "green": (30, 180, 30), "blue": (40, 40, 220)}
QUESTIONS: dict[str, Callable[[str], str]] = {
    "what colour?": lambda colour: colour,
    "is it red?": lambda colour: "yes" if colour == "red" else "no",
}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of one colour, two questions and two right answers each, and a run that answers questions about them."""
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(1)
    lines = []
    for number in range(60):
        colour = str(random.choice(list(COLOURS)))
        pixels = np.clip(np.asarray(COLOURS[colour]) + random.integers(-30, 30, (16, 16, 3)), 0, 255)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{number}.png")
        for question, right in QUESTIONS.items():
            lines += [f"{number}.png\t{question}\t{right(colour)}\n", f"{number}.png\t{question}\t{right(colour)}, indeed\n"]
    (folder / "table.tsv").write_text("".join(lines))
    recipe = {
        "data": {
            "train": str(folder / "table.tsv"),
            "split": {"validation": 0.15, "test": 0.15},
            "sources": {
                "picture": {"kind": "image", "size": 16},
                "question": {"kind": "text", "vocabulary": {"kind": "words"}},
            },
            "vocabularies": {"target": {"kind": "words"}},
        },
        "model": {
            "encoders": {"picture": {"kind": "cnn", "channels": [8, 8], "size": 16}, "question": {"size": 12, "embedding": 8}},
            "decoder": {"size": 24, "embedding": 8},
        },
        "training": {"epochs": 12, "batch_size": 16, "learning_rate": 0.01, "precision": "fp32", "threads": 1},
    }
    train(recipe, folder / "run")
    return folder


def test_questions_about_pictures_are_answered(pictures: Path, seqloom: Seqloom) -> None:
    [body] = seqloom("evaluate", pictures / "run", "--metrics", "exact_match", "--json").objects
    test_pictures = body["count"] // 2
    assert 4 <= test_pictures <= 16  # two questions each; the two right answers to one are one item
    assert body["metrics"]["exact_match"] > 80
    asked = json.dumps({"picture": str(pictures / "0.png"), "question": "is it red?"}) + "\n"
    [told] = seqloom("predict", pictures / "run", "--json", given=asked).objects
    assert told["text"].split(",")[0] in ("yes", "no")
    assert told["alignment"]["picture"]["grid"] == [4, 4]
    assert len(told["alignment"]["picture"]["symbols"]) == len(told["alignment"]["picture"]["weights"][0]) == 16
    assert "grid" not in told["alignment"]["question"]


def test_names_in_a_table_begin_at_its_folder(pictures: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    (pictures / "asked.tsv").write_text("0.png\tis it red?\n1.png\tis it red?\n")
    assert len(seqloom("predict", pictures / "run", pictures / "asked.tsv").out.splitlines()) == 2
    (tmp_path / "asked.tsv").write_text("0.png\tis it red?\nnone.png\tis it red?\n")
    answer = seqloom("predict", pictures / "run", tmp_path / "asked.tsv")
    assert answer.code == 3
    assert f"{tmp_path / 'asked.tsv'}:1: expected a file '{tmp_path / '0.png'}', found nothing there" in answer.err


def test_training_does_not_begin_with_a_picture_missing(pictures: Path, tmp_path: Path) -> None:
    recipe = read_recipe(pictures / "run" / "recipe.yaml")
    (tmp_path / "table.tsv").write_text((pictures / "table.tsv").read_text())
    moved = recipe.model_copy(update={"data": recipe.data.model_copy(update={"train": str(tmp_path / "table.tsv")})})
    with pytest.raises(DataError, match=r"files cannot be read:\n  .*table\.tsv:1: expected a file .*\n(.*\n)*  and 55 more"):
        train(moved, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_of_pictures_takes_the_files_themselves(pictures: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    rows = [line.split("\t") for line in (pictures / "table.tsv").read_text().splitlines() if "what colour?" in line]
    (pictures / "captions.tsv").write_text("".join(f"{name}\t{answer}\n" for name, _, answer in rows))
    recipe = {
        "data": {
            "train": str(pictures / "captions.tsv"),
            "sources": {"picture": {"kind": "image", "size": 16}},
            "vocabularies": {"target": {"kind": "words"}},
        },
        "model": {"encoder": {"kind": "cnn", "channels": [4]}, "decoder": {"size": 8, "embedding": 4}},
        "training": {"steps": 2, "batch_size": 16, "precision": "fp32", "threads": 1},
    }
    run = tmp_path / "run"
    train(recipe, run)
    files = [pictures / f"{number}.png" for number in range(3)]
    named = seqloom("predict", run, *files).out
    assert named == seqloom("predict", run, given="".join(f"{file}\n" for file in files)).out
    assert len(named.splitlines()) == 3
    (tmp_path / "broken.png").write_bytes((pictures / "0.png").read_bytes()[:60])
    answer = seqloom("predict", run, files[0], tmp_path / "broken.png")
    assert answer.code == 3
    assert "input:2: " in answer.err
    assert seqloom("explain", run, files[0], "--out", tmp_path / "map.json").code == 0
    many = seqloom("predict", run, pictures / "captions.tsv", pictures / "captions.tsv")
    assert "expected one file to read, found 2" in many.err
    assert seqloom("report", run, "--out", tmp_path / "report.html").code == 0


def test_the_doctor_opens_every_picture(pictures: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    rows = "".join(f"{pictures / f'{number}.png'}\tis it red?\tno\n" for number in range(3))
    (tmp_path / "table.tsv").write_text(f"{rows}none.png\twhat colour?\tred\n")
    text = (pictures / "run" / "recipe.yaml").read_text().replace(str(pictures / "table.tsv"), str(tmp_path / "table.tsv"))
    (tmp_path / "recipe.yaml").write_text(text)
    answer = seqloom("check", tmp_path / "recipe.yaml", "--json")
    [missing] = [one for one in answer.objects[0]["findings"] if one["code"] == "missing-picture"]
    assert (answer.code, missing["count"]) == (1, 1)
    assert missing["examples"][0].startswith(f"{tmp_path / 'table.tsv'}:4: expected a file ")
