"""`seqloom train`: from a recipe or from pairs, resumable, and clear about mistakes."""

import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import upper_case_lines

from cli.conftest import OWN_PROCESS, QUICK, Seqloom
from seqloom.runs import RunFolder

PAIRS = [line.split("\t")[:2] for line in upper_case_lines(60)]


def written(here: Path, ending: str) -> list[str]:
    """Write the pairs in a format and say how to train on them."""
    lines = ["\t".join(pair) for pair in PAIRS]
    match ending:
        case "tsv":
            (here / "w.tsv").write_text("\n".join(lines) + "\n")
            return ["--pairs", "w.tsv"]
        case "tsv.gz":
            (here / "w.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
            return ["--pairs", "w.tsv.gz"]
        case "csv":
            (here / "w.csv").write_text("\n".join(["word,upper", *(",".join(pair) for pair in PAIRS)]))
            return ["--pairs", "w.csv", "--columns", "source=word,target=upper"]
        case "jsonl":
            (here / "w.jsonl").write_text("\n".join(json.dumps({"source": a, "target": b}) for a, b in PAIRS))
            return ["--pairs", "w.jsonl"]
        case "turned":
            (here / "w.tsv").write_text("\n".join(f"{b}\t{a}" for a, b in PAIRS))
            return ["--pairs", "w.tsv", "--columns", "source=2,target=1"]
        case _:
            (here / "s.txt").write_text("\n".join(pair[0] for pair in PAIRS))
            (here / "t.txt").write_text("\n".join(pair[1] for pair in PAIRS))
            return ["--source", "s.txt", "--target", "t.txt"]


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz", "csv", "jsonl", "turned", "text"])
def test_pairs_in_any_format_train_and_predict(seqloom: Seqloom, here: Path, ending: str) -> None:
    answer = seqloom("train", *written(here, ending), "--out", "run", "--json", *QUICK)
    assert answer.code == 0
    [body] = answer.objects
    assert (body["run"], body["step"], body["metric"]) == ("run", 2, "cer")
    assert body["finished"]
    assert "validation at step 2" in answer.err
    assert 'seqloom predict run "some text"' in answer.err
    assert "\x1b" not in answer.err
    assert seqloom("predict", "run", given="abc\n").code == 0


def test_a_recipe_file_with_changed_settings_trains_and_a_second_call_says_it_is_finished(
    seqloom: Seqloom, here: Path, tiny_pairs: Path
) -> None:
    (here / "mine.yaml").write_text(f"data: {{train: {tiny_pairs}, columns: {{features: [3]}}}}\n")
    assert seqloom("train", "mine.yaml", "--out", "run", *QUICK).code == 0
    again = seqloom("train", "mine.yaml", "--out", "run", *QUICK)
    assert (again.code, "this run is finished" in again.err) == (0, True)
    other = seqloom("train", "mine.yaml", "--out", "run", *QUICK, "--set", "seed=9")
    assert other.code == 4
    assert "seed: 1 -> 9" in other.err


def test_a_run_that_is_being_trained_is_refused(seqloom: Seqloom, here: Path) -> None:
    words = [*written(here, "tsv"), "--out", "run", *QUICK]
    assert seqloom("train", *words).code == 0
    with RunFolder.open(Path("run")).locked():
        answer = seqloom("train", *words)
    assert answer.code == 4
    assert "is being trained by another process" in answer.err


MISTAKES: list[tuple[list[str], int, str]] = [
    (["--pairs", "w.tsv", "--out", "full"], 4, "full: exists and is not a run folder"),
    (["--pairs", "w.tsv", "--out", "w.tsv/run"], 5, "could not be written"),
    (["--pairs", "nosuch.tsv", "--out", "run"], 3, "nosuch.tsv: expected a file"),
    (["--pairs", "one.tsv", "--out", "run"], 3, "one.tsv:1: expected at least 2 columns, found 1"),
    (["--pairs", "empty.tsv", "--out", "run"], 3, "holds no examples"),
    (["--pairs", "header.tsv", "--out", "run"], 3, "holds no examples"),
    (["--pairs", "w.tsv", "--columns", "source=3", "--out", "run"], 3, "w.tsv:1: expected at least 3 columns"),
    (["--pairs", "w.tsv", "--columns", "source=word", "--out", "run"], 3, "named 'word'"),
    (["--pairs", "w.tsv", "--set", "training.epoch=3", "--out", "run"], 2, "'epochs'"),
    (["--pairs", "w.tsv", "--set", "training.epochs", "--out", "run"], 2, "key.key=value"),
    (["--pairs", "w.doc", "--out", "run"], 2, "does not tell the format"),
    (["--pairs", "full", "--out", "run"], 3, "full: expected a file, found a directory"),
    (["--pairs", "w.tsv", "--columns", "source=\u00b2", "--out", "run"], 3, "named '\u00b2'"),
    (["--pairs", "w.tsv", "--set", "search.forbid=[Q]", "--out", "run"], 2, "search.forbid: the symbol 'Q' is not in"),
    (["--source", "w.tsv", "--out", "run"], 2, "--source and --target go together"),
    (["text", "--pairs", "w.tsv", "--out", "run"], 2, "reads plain text. Give it with --text"),
    (["--out", "run"], 2, "give a recipe, data"),
    (["dates", "--columns", "source=1", "--out", "run"], 2, "data.columns"),
    (["dates", "--validation", "w.tsv", "--out", "run"], 2, "a recipe names its own files"),
    (["nosuch", "--out", "run"], 2, "neither a file nor a recipe"),
    (["nosuch.yaml", "--out", "run"], 2, "there is no such file"),
    (["transliteration", "--out", "run"], 2, "needs your data, and here is no train.tsv"),
]


@pytest.mark.parametrize(
    ("words", "code", "part"), MISTAKES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_mistake_is_one_clear_sentence_and_leaves_nothing_behind(
    seqloom: Seqloom, here: Path, words: list[str], code: int, part: str
) -> None:
    written(here, "tsv")
    (here / "one.tsv").write_text("alone\n")
    (here / "empty.tsv").write_text("")
    (here / "w.doc").write_text("a\tb\n")
    (here / "header.tsv").write_text("source\ttarget\n")
    (here / "full").mkdir()
    (here / "full" / "thesis.txt").write_text("precious")
    answer = seqloom("train", *words)
    assert (answer.code, part in answer.err) == (code, True), answer.err
    assert not (here / "run").exists()
    assert (here / "full" / "thesis.txt").read_text() == "precious"


def test_ctrl_c_saves_and_the_same_command_goes_on(here: Path, seqloom: Seqloom) -> None:
    words = [*written(here, "tsv"), "--out", "run", *QUICK, "--set", "training.epochs=1000", "--set", "training.steps=300"]
    words += ["--set", "training.validation.every_steps=150", "--set", "training.validation.patience=null"]
    command = [sys.executable, "-m", "seqloom", "train", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=OWN_PROCESS) as process:
        deadline = time.monotonic() + 60
        while not (here / "run" / "metrics.jsonl").exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "everything is saved" in err
    counters = RunFolder.open(Path("run")).counters() or {}
    assert 0 < counters["step"] < 300
    answer = seqloom("train", *words)
    assert answer.code == 0
    assert f"going on from step {counters['step']:,}" in answer.err


def test_a_terminal_shows_progress_and_samples(here: Path) -> None:
    words = " ".join([*written(here, "tsv"), "--out", "run", *QUICK])
    command = ["script", "-qec", f"{sys.executable} -m seqloom train {words}", "/dev/null"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**OWN_PROCESS, "COLUMNS": "100", "TERM": "xterm"}, check=False
    )
    assert done.returncode == 0, done.stdout
    for part in ("training", "tokens/s", "wanted", "left", "done: run"):
        assert part in done.stdout


def test_the_working_folder_cannot_become_a_run(
    seqloom: Seqloom, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(tmp_path / "here" / word) if word.startswith("w.") else word for word in written(here, "tsv")]
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    answer = seqloom("train", *files, "--out", ".", *QUICK)
    assert (answer.code, "Name a folder inside it, such as --out run" in answer.err) == (4, True), answer.err
    assert not list(empty.iterdir())
