"""Tables that are given to commands as they are: which columns are taken, what is said of them, and what is refused."""

import re
import shlex
from pathlib import Path

import pytest

from cli.conftest import QUICK, Seqloom, words
from seqloom.cli.own_data import with_pairs
from seqloom.data.preparing.corpus import Corpus
from seqloom.recipe import Recipe, read_recipe, recipe_from
from seqloom.recipe.shipped import shipped_recipe
from seqloom.training.reporting.display import SilentDisplay
from seqloom.training.session import train

PREMISES = ["a dog runs", "a cat sleeps", "a boy sings", "the sun shines"]


class OracleWeights(SilentDisplay):
    """A display that keeps what is said."""

    said = ""

    def say(self, text: str) -> None:
        """Keep it."""
        self.said += f"{text}\n"


def claims(count: int) -> list[str]:
    """Rows of a premise, a hypothesis and whether they agree; there are four premises only."""
    return [f"{PREMISES[number % 4]}\tsomething is {number}\t{'yes' if number % 3 else 'no'}\n" for number in range(count)]


def test_a_header_is_said_before_training_and_in_a_check(seqloom: Seqloom, here: Path) -> None:
    rows = "".join(f"{number}\t{'abc'[number % 3]}{number}\tA B C\n" for number in range(60))
    (here / "table.tsv").write_text(f"id\tword\tpron\n{rows}")
    wanted = "seqloom: columns: source = `word`, target = `pron` (by the names of the columns); not read: id\n"
    assert wanted in seqloom("check", "table.tsv").err
    [body] = seqloom("check", "table.tsv", "--json").objects
    assert body["columns"]["taken"] == {"source": "word", "target": "pron"}
    assert "header-line" not in {finding["code"] for finding in body["findings"]}
    trained = seqloom("train", "--pairs", "table.tsv", "--out", "run", *QUICK)
    assert (trained.code, wanted in trained.err) == (0, True)
    assert read_recipe(here / "run" / "recipe.yaml").data.columns.source == "word"


@pytest.mark.parametrize("command", [["check", "table.tsv"], ["train", "--pairs", "table.tsv", "--out", "run"]])
def test_recordings_that_are_not_there_stop_every_command(seqloom: Seqloom, here: Path, command: list[str]) -> None:
    (here / "table.tsv").write_text("".join(f"{number}.wav\tone two\n" for number in range(30)))
    answer = seqloom(*command)
    wanted = "sound holds names of sound files such as '0.wav', and none of them is in the folder of the table"
    assert (answer.code, wanted in answer.err) == (3, True)
    assert not (here / "run").exists()


@pytest.mark.parametrize("header", [True, False])
def test_two_texts_need_no_recipe(seqloom: Seqloom, here: Path, header: bool) -> None:
    (here / "table.tsv").write_text("premise\thypothesis\tlabel\n" * header + "".join(claims(90)))
    told = [] if header else ["--columns", "premise=1,hypothesis=2,target=3"]
    small = {f"model.encoders.{name}.size": 4 for name in ("premise", "hypothesis")}
    quick = words({**small, "model.decoder.size": 8, "training.steps": 2, "training.threads": 1})
    answer = seqloom("train", "--pairs", "table.tsv", *told, "--out", "run", *quick)
    assert (answer.code, "with 2 classes" in answer.err) == (0, True)
    following = re.search(r"seqloom (predict run .*)", answer.err)
    assert following is not None
    assert seqloom(*shlex.split(following[1])).code == 0  # as it is typed
    recipe = read_recipe(here / "run" / "recipe.yaml")
    assert (list(recipe.data.sources), recipe.data.vocabularies.target.kind) == (["premise", "hypothesis"], "whole")
    asked = '{"premise": "a dog runs", "hypothesis": "something is 3"}\n'
    assert seqloom("predict", "run", given=asked).out.strip() in {"yes", "no"}


def test_a_recipe_of_several_texts_finds_them_by_a_header_and_reads_that_as_no_example(tmp_path: Path) -> None:
    lines = ["answer\tcontext\tquestion", *(f"cat {n}\tI saw cat {n} on the roof\twhat did I see {n} ?" for n in range(40))]
    (tmp_path / "table.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def on_table(recipe: str) -> Recipe:
        table = str(tmp_path / "table.tsv")
        return with_pairs(
            shipped_recipe(recipe), table, validation=None, test=None, columns=None, images=None, format="auto", settings=()
        )

    recipe = on_table("answers")
    assert {name: source.column for name, source in recipe.data.sources.items()} == {"question": "question", "text": "context"}
    assert (recipe.data.columns.target, recipe.data.split.by) == ("answer", "text")
    assert sum(1 for _ in Corpus(recipe.data, 1).everything()) == 40
    assert [source.column for source in on_table("entailment").data.sources.values()] == [None, None]  # as the recipe says


def test_several_texts_are_split_by_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_text("".join(claims(400)))
    data = {"train": str(tmp_path / "table.tsv"), "sources": {"premise": {}, "hypothesis": {}}}
    recipe = recipe_from({"data": data, "model": {"encoders": {"premise": {}, "hypothesis": {}}}})
    corpus = Corpus(recipe.data, recipe.seed)
    sizes = {name: len(list(corpus.examples(name))) for name in ("train", "validation", "test")}
    assert sum(sizes.values()) == 400
    assert 8 <= min(sizes["validation"], sizes["test"]) <= max(sizes["validation"], sizes["test"]) <= 40


def test_a_split_that_stays_empty_is_told_of(tmp_path: Path, tiny_recipe: dict[str, object]) -> None:
    told = OracleWeights()
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{word}\t{word}\n" for word in ("ab", "cd", "ef", "gh")))
    body = {**tiny_recipe, "data": {"train": str(pairs), "validation": str(pairs), "split": {"test": 0.0001}}}
    body["training"] = {"steps": 1, "threads": 1, "precision": "fp32"}
    train(body, tmp_path / "run", display=told)
    assert (
        "warning: there are no test examples. Give more data, name a file in data.test, or raise data.split.test" in told.said
    )


# --- predicting -----------------------------------------------------------------------------------------------------


def test_pairs_are_split_and_their_targets_stand_beside_the_outputs(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "pairs.tsv").write_text("abc\tABC!\tloud\nfed\tFED\t\n")
    assert seqloom("predict", tiny_run, "pairs.tsv").out == "ABC!\tABC!\nFED\tFED\n"
    assert seqloom("predict", tiny_run, given="abc\tABC!\tloud\nfed\n").out == "ABC!\tABC!\nFED\n"
    first, second = seqloom("predict", tiny_run, "pairs.tsv", "--json").objects
    assert (first["source"], first["target"], second["features"]) == ("abc", "ABC!", [])
    assert seqloom("predict", tiny_run, "pairs.tsv", "--format", "text", "--json").objects[0]["source"] == "abc\tABC!\tloud"


def test_unknown_symbols_are_said_aloud(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    answer = seqloom("predict", tiny_run, "--json", given="abc\nनम\naनc\n")
    wanted = "seqloom: 3 symbols are unknown to the model, in 2 of 3 inputs ('न' (2), 'म' (1)). It reads each as <unknown>"
    assert answer.err.startswith(wanted)
    assert [one.get("unknown") for one in answer.objects] == [None, ["न", "म"], ["न"]]
    (here / "pairs.tsv").write_text("abc\tABC\nनम\tX\naनc\tY\n")
    evaluated = seqloom("evaluate", tiny_run, "pairs.tsv", "--columns", "source=1,target=2", "--json")
    assert evaluated.err.startswith(wanted)
    assert evaluated.objects[0]["unknown"] == {"symbols": 3, "inputs": 2}
    assert seqloom("predict", tiny_run, given="abc\n").err == ""
