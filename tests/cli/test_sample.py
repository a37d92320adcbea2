"""`seqloom sample`: random texts and completions."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import OWN_PROCESS, Seqloom


def test_one_text_by_default_and_the_same_again(seqloom: Seqloom, lines: Path) -> None:
    first, again = seqloom("sample", lines), seqloom("sample", lines)
    assert first.code == 0
    assert first.out == again.out
    assert first.out.count("\n") == 1
    assert seqloom("sample", lines, "--seed", 5).out != first.out


def test_texts_begin_with_the_prompt(seqloom: Seqloom, lines: Path) -> None:
    answer = seqloom("sample", lines, "--prompt", "the cat", "--count", 4, "--length", 10)
    texts = answer.out.splitlines()
    assert len(texts) == 4
    assert all(text.startswith("the cat") and len(text.removesuffix(" …")) <= 17 for text in texts)


def test_a_single_text_is_the_first_of_several(seqloom: Seqloom, lines: Path) -> None:
    one = seqloom("sample", lines, "--length", 30).out
    several = seqloom("sample", lines, "--length", 30, "--count", 3, "--json").objects
    assert one == several[0]["text"] + "\n"


def test_several_running_texts_are_told_apart(seqloom: Seqloom, running: Path) -> None:
    out = seqloom("sample", running, "--count", 2, "--length", 20).out
    assert out.startswith("--- 1 ---\n")
    assert "\n--- 2 ---\n" in out


def test_json_has_the_probability_of_every_symbol(seqloom: Seqloom, lines: Path) -> None:
    [body] = seqloom("sample", lines, "--prompt", "a d", "--json").objects
    assert set(body) == {"text", "log_prob", "completion_log_prob", "symbols", "log_probs", "given", "finished"}
    assert body["given"] == 3
    assert sum(body["log_probs"]) == pytest.approx(body["log_prob"])
    assert len(body["symbols"]) == len(body["log_probs"])


def test_settings_of_the_draw_have_their_effect(seqloom: Seqloom, lines: Path) -> None:
    greedy = seqloom("sample", lines, "--top-k", 1, "--count", 3, "--length", 20).out.splitlines()
    assert len(set(greedy)) == 1
    assert seqloom("sample", lines, "--top-p", 0.00001, "--count", 3, "--length", 20).out.splitlines() == greedy
    assert seqloom("sample", lines, "--temperature", 0.001, "--count", 3, "--length", 20).out.splitlines() == greedy


def test_beam_prints_the_most_probable_completions_first(seqloom: Seqloom, lines: Path) -> None:
    answer = seqloom("sample", lines, "--prompt", "the ", "--beam", 4, "--length", 12)
    rows = [line.split("\t") for line in answer.out.splitlines()]
    assert len(rows) == 4
    assert all(text.startswith("the ") for _, text in rows)
    objects = seqloom("sample", lines, "--prompt", "the ", "--beam", 4, "--length", 12, "--json").objects
    finished = [body["completion_log_prob"] for body in objects if body["finished"]]
    assert finished == sorted(finished, reverse=True)


def test_an_empty_prompt_is_no_prompt(seqloom: Seqloom, lines: Path) -> None:
    assert seqloom("sample", lines, "--prompt", "").out == seqloom("sample", lines).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--prompt", "the zebra"], "prompt: 'b', 'z' did not occur in training"),
        (["--top-p", "2"], "--top-p: Input should be less than or equal to 1, got 2"),
        (["--temperature", "0"], "--temperature: Input should be greater than 0, got 0"),
        (["--top-k", "0"], "--top-k"),
        (["--beam", "3", "--temperature", "2", "--count", "4"], "leave out --temperature, --count"),
    ],
)
def test_bad_wishes_are_bad_usage(seqloom: Seqloom, lines: Path, words: list[str], message: str) -> None:
    answer = seqloom("sample", lines, *words)
    assert answer.code == 2
    assert message in answer.err
    assert answer.out == ""


def test_a_model_that_reads_a_source_cannot_be_sampled(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("sample", tiny_run)
    assert (answer.code, "found a model that reads a source" in answer.err) == (2, True)


def test_a_terminal_sees_the_same_text(lines: Path) -> None:
    master, slave = pty.openpty()
    words = [sys.executable, "-m", "seqloom", "sample", str(lines), "--length", "20"]
    process = subprocess.Popen(words, stdout=slave, stderr=subprocess.PIPE, env=OWN_PROCESS)
    os.close(slave)
    seen = b""
    while chunk := _available(master):
        seen += chunk
    process.communicate()
    assert process.returncode == 0
    plain = subprocess.run(words, capture_output=True, env=OWN_PROCESS, check=True).stdout
    assert seen.replace(b"\r\n", b"\n") == plain


def _available(master: int) -> bytes:
    try:
        return os.read(master, 4096)
    except OSError:  # what Linux says when the other end has closed
        return b""


def test_what_was_written_is_drawn(seqloom: Seqloom, lines: Path, here: Path) -> None:
    answer = seqloom("sample", lines, "--count", 2, "--length", 8, "--out", "written.svg")
    assert (answer.code, "wrote written.svg" in answer.err) == (0, True)
    assert (here / "written.svg").read_text(encoding="utf-8").startswith("<svg")
    assert seqloom("sample", lines, "--out", "written.pdf").code == 2


def test_python_opens_language_models_by_the_same_door(lines: Path) -> None:
    import seqloom

    assert seqloom.load(lines).sample(1, length=3)[0].text is not None
