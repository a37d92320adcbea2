"""METEOR is what the program says of itself, and where the program cannot be run, no number is made up."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from metrics.items import item
from seqloom.errors import UsageError
from seqloom.installation import install_command
from seqloom.metrics import CAPTIONS, absence, evaluate, intervals, meteor, sentence_scores

ITEMS = [
    item("a dog is running in the grass", "a dog runs on the grass", "the brown dog is running across a lawn"),
    item("two men", "two men"),
    item("a zebra", "the sea at night"),
    item("the kids play quickly with a ball", "children are playing with a ball", "a child kicks a ball"),
]
# What the program counts of each item, what it says each is worth, and all together.
COUNTS = """\
7.0 6.0 4.0 3.0 2.0 2.0 2.0 2.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1.0 1.0 0.0 2.0 5.0 5.0
2.0 2.0 1.0 1.0 1.0 1.0 1.0 1.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 1.0 2.0 2.0
2.0 4.0 1.0 2.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
7.0 6.0 3.0 3.0 1.0 1.0 2.0 2.0 0.0 0.0 0.0 0.0 1.0 1.0 0.0 0.0 1.0 1.0 0.0 1.0 2.0 5.0 6.0
"""
EACH = [39.48277581962191, 100.0, 0.0, 39.66915443404357]
WHOLE = 33.81893312595833

Install = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    meteor._statistics.cache_clear()
    yield
    meteor._statistics.cache_clear()


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a shell script in the place of Java; it runs in the folder that is returned."""

    def install(script: str) -> Path:
        program = tmp_path / "java"
        program.write_text(f"#!/bin/sh\ncd '{tmp_path}'\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        return tmp_path

    return install


def reason() -> str:
    evaluation = evaluate(ITEMS, ["bleu_1", "meteor"])
    assert list(evaluation.metrics) == ["bleu_1"]
    return evaluation.absent["meteor"]


@pytest.mark.skipif(shutil.which("java") is None, reason="METEOR is a Java program")
def test_the_real_program_says_the_same() -> None:
    assert evaluate(ITEMS).metrics["meteor"] == pytest.approx(WHOLE)
    assert sentence_scores(ITEMS, "meteor") == pytest.approx(EACH)


def test_sums_of_counts_are_worth_what_the_program_says(java: Install) -> None:
    java(f"cat > /dev/null\ncat <<END\n{COUNTS}END")
    evaluation = evaluate(ITEMS)
    assert list(evaluation.metrics) == list(CAPTIONS)
    assert evaluation.metrics["meteor"] == pytest.approx(WHOLE)
    assert sentence_scores(ITEMS, "meteor") == pytest.approx(EACH)
    assert evaluation.signatures["meteor"].startswith("METEOR 1.5 for English")


def test_the_program_runs_once_and_reads_references_then_output(java: Install) -> None:
    folder = java(f'cat >> given\necho "$@" >> words\ncat <<END\n{COUNTS}END')
    low, high = intervals(ITEMS, ["meteor"], resamples=50)["meteor"]
    assert low < evaluate(ITEMS, ["meteor"]).metrics["meteor"] < high
    first, *others = (folder / "given").read_text().splitlines()
    assert first == (
        "SCORE ||| a dog runs on the grass ||| the brown dog is running across a lawn ||| a dog is running in the grass"
    )
    assert len(others) == 3
    assert "meteor-1.5.jar - - -stdio -l en -norm" in (folder / "words").read_text()


def test_no_text_can_pass_for_a_separator(java: Install) -> None:
    folder = java("cat > given")
    evaluate([item("a ||| b\nc", "d")], ["meteor"])
    assert (folder / "given").read_text() == "SCORE ||| d ||| a | | | b c\n"


def test_without_java_the_metric_is_absent_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert reason() == (
        "METEOR 1.5 is a Java program, and there is no `java` to run it. Install a Java runtime, version 8 or later"
    )
    assert absence("meteor") == reason()
    assert absence("cider") == ""
    assert "meteor" not in intervals(ITEMS, resamples=5)
    data = evaluate(ITEMS).as_json()
    assert list(data["absent"]) == ["meteor"]
    assert json.loads(json.dumps(data)) == data
    with pytest.raises(UsageError, match="there is no `java`"):
        sentence_scores(ITEMS, "meteor")


def test_without_the_extra_the_metric_is_absent_and_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meteor, "find_spec", lambda name: None)
    assert reason() == "METEOR needs the extra 'captions', which is not installed. Run: " + install_command("captions")


def test_a_program_that_fails_is_quoted(java: Install) -> None:
    java("cat > /dev/null\necho 'Could not reserve enough space' >&2\nexit 1")
    assert reason() == (
        "METEOR answered 0 of 4 items and ended with code 1: 'Could not reserve enough space'. "
        "Check that `java -version` works and that 2 GB of memory are free"
    )


def test_answers_that_are_cut_short_are_no_answers(java: Install) -> None:
    java("cat > /dev/null\necho 7.0 6.0 4.0")
    assert reason().startswith("METEOR answered 1 of 4 items and ended with code 0: '7.0 6.0 4.0'")


def test_a_program_that_cannot_be_started_is_named(java: Install) -> None:
    folder = java("")
    (folder / "java").write_bytes(b"\x00")
    assert reason().startswith("METEOR could not be started: ")


def test_a_program_that_hangs_is_ended(java: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meteor, "_SECONDS", 0.2)
    java("exec sleep 60")
    assert reason() == "METEOR did not answer within 0 seconds for 4 items. Measure fewer, or leave it out"
