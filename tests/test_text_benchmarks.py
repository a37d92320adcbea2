"""The tables that benchmarks of text applications make of data sets."""

import gzip
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    yield importlib.import_module("texts")
    del sys.modules["texts"]


def write(folder: Path, *lines: str) -> None:
    folder.mkdir()
    for part in ("train", "dev", "test"):
        (folder / f"{part}.tsv.gz").write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


def rows(settings: list[str], part: str) -> list[list[str]]:
    (file,) = (one.partition("=")[2] for one in settings if one.startswith(f"data.{part}="))
    return [line.split("\t") for line in Path(file).read_text(encoding="utf-8").splitlines()]


def test_kept_words_become_tags_from_left_to_right(texts: Any) -> None:
    assert texts.kept_tags("the old man and the sea", "the man and sea") == "1 0 1 1 0 1"


def test_the_turn_before_is_that_of_the_same_conversation(texts: Any, tmp_path: Path) -> None:
    write(tmp_path / "dailydialog_subset", "a\tb", "b\tc", "x\ty")
    assert rows(texts.daily(tmp_path), "train") == [["", "a", "b"], ["a", "b", "c"], ["", "x", "y"]]


def test_turns_without_an_end_are_left_out(texts: Any, tmp_path: Path) -> None:
    write(tmp_path / "sgd_dialogue", "1\t1\ts\t\thi\tinform a = b\thello", "1\t3\ts\thello\tyes\tinform\t")
    assert rows(texts.sgd(tmp_path, 4, 5, 7), "test") == [["", "hi", "hello"]]


def test_every_answer_of_a_question_is_a_reference(texts: Any, tmp_path: Path) -> None:
    write(tmp_path / "tweetqa", "q\ttweet\twho ?\tann")
    (tmp_path / "tweetqa" / "test.tsv.gz").write_bytes(gzip.compress(b"q\ttweet\twho ?\tann\tann b\n"))
    assert rows(texts.tweetqa(tmp_path), "test") == [["tweet", "who ?", "ann"], ["tweet", "who ?", "ann b"]]
    items = texts.Items(["tweet", "tweet"], ["ann", "ann b"], ["ann b", "ann b"])
    assert texts.measured_by("rouge_l")(items) == {"rouge_l": 100.0}


def test_languages_become_one_table_that_names_them(texts: Any, tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    for language, row in (("dut", "ei\tɛ i"), ("fre", "oeuf\tœ f")):
        for part in ("train", "dev", "test"):
            (tmp_path / "words" / f"{language}.{part}.gz").write_bytes(gzip.compress(f"{row}\n".encode()))
    settings = texts.all_languages("two", "words", "{language}.{part}.gz", ["dut", "fre"])(tmp_path)
    assert rows(settings, "validation") == [["ei", "ɛ i", "dut"], ["oeuf", "œ f", "fre"]]


def test_each_language_is_measured_by_itself(texts: Any) -> None:
    items = texts.Items(["a", "b", "c"], ["x", "y", "z"], ["x", "y", "q"], ["dut", "fre", "dut"])
    assert {name: texts.accuracy(one)["accuracy"] for name, one in items.by_tag().items()} == {"dut": 50.0, "fre": 100.0}
