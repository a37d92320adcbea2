"""`seqloom plane`."""

from pathlib import Path

from cli.conftest import Seqloom
from cli.test_pictures import assert_self_contained


def test_texts_with_groups_become_a_page(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "words.tsv").write_text("abc\tone\nabd\tone\nhhhh\ttwo\nhhhg\ttwo\nfe\n", encoding="utf-8")
    answer = seqloom("plane", tiny_run, "words.tsv")
    assert answer.code == 0
    assert answer.out == "nearest neighbour of the same group: 4 of 4 texts\nplane.html\n"
    assert_self_contained(here / "plane.html")


def test_columns_may_be_named_and_the_answer_be_json(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "words.csv").write_text("kind,word\none,abc\none,abd\ntwo,hh\n", encoding="utf-8")
    [body] = seqloom(
        "plane", tiny_run, "words.csv", "--columns", "source=word,target=kind", "--out", "p.svg", "--feature", "loud", "--json"
    ).objects
    assert [one["group"] for one in body["points"]] == ["one", "one", "two"]
    assert (body["nearest_in_group"], body["with_group"], body["written"]) == (2, 2, "p.svg")


def test_what_cannot_be_drawn_is_refused_with_its_place(seqloom: Seqloom, tiny_run: Path, lines: Path, here: Path) -> None:
    (here / "gap.txt").write_text("abc\n\nabd\n", encoding="utf-8")
    answer = seqloom("plane", tiny_run, "gap.txt")
    assert (answer.code, "gap.txt:2: expected a text to encode, found none" in answer.err) == (3, True)
    (here / "empty.txt").write_text("", encoding="utf-8")
    assert seqloom("plane", tiny_run, "empty.txt").code == 3
    assert seqloom("plane", tiny_run, "gap.txt", "--out", "plane.pdf").code == 2
    assert seqloom("plane", lines, "gap.txt").code == 2  # a language model encodes no source
