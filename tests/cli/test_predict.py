"""`seqloom predict`: lines in, lines out."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import OWN_PROCESS, Seqloom


def test_standard_input_is_answered_line_by_line(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run, given="abc\nfed\n")
    assert (answer.code, answer.out, answer.err) == (0, "ABC\nFED\n", "")


def test_a_dash_and_a_file_are_inputs_too(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "words.txt").write_text("abc\nfed\n")
    assert seqloom("predict", tiny_run, "words.txt").out == "ABC\nFED\n"
    assert seqloom("predict", tiny_run, "-", given="abc\n").out == "ABC\n"


def test_a_feature_is_given_for_all_lines_or_by_a_column(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, "--feature", "loud", given="abc\n").out == "ABC!\n"
    table = "abc\tloud\nabc\t\n"
    assert seqloom("predict", tiny_run, "--columns", "source=1,features=2", given=table).out == "ABC!\nABC\n"


def test_an_empty_line_keeps_its_place(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, given="abc\n\nfed\n").out == "ABC\n\nFED\n"


def test_no_input_gives_no_output(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run)
    assert (answer.code, answer.out) == (0, "")


def test_json_has_the_documented_keys(seqloom: Seqloom, tiny_run: Path) -> None:
    [body] = seqloom("predict", tiny_run, "--json", "--nbest", 3, given="abc\n").objects
    assert {"source", "text", "score", "log_prob", "tokens", "alternatives", "alignment"} <= set(body)
    assert body["source"] == "abc"
    assert body["tokens"] == ["A", "B", "C", "<end>"]
    assert len(body["alternatives"]) == 2
    weights = np.asarray(body["alignment"]["source"]["weights"])
    assert weights.shape == (4, 3)
    assert np.allclose(weights.sum(axis=1), 1, atol=1e-3)


def test_nbest_prints_line_rank_score_and_text(seqloom: Seqloom, tiny_run: Path) -> None:
    rows = [line.split("\t") for line in seqloom("predict", tiny_run, "--nbest", 2, given="abc\nfed\n").out.splitlines()]
    assert [row[:2] for row in rows] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]
    assert rows[0][3] == "ABC"
    assert float(rows[0][2]) > float(rows[1][2])


def test_sampling_prints_all_that_it_drew(seqloom: Seqloom, tiny_run: Path) -> None:
    once = seqloom("predict", tiny_run, "--sample", 3, "--seed", 7, given="abc\n").out
    assert len(once.splitlines()) == 3
    assert seqloom("predict", tiny_run, "--sample", 3, "--seed", 7, given="abc\n").out == once


def test_a_run_twice_votes_like_the_run(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, tiny_run, given="abc\n").out == "ABC\n"


def test_prefix_and_forbidden_symbols_hold(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, "--prefix", "HA", given="abc\n").out.startswith("HA")
    assert "B" not in seqloom("predict", tiny_run, "--forbid", "B", given="abc\n").out


def test_attention_is_saved_without_pickle(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    assert seqloom("predict", tiny_run, "--attention", "weights.npz", given="abc\nfed\n").code == 0
    with np.load(here / "weights.npz", allow_pickle=False) as saved:
        assert saved["0/source/weights"].shape == (1, 4, 3)
        assert list(saved["1/source/symbols"]) == list("fed")
        assert list(saved["1/tokens"]) == [*"FED", "<end>"]


def test_a_person_at_a_terminal_gets_each_answer_at_once(
    seqloom: Seqloom, tiny_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    from seqloom.predict import Predictor

    whole = Predictor.predict

    def counted(self: Predictor, inputs: list[str], **wishes: object) -> object:
        asked.append(len(inputs))
        return whole(self, inputs, **wishes)  # type: ignore[arg-type]

    monkeypatch.setattr(Predictor, "predict", counted)
    monkeypatch.setattr(io, "TextIOWrapper", Terminal)
    assert seqloom("predict", tiny_run, given="abc\nfed\n").out == "ABC\nFED\n"
    assert asked == [1, 1]


MISTAKES = [
    (["nosuch.txt"], 3, "nosuch.txt: expected a file to read or a run folder"),
    (["--nbest", 9], 2, "--beam 9"),
    (["--beam", 2, "--sample", 2], 2, "exclude each other"),
    (["--top-k", 3], 2, "--sample N"),
    (["--sample", 2, "--temperature", 0], 2, "--temperature"),
    (["--sample", 2, "--top-p", 2], 2, "--top-p"),
    (["--beam", 0], 2, "--beam"),
    (["--prefix", "9"], 2, "prefix '9'"),
    (["--columns", "sauce=1"], 2, "'sauce=1'"),
    (["--columns", "source=0"], 2, "count from 1"),
]


@pytest.mark.parametrize(("options", "code", "part"), MISTAKES, ids=lambda value: str(value)[:24])
def test_a_mistake_is_one_clear_sentence(
    seqloom: Seqloom, tiny_run: Path, here: Path, options: list[object], code: int, part: str
) -> None:
    answer = seqloom("predict", tiny_run, *options, given="abc\n")
    assert answer.code == code
    assert part in answer.err
    assert answer.out == ""


def test_an_unknown_feature_or_symbol_names_itself(seqloom: Seqloom, tiny_run: Path) -> None:
    unknown = seqloom("predict", tiny_run, "--feature", "quiet", given="abc\n")
    assert unknown.code in (2, 3)
    assert "'quiet'" in unknown.err
    assert "loud" in unknown.err
    assert "'nosuch'" in seqloom("predict", tiny_run, "--forbid", "nosuch", given="abc\n").err


def test_an_input_without_the_column_names_its_line(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run, "--columns", "source=3", given="a\tb\n")
    assert answer.code == 3
    assert "<stdin>:1: expected at least 3" in answer.err


def test_a_closed_pipe_and_a_full_disk_leave_no_traceback(tiny_run: Path) -> None:
    command = f"{sys.executable} -m seqloom predict {tiny_run} --beam 1"
    script = (
        f"yes abc | head -n 3000 | {command} | head -n 1; echo ${{PIPESTATUS[2]}}; echo abc | {command} > /dev/full; echo $?"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=OWN_PROCESS, check=True)
    assert done.stdout.split() == ["ABC", "0", "5"]
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


def test_json_lines_stay_whole_for_any_script(seqloom: Seqloom, tiny_run: Path) -> None:
    [line] = seqloom("predict", tiny_run, "--json", given="\u0930\u0935\u093f\u2028x\n").out.strip("\n").split("\n")
    assert json.loads(line)["source"] == "\u0930\u0935\u093f\u2028x"


@pytest.mark.parametrize("words", [["w.jsonl"], ["w.csv", "--columns", "source=1"]], ids=" ".join)
def test_records_are_refused_rather_than_read_as_text(seqloom: Seqloom, tiny_run: Path, here: Path, words: list[str]) -> None:
    (here / words[0]).write_text('{"source": "abc"}\n')
    answer = seqloom("predict", tiny_run, *words)
    assert (answer.code, answer.out) == (2, "")
    assert "by its ending" in answer.err


def test_an_interrupted_prediction_leaves_the_attention_file_as_it_was(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "weights.npz").write_text("precious")
    answer = seqloom("predict", tiny_run, "--attention", "weights.npz", "--columns", "source=2", given="abc\n")
    assert answer.code == 3
    assert [(path.name, path.read_text()) for path in here.iterdir()] == [("weights.npz", "precious")]
