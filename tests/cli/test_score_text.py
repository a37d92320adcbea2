"""`seqloom score` and `explain` with language models."""

import json
from pathlib import Path

import pytest
from conftest import TEXT

from cli.conftest import Seqloom
from cli.test_pictures import assert_self_contained

NUMBERS = [number for number, line in enumerate(TEXT, start=1) if line]
"""Of the lines that are not blank."""


@pytest.fixture
def book(here: Path) -> Path:
    (here / "book.txt").write_text("".join(f"{line}\n" for line in TEXT), encoding="utf-8")
    return Path("book.txt")


def test_plain_output_has_a_line_for_each_line(seqloom: Seqloom, lines: Path, book: Path) -> None:
    answer = seqloom("score", lines, book)
    rows = [line.split("\t") for line in answer.out.splitlines()]
    assert answer.code == 0
    assert [row[2] for row in rows] == [line for line in TEXT if line]
    assert all(float(row[0]) < 0 < float(row[1]) for row in rows)
    assert "4 lines, 74 symbols: log-probability" in answer.err
    assert "bits per character" in answer.err


def test_blank_lines_belong_to_running_text(seqloom: Seqloom, running: Path, book: Path) -> None:
    assert len(seqloom("score", running, book).out.splitlines()) == len(TEXT)


def test_several_files_are_one_running_text(seqloom: Seqloom, running: Path, here: Path) -> None:
    for number, line in enumerate(TEXT[:2]):
        (here / f"{number}.txt").write_text(line + "\n", encoding="utf-8")
    (here / "both.txt").write_text("".join(line + "\n" for line in TEXT[:2]), encoding="utf-8")
    assert seqloom("score", running, "0.txt", "1.txt").out == seqloom("score", running, "both.txt").out


def test_standard_input_is_read_where_asked_for(seqloom: Seqloom, running: Path, lines: Path, book: Path) -> None:
    for run in (running, lines):
        assert seqloom("score", run, "-", given=book.read_text()).out == seqloom("score", run, book).out


def test_ranked_lines_come_by_their_surprise_with_their_numbers(seqloom: Seqloom, lines: Path, book: Path) -> None:
    rows = [line.split("\t") for line in seqloom("score", lines, book, "--ranked").out.splitlines()]
    bits = [float(row[2]) for row in rows]
    assert bits == sorted(bits, reverse=True)
    assert sorted(int(row[0]) for row in rows) == NUMBERS


def test_of_several_files_ranked_lines_say_which(seqloom: Seqloom, lines: Path, book: Path) -> None:
    Path("other.txt").write_text("\nthe cat\n", encoding="utf-8")
    rows = [line.split("\t") for line in seqloom("score", lines, book, "other.txt", "--ranked").out.splitlines()]
    assert {row[0] for row in rows} == {*(f"book.txt:{number}" for number in NUMBERS), "other.txt:2"}
    *objects, _ = seqloom("score", lines, "other.txt", book, "--json").objects
    assert (objects[0]["file"], objects[0]["line"]) == ("other.txt", 2)


def test_json_has_lines_and_a_summary(seqloom: Seqloom, lines: Path, book: Path) -> None:
    *rows, last = seqloom("score", lines, book, "--json").objects
    assert [row["line"] for row in rows] == NUMBERS
    assert sum(row["log_prob"] for row in rows) == pytest.approx(last["summary"]["log_prob"])
    assert last["summary"]["symbols"] == sum(len(row["symbols"]) for row in rows)
    assert {"perplexity", "bits_per_symbol", "bits_per_character", "unknown"} <= set(last["summary"])


def test_unknown_symbols_are_counted_and_shown(seqloom: Seqloom, lines: Path) -> None:
    answer = seqloom("score", lines, "-", given="a zoo\nthe zigzag\n")
    assert "4 symbols (24 %) are not in the vocabulary: 'z' (3), 'i' (1)" in answer.err


def test_the_page_of_surprise_is_self_contained(seqloom: Seqloom, running: Path, book: Path, here: Path) -> None:
    answer = seqloom("score", running, book, "--html", "page.html")
    assert (answer.code, "wrote page.html" in answer.err) == (0, True)
    assert_self_contained(here / "page.html")


def test_bad_text_is_refused_with_a_sentence(seqloom: Seqloom, lines: Path, running: Path, here: Path) -> None:
    (here / "empty.txt").write_bytes(b"")
    (here / "binary.txt").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    (here / "nul.txt").write_bytes(b"a\x00b\n")
    (here / "endless.txt").write_bytes(b"a" * 3_000_000)
    expected = {
        "empty.txt": "empty.txt: holds no text. Give at least one line of it",
        "binary.txt": "binary.txt:1: expected UTF-8, found the byte 0x89",
        "nul.txt": "nul.txt:1: expected text, found a NUL character",
        "endless.txt": "endless.txt:1: expected a line of at most 1,000,000 bytes, found a longer one",
        "missing.txt": "missing.txt: expected a file, found nothing there",
    }
    for file, message in expected.items():
        for run in (lines, running):
            answer = seqloom("score", run, file)
            assert (answer.code, answer.out) == (3, "")
            assert message in answer.err
    assert seqloom("score", lines, "-", given="\n\n").code == 3


def test_wishes_of_the_other_kind_of_model_are_bad_usage(seqloom: Seqloom, lines: Path, tiny_run: Path, book: Path) -> None:
    for words in (
        ["score", lines, book, "--columns", "source=1"],
        ["score", tiny_run, book, "--ranked"],
        ["score", tiny_run, book, book],
        ["explain", tiny_run, "abc", "--units", "top"],
        ["explain", lines, "the cat", "--beam", "3"],
    ):
        assert seqloom(*words).code == 2


# --- explain --------------------------------------------------------------------------------------------------------


def test_explain_shows_what_was_expected_at_every_symbol(seqloom: Seqloom, lines: Path, here: Path) -> None:
    answer = seqloom("explain", lines, "the cat", "--out", "next.html")
    assert (answer.code, answer.out.splitlines()[-1]) == (0, "next.html")
    assert_self_contained(here / "next.html")
    assert seqloom("explain", lines, "the cat", "--out", "next.json").code == 0
    [line] = json.loads((here / "next.json").read_text())["lines"]
    assert [one["symbol"] for one in line["symbols"]] == [*"the cat", "<end>"]
    assert all(len(one["alternatives"]) == 5 for one in line["symbols"])


def test_explain_shows_hidden_units(seqloom: Seqloom, running: Path, here: Path) -> None:
    assert seqloom("explain", running, "the cat\na dog", "--units", "0,1:5", "--out", "units.json").code == 0
    body = json.loads((here / "units.json").read_text())
    assert [(one["layer"], one["unit"]) for one in body["units"]] == [(2, 0), (1, 5)]
    assert [len(values) for values in body["units"][0]["values"]] == [8, 6]
    assert seqloom("explain", running, "the cat", "--units", "top", "--out", "units.html").code == 0
    assert_self_contained(here / "units.html")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "map.pdf"], "ends in .html, .svg, .png or .json"),
        (["--units", "first"], "expected numbers such as 0,5,17"),
        (["--units", "99"], "units 0 to 11"),
    ],
)
def test_bad_wishes_for_a_page_are_bad_usage(seqloom: Seqloom, lines: Path, words: list[str], message: str) -> None:
    answer = seqloom("explain", lines, "the cat", *words)
    assert (answer.code, message in answer.err) == (2, True)


def test_a_text_too_long_for_a_page_is_refused(seqloom: Seqloom, lines: Path) -> None:
    answer = seqloom("explain", lines, "the cat " * 400)
    assert (answer.code, "use `score --html`" in answer.err) == (2, True)


def test_the_most_surprising_symbols_are_coloured_and_unknown_ones_underlined(lines: Path) -> None:
    from seqloom.cli.texts import _limits, coloured
    from seqloom.prediction.language_model import LanguageModel

    model = LanguageModel.load(lines)
    scored = model.score(["the zoo", *TEXT])
    limits = _limits(scored)
    spans = [span for one in scored for span in coloured(model, one, limits).spans]
    assert sum("red" in str(span.style) for span in spans) >= 1
    assert sum("yellow" in str(span.style) for span in spans) >= 3
    assert [(span.start, span.end) for span in coloured(model, scored[0], limits).spans if "underline" in str(span.style)] == [
        (4, 5)
    ]
