"""`seqloom errors`: what goes wrong, as tables, JSON and a page."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cli.conftest import Seqloom
from seqloom.data.reading.formats import read_examples
from seqloom.evaluation.error_analysis import diagnose
from seqloom.prediction.predictor import Predictor

PAIRS = "abc\tABC\t\nabc\tABD\t\nfed\tFE\t\nfed\tFEDE\t\n"
"""The model writes upper case: of these references it meets the first, writes C for D, D too much, and one E too few."""


@pytest.fixture
def pairs(here: Path) -> Path:
    (here / "pairs.tsv").write_text(PAIRS)
    return here / "pairs.tsv"


def test_edits_are_counted_with_share_and_examples(seqloom: Seqloom, tiny_run: Path, pairs: Path) -> None:
    [body] = seqloom("errors", tiny_run, pairs, "--json").objects
    assert (body["count"], body["wrong"], body["unit"], body["wanted"]) == (4, 3, "characters", 12)
    assert body["edits"] == {"substituted": 1, "dropped": 1, "inserted": 1}
    assert body["error_rate"] == pytest.approx(100 * 3 / 12)
    found = {one["kind"]: one for one in body["confusions"]}
    swapped = found["substituted"]
    assert (swapped["wanted"], swapped["written"], swapped["count"], swapped["of"]) == ("D", "C", 1, 2)
    assert swapped["share"] == pytest.approx(100 / 3)
    assert swapped["examples"] == [{"source": "abc", "wanted": "ABD", "written": "ABC"}]
    assert (found["dropped"]["wanted"], found["dropped"]["written"]) == ("E", None)
    assert (found["inserted"]["written"], found["inserted"]["of"]) == ("D", None)


def test_the_worst_are_wrong_ones_by_edit_rate(seqloom: Seqloom, tiny_run: Path, pairs: Path) -> None:
    [body] = seqloom("errors", tiny_run, pairs, "--json").objects
    assert [one["case"]["source"] for one in body["worst"]] == ["fed", "abc", "fed"]
    assert [one["number"] for one in body["worst"]] == [2, 1, 3]
    assert all(0 < one["probability"] <= 1 for one in body["worst"])
    [few] = seqloom("errors", tiny_run, pairs, "--worst", 1, "--json").objects
    assert len(few["worst"]) == 1


def test_groups_say_what_they_count(seqloom: Seqloom, tiny_run: Path, tiny_pairs: Path, here: Path) -> None:
    trained = next(line for line in tiny_pairs.read_text().splitlines() if line.endswith("\t"))
    (here / "pairs.tsv").write_text(f"{trained}\nabx\tABX\t\nhgfedcba\tHGFEDCBA\t\n")
    [body] = seqloom("errors", tiny_run, "pairs.tsv", "--json").objects
    by = {one["name"]: one for one in body["by"]}
    rarest = by["frequency of the rarest character in the source"]
    assert "stands in all training sources" in rarest["counted"]
    first = rarest["groups"][0]  # x, which training never showed
    assert (first["low"], first["high"], first["count"], first["exact_match"]) == (0, 0, 1, 0)
    assert first["error_rate"] >= 100 / 3
    assert all(sum(group["count"] for group in one["groups"]) == 3 for one in by.values())
    assert {"length of the source", "frequency of the rarest character in the reference"} < set(by)
    assert body["unseen"] == 1  # X


def test_training_data_that_is_gone_is_said_and_the_rest_is_shown(tiny_run: Path, pairs: Path) -> None:
    predictor = Predictor.load(tiny_run)
    data = predictor.recipe.data.model_copy(update={"train": "gone.tsv"})
    predictor.corpus = replace(predictor.corpus, data=data)
    examples = list(read_examples(str(pairs)))
    found = diagnose(predictor, examples, predictor.predict(examples))
    assert found.notes[0].startswith("frequency in training was not counted: gone.tsv: expected a")
    assert found.wrong == 3


def test_of_several_references_the_closest_counts(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "pairs.tsv").write_text("abc\tXYZ\t\nabc\tABD\t\nfed\tNO\t\nfed\tFED\t\n")
    [body] = seqloom("errors", tiny_run, "pairs.tsv", "--references", "grouped", "--json").objects
    assert (body["count"], body["wrong"], sum(body["edits"].values())) == (2, 1, 1)
    assert body["worst"][0]["case"]["wanted"] == "ABD"
    assert body["worst"][0]["others"] == ["XYZ"]


def test_tables_and_a_page_that_needs_nothing_else(seqloom: Seqloom, tiny_run: Path, pairs: Path, here: Path) -> None:
    answer = seqloom("errors", tiny_run, pairs, "--out", "errors.html")
    assert answer.code == 0
    assert answer.out.startswith("3 of 4 outputs are wrong (4 examples of ")
    assert "substituted  D " in answer.out
    assert answer.out.endswith("errors.html\n")
    page = (here / "errors.html").read_text()
    assert page.count('class="seqloom-map"') == 3
    assert "<mark class=" in page
    assert "What is taken for what" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_all_right_has_nothing_to_show(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "pairs.tsv").write_text("abc\tABC\t\nfed\tFED\t\n")
    answer = seqloom("errors", tiny_run, "pairs.tsv", "--out", "errors.html")
    assert answer.out.startswith("0 of 2 outputs are wrong")
    assert "Worst outputs" not in (here / "errors.html").read_text()
    [body] = seqloom("errors", tiny_run, "pairs.tsv", "--json").objects
    assert (body["confusions"], body["worst"]) == ([], [])


def test_without_a_file_it_is_the_test_split(seqloom: Seqloom, tiny_run: Path) -> None:
    [body] = seqloom("errors", tiny_run, "--json").objects
    assert body["count"] == json.loads((tiny_run / "run.json").read_text())["examples"]["test"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "errors.pdf"], "expected a file that ends in .html"),
        (["pairs.tsv"], "expected one file of pairs, found 2"),
        (["--references", "all"], "--references: expected single or grouped, got 'all'"),
    ],
)
def test_wrong_options_get_a_sentence(seqloom: Seqloom, tiny_run: Path, pairs: Path, words: list[str], said: str) -> None:
    answer = seqloom("errors", tiny_run, pairs, *words)
    assert answer.code == 2
    assert said in answer.err


def test_a_language_model_is_sent_to_score(seqloom: Seqloom, lines: Path) -> None:
    answer = seqloom("errors", lines)
    assert answer.code == 2
    assert f"Use: seqloom score {lines} FILE" in answer.err
