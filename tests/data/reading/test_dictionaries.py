"""Pronunciation dictionaries as they are distributed, and weights that repeat."""

import gzip
from pathlib import Path

import pytest

from seqloom.data.examples import grouped
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.reading.endings import Format
from seqloom.data.reading.formats import read_examples
from seqloom.data.reading.prediction_inputs import read_sources
from seqloom.errors import DataError
from seqloom.recipe.sections import Aligned, Columns, Data, Split

CMUDICT = """;;; # CMUdict
'bout B AW1 T
a AH0
a(2) EY1
aalborg AO1 L B AO0 R G # place, danish
present  P R EH1 Z AH0 N T
present(2)  P R EH0 Z AH1 N T
"""


def entries(path: Path, format: Format = "auto") -> list[tuple[str, str | None, int]]:
    return [(one.sources["source"], one.target, one.origin.line) for one in read_examples(str(path), format=format)]


def test_variants_lose_their_numbers_and_comments_vanish(tmp_path: Path) -> None:
    (tmp_path / "cmudict.dict").write_text(CMUDICT)
    assert entries(tmp_path / "cmudict.dict") == [
        ("'bout", "B AW1 T", 2),
        ("a", "AH0", 3),
        ("a", "EY1", 4),
        ("aalborg", "AO1 L B AO0 R G", 5),
        ("present", "P R EH1 Z AH0 N T", 6),
        ("present", "P R EH0 Z AH1 N T", 7),
    ]


def test_without_stress_variants_that_become_equal_are_one(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "words.gz", "wt") as stream:
        stream.write(CMUDICT)
    found = entries(tmp_path / "words.gz", "cmudict-unstressed")
    assert found[0] == ("'bout", "B AW T", 2)
    assert found[-1] == ("present", "P R EH Z AH N T", 6)
    assert [one.targets for one in grouped(read_examples(str(tmp_path / "words.gz"), format="cmudict-unstressed"))][1] == (
        "AH",
        "EY",
    )


def test_a_line_without_phonemes_is_named(tmp_path: Path) -> None:
    (tmp_path / "words.dict").write_text("a AH0\nabandon\n")
    with pytest.raises(DataError, match=r"words\.dict:2: expected a word, spaces and phonemes, found 'abandon'"):
        entries(tmp_path / "words.dict")


def test_phonemes_may_be_the_source_and_words_are_read_to_predict_from(tmp_path: Path) -> None:
    (tmp_path / "words.dict").write_text(CMUDICT)
    turned = read_examples(str(tmp_path / "words.dict"), columns=Columns(source=2, target=1))
    assert next(turned).sources == {"source": "B AW1 T"}
    assert [one.sources["source"] for one in read_sources(str(tmp_path / "words.dict"))][:3] == ["'bout", "a", "a"]


# --- weights --------------------------------------------------------------------------------------------------------


def corpus(path: Path, **settings: object) -> Corpus:
    columns = Columns(source=2, target=1, weight=3)
    split = Split(validation=0, test=0)
    return Corpus(Data.model_validate({"train": str(path), "columns": columns, "split": split, **settings}), 1)


def test_a_count_repeats_an_example_in_training_alone(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "hi.tsv.gz", "wt", encoding="utf-8") as stream:
        stream.write("अंक\tank\t3\nअंक\tanka\t1\n")
    path = tmp_path / "hi.tsv.gz"
    assert [(one.target, one.weight) for one in corpus(path).examples("train")] == [("अंक", 3), ("अंक", 1)]
    repeated = corpus(path, weights="repeat", validation=str(path))
    assert [one.sources["source"] for one in repeated.examples("train")] == ["ank", "ank", "ank", "anka"]
    assert {one.weight for one in repeated.examples("train")} == {1}
    assert [one.sources["source"] for one in repeated.examples("validation")] == ["ank", "anka"]


def test_half_a_repetition_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.tsv").write_text("a\tb\t1.5\n")
    with pytest.raises(DataError, match=r"w\.tsv:1: expected a weight that is a whole number"):
        list(corpus(tmp_path / "w.tsv", weights="repeat").examples("train"))


# --- one file in a list ---------------------------------------------------------------------------------------------


def test_one_file_in_a_list_is_the_file() -> None:
    assert Data(train=("a.tsv",)).train == Data(train="a.tsv").train == "a.tsv"
    assert Data(train=("a.tsv", "b.tsv")).train == ("a.tsv", "b.tsv")
    assert Aligned(source=("a",), target=("b",)) == Aligned(source="a", target="b")
