"""Runs, data and names from strangers: one sentence and an exit code, nothing read, written or waited for elsewhere."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from cli.conftest import Seqloom
from seqloom.errors import SeqloomError
from seqloom.runs import Checkpoint, RunFolder
from seqloom.runs.documents import seal_of

COMMANDS = [["predict", "RUN"], ["score", "RUN"], ["explain", "RUN", "abc"], ["report", "RUN"], ["compare", "RUN", "RUN"]]
PARTS = ["run.json", "recipe.yaml", "tokenizers/source.json", "weights.safetensors", "checkpoints/latest", "metrics.jsonl"]
UNUSED = {
    ("predict", "checkpoints/latest"),
    ("predict", "metrics.jsonl"),
    ("score", "checkpoints/latest"),
    ("score", "metrics.jsonl"),
    ("explain", "checkpoints/latest"),
    ("explain", "metrics.jsonl"),
    ("compare", "tokenizers/source.json"),
    ("compare", "weights.safetensors"),
}


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _elsewhere(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def _sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(1 << 41)


@pytest.mark.parametrize("make", [_pipe, _device, _elsewhere, _sparse])
@pytest.mark.parametrize("part", PARTS)
def test_what_is_no_file_of_the_run_is_refused_at_once(
    seqloom: Seqloom, tiny_run_copy: Path, here: Path, part: str, make: Callable[[Path], None]
) -> None:
    (tiny_run_copy / part).unlink()
    make(tiny_run_copy / part)
    for command in COMMANDS:
        if (command[0], part) in UNUSED:
            continue
        answer = seqloom(*(tiny_run_copy if word == "RUN" else word for word in command), given="abc\n")
        assert answer.code == 4, (command, answer.err)
        assert answer.err.count("\n") == 1
        assert part.split("/")[0] in answer.err


# --- documents that lie ---------------------------------------------------------------------------------------------


def _resealed(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change run.json as a stranger can: with the right hash."""
    body = json.loads((run / "run.json").read_text())
    body.pop("sha256")
    change(body)
    body["files"] = (
        {
            name: hashlib.sha256((run / name).read_bytes()).hexdigest() if (run / name).is_file() else "0"
            for name in body["files"]
        }
        if isinstance(body["files"], dict)
        else body["files"]
    )
    (run / "run.json").write_text(json.dumps({**body, "sha256": seal_of(body)}))


@pytest.mark.parametrize("facts", ["5", "[" * 5000 + "]" * 5000, '{"a":' * 900 + "1" + "}" * 900, "null", '{"sha256": 3}', "{"])
def test_weights_whose_header_lies_are_refused(seqloom: Seqloom, tiny_run_copy: Path, facts: str) -> None:
    save_file({"a": np.zeros(1, np.float32)}, tiny_run_copy / "weights.safetensors", metadata={"seqloom": facts})
    answer = seqloom("predict", tiny_run_copy, given="abc\n")
    assert answer.code == 4
    assert "weights.safetensors" in answer.err


@pytest.mark.parametrize(
    ("key", "value"),
    [("files", 5), ("files", []), ("examples", {"train": "many"}), ("versions", 3), ("threads", "all"), ("threads", 10**9)],
)
def test_facts_of_another_type_are_refused(seqloom: Seqloom, tiny_run_copy: Path, key: str, value: object) -> None:
    _resealed(tiny_run_copy, lambda body: body.update({key: value}))
    for command in (["predict", tiny_run_copy], ["report", tiny_run_copy]):
        answer = seqloom(*command, given="abc\n")
        assert (answer.code, "run.json" in answer.err) == (4, True), answer.err


def test_a_run_cannot_name_files_outside_itself(seqloom: Seqloom, tiny_run_copy: Path) -> None:
    secret = tiny_run_copy.parent / "target.json"
    secret.write_text("{}")

    def lead_out(body: dict[str, Any]) -> None:
        body["files"].pop("tokenizers/target.json")
        body["files"]["tokenizers/../../target.json"] = ""

    _resealed(tiny_run_copy, lead_out)
    answer = seqloom("predict", tiny_run_copy, given="abc\n")
    assert answer.code == 4
    assert "it leads out of" in answer.err


def _padding(body: dict[str, Any]) -> None:
    body["padding"] = {"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}


def _slow_expression(body: dict[str, Any]) -> None:
    body["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}


def _growth(body: dict[str, Any]) -> None:
    body["normalizer"] = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": "x" * 1000}


def _far_number(body: dict[str, Any]) -> None:
    body["model"]["vocab"]["far"] = 10**9


@pytest.mark.parametrize("change", [_padding, _slow_expression, _growth, _far_number])
def test_a_vocabulary_that_is_not_ours_is_refused(
    seqloom: Seqloom, tiny_run_copy: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    path = tiny_run_copy / "tokenizers" / "source.json"
    body = json.loads(path.read_text())
    change(body["tokenizer"])
    path.write_text(json.dumps(body))
    _resealed(tiny_run_copy, lambda body: None)
    answer = seqloom("predict", tiny_run_copy, given="abc\n")
    assert (answer.code, "source.json: not a vocabulary that seqloom wrote" in answer.err) == (4, True), answer.err


def test_a_recipe_that_asks_for_an_enormous_model_takes_no_memory(seqloom: Seqloom, tiny_run_copy: Path) -> None:
    path = tiny_run_copy / "recipe.yaml"
    path.write_text(path.read_text().replace("size: 48", "size: 4000000"))  # its weights would take terabytes
    _resealed(tiny_run_copy, lambda body: None)
    answer = seqloom("predict", tiny_run_copy, given="abc\n")
    assert (answer.code, "has shape" in answer.err) == (4, True), answer.err


@pytest.mark.parametrize(
    "line", ['{"kind": "validation", "step": "x"}', '{"kind": 5, "step": 1}', "[" * 5000, '{"kind": "a", "step": 1e999}']
)
def test_records_of_another_type_are_refused(seqloom: Seqloom, tiny_run_copy: Path, line: str) -> None:
    (tiny_run_copy / "metrics.jsonl").write_text(line + "\n")
    answer = seqloom("compare", tiny_run_copy)
    assert (answer.code, "metrics.jsonl" in answer.err) == (4, True), answer.err


# --- data that a run names ------------------------------------------------------------------------------------------


def test_a_run_is_measured_on_data_that_it_was_trained_on_only(seqloom: Seqloom, tiny_run_copy: Path, here: Path) -> None:
    """A stranger's recipe may name any file; what is used of it has the hash of what the stranger has."""
    body = json.loads((tiny_run_copy / "run.json").read_text())
    [trained] = body["data"]
    private = here / "private.tsv"
    private.write_text("my\tSECRET\t\n" * 40)
    recipe = tiny_run_copy / "recipe.yaml"
    recipe.write_text(recipe.read_text().replace(trained, str(private)))
    for hashes in ({str(private): "0" * 64}, {}, None):

        def name(body: dict[str, Any], hashes: dict[str, str] | None = hashes) -> None:
            body.pop("data", None)
            body.update({} if hashes is None else {"data": hashes})

        _resealed(tiny_run_copy, name)
        for command in (["evaluate"], ["score"], ["report"], ["errors"], ["compare", "--held-out"]):
            others = [tiny_run_copy] * (2 if command[0] == "compare" else 1)
            answer = seqloom(command[0], *others, *command[1:])
            assert (answer.code, "it is not what the run was trained on" in answer.err) == (4, True), (command, answer.err)
            assert "SECRET" not in answer.err + answer.out
        answer = seqloom("evaluate", tiny_run_copy, private)  # a person may name it
        assert answer.code == 0, answer.err


def test_ones_own_run_is_measured_without_naming_a_file(seqloom: Seqloom, tiny_run_copy: Path) -> None:
    assert seqloom("evaluate", tiny_run_copy).code == 0
    _resealed(tiny_run_copy, lambda body: body.pop("data"))  # as runs were before hashes of single files were kept
    assert seqloom("evaluate", tiny_run_copy).code == 0


# --- nothing is written or deleted elsewhere ------------------------------------------------------------------------


def test_training_on_a_strangers_run_touches_nothing_elsewhere(tiny_run_copy: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    (precious / "folder").mkdir(parents=True)
    (precious / "99999.json").write_text("mine")
    run = RunFolder.open(tiny_run_copy)
    shutil.rmtree(tiny_run_copy / "checkpoints")
    shutil.rmtree(tiny_run_copy / "validation")
    for name in ("checkpoints", "validation"):
        (tiny_run_copy / name).symlink_to(precious)
    for name in (".lock", "metrics.jsonl", ".report.html.draft", ".weights.safetensors.draft"):
        (tiny_run_copy / name).unlink(missing_ok=True)
        (tiny_run_copy / name).symlink_to(precious / "99999.json")
    attacks: list[Callable[[], object]] = [
        lambda: run.save_checkpoint(Checkpoint({}, {}, {"step": 1, "finished": ""})),
        lambda: run.cut_back(0),
        lambda: run.append_metrics({"kind": "train", "step": 1}),
        lambda: run.write_validation(1, {}),
        lambda: run.locked().__enter__(),
    ]
    for attack in attacks:
        with pytest.raises(SeqloomError, match=str(tiny_run_copy)):
            attack()
    run.write_text("report.html", "page")
    run.save_weights({"a": np.zeros(1, np.float32)}, {})
    assert sorted(one.name for one in precious.iterdir()) == ["99999.json", "folder"]
    assert (precious / "99999.json").read_text() == "mine"


# --- data -----------------------------------------------------------------------------------------------------------


def test_an_archive_of_images_is_a_file(seqloom: Seqloom, here: Path) -> None:
    (here / "table.tsv").write_text("a.png\tone\n" * 5)
    os.mkfifo(here / "pipe.zip")
    for root, words in (("pipe.zip", "found a named pipe"), ("/dev/zero", "found a device")):
        answer = seqloom("check", "table.tsv", "--images", root)
        assert (answer.code, words in answer.err) == (3, True), answer.err


def test_an_endless_device_is_no_table(seqloom: Seqloom, tiny_run: Path) -> None:
    for command in (["predict", tiny_run, "/dev/zero"], ["score", tiny_run, "/dev/zero"], ["check", "/dev/zero"]):
        answer = seqloom(*command)
        assert answer.code in (2, 3), (command, answer.err)


# --- long inputs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [2001, 999_000])
def test_a_line_of_too_many_symbols_is_refused_by_its_place(seqloom: Seqloom, tiny_run: Path, here: Path, length: int) -> None:
    (here / "lines.tsv").write_text(f"abc\tABC\t\n{'ab' * (length // 2)}a\tAB\t\n")
    given = "abc\n" + (here / "lines.tsv").read_text().split("\n")[1].split("\t")[0] + "\n"
    for command, place in (
        (["predict", tiny_run], "<stdin>:2"),
        (["score", tiny_run, "lines.tsv"], "lines.tsv:2"),
        (["evaluate", tiny_run, "lines.tsv"], "lines.tsv:2"),
    ):
        answer = seqloom(*command, given=given)
        assert answer.code == 3, (command, answer.err)
        assert f"{place}: expected a text of at most 2,000 symbols, found" in answer.err
        assert "--maximum-input" in answer.err


def test_the_limit_can_be_raised_and_lowered(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    assert seqloom("predict", tiny_run, "--maximum-input", "3", given="abc\n").code == 0
    answer = seqloom("predict", tiny_run, "--maximum-input", "3", given="abcd\n")
    assert (answer.code, "found 4 symbols" in answer.err, "--maximum-input 4" in answer.err) == (3, True, True)
    answer = seqloom("explain", tiny_run, "abcd", "--maximum-input", "3")
    assert (answer.code, "input:1: expected a text of at most 3 symbols" in answer.err) == (3, True), answer.err
    long = "ab" * 1100
    answer = seqloom("predict", tiny_run, "--maximum-input", "2200", "--maximum-length", "5", "--beam", "1", given=f"{long}\n")
    assert answer.code == 0


def test_targets_and_prompts_have_the_same_limit(
    seqloom: Seqloom, tiny_run: Path, text_runs: dict[str, Path], here: Path
) -> None:
    (here / "pairs.tsv").write_text(f"abc\t{'AB' * 1500}\t\n")
    for command in (["score", tiny_run, "pairs.tsv"], ["evaluate", tiny_run, "pairs.tsv"]):
        answer = seqloom(*command)
        assert (answer.code, "pairs.tsv:1: expected a text of at most 2,000 symbols" in answer.err) == (3, True), answer.err
    answer = seqloom("predict", tiny_run, "--prefix", "AB" * 1500, given="abc\n")
    assert (answer.code, "prefix: expected a text" in answer.err) == (3, True)
    answer = seqloom("sample", text_runs["lines-characters"], "--prompt", "a " * 1500)
    assert (answer.code, "prompt: expected a text of at most 2,000 symbols, found 3,000" in answer.err) == (3, True)
    (here / "lines.txt").write_text("a cat\n" + "a " * 1500 + "\n")
    answer = seqloom("score", text_runs["lines-characters"], "lines.txt")
    assert (answer.code, "lines.txt:2: expected a text" in answer.err) == (3, True)
    assert seqloom("score", text_runs["stream-characters"], "lines.txt").code == 0  # is read bit by bit


def test_every_view_of_an_input_has_the_limit_that_was_given(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    for option in ("--tree", "--steps"):
        answer = seqloom("explain", tiny_run, "abcd", option, "--maximum-input", "3", "--out", "view.html")
        assert (answer.code, "input:1: expected a text of at most 3 symbols" in answer.err) == (3, True), answer.err
    answer = seqloom("explain", tiny_run, "ab" * 150, "--steps", "--out", "view.html")
    assert (answer.code, "for 256 symbols at most; this source has 300" in answer.err) == (2, True), answer.err


def test_what_a_search_may_take_is_bounded(seqloom: Seqloom, tiny_run: Path, tiny_run_copy: Path) -> None:
    for command in (["predict", tiny_run], ["evaluate", tiny_run], ["explain", tiny_run, "abc"]):
        answer = seqloom(*command, "--beam", "1001", given="abc\n")
        assert (answer.code, "1000" in answer.err) == (2, True), answer.err
    answer = seqloom("predict", tiny_run, "--beam", "1000", given="abc\n" + "ab" * 500 + "\n")
    assert (answer.code, "<stdin>:2: expected a search that looks at" in answer.err) == (3, True), answer.err
    recipe = tiny_run_copy / "recipe.yaml"
    written = recipe.read_text()
    for old, new, code in (
        ("width: 4", "width: 100000", 4),
        ("length_extra: 10", "length_extra: 1000000000", 4),
        ("length_extra: 10", "length_extra: 10000000", 3),
        ("length_factor: 2.0", "length_factor: 1.0e+300", 4),
        ("length_power: 1.0", "length_power: 1.0e+300", 4),
        ("size: 48", "size: 1000000000000", 4),  # more than torch can count
        ("layers: 1", "layers: 100000000", 4),  # would be built before its weights could tell that they do not fit
    ):
        assert old in written
        recipe.write_text(written.replace(old, new, 1))
        _resealed(tiny_run_copy, lambda body: None)
        answer = seqloom("predict", tiny_run_copy, given="abc\n")
        assert (answer.code, answer.err.count("\n")) == (code, 1), answer.err


# --- names ----------------------------------------------------------------------------------------------------------

LONG = "x" * 300


@pytest.mark.parametrize("name", [LONG, f"{LONG}.tsv", f"a/{LONG}", "esc\x1b[31m", "line\nend", "-\x07", "bidi\u202e"])
def test_any_name_gets_a_sentence(seqloom: Seqloom, tiny_run: Path, here: Path, name: str) -> None:
    for command in (
        ["predict", tiny_run, "--", name],
        ["predict", "--", name],
        ["train", "--pairs", name, "--out", "run"],
        ["train", "recipe.yaml", "--out", name],
        ["train", "--out", "run", "--", name],
        ["evaluate", "--", tiny_run, name],
        ["check", "--", name],
        ["compare", "--", name],
        ["report", "--", name],
        ["recipes", "show", "--", name],
        ["predict", tiny_run, "--oracle", name],
        ["explain", tiny_run, "abc", "--oracle", name],
        ["predict", tiny_run, "--attention", f"{LONG}/{name}"],
    ):
        answer = seqloom(*command, given="abc\n")
        is_text = command == ["predict", tiny_run, "--", name]  # what does not look like a file is a text to predict from
        assert answer.code in ((0, 3) if is_text else (2, 3, 4, 5)), (command, answer.err)
        assert not set("\x1b\x07\u202e") & set(answer.err)


def test_data_does_not_command_a_terminal(seqloom: Seqloom, tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x9b" in seqloom("predict", tiny_run, "--json", given="a\x9bb\n").out  # to a pipe as it is
    monkeypatch.setattr(
        "seqloom.system.terminals.sys", type("Terminal", (), {"stdout": type("S", (), {"isatty": lambda: True})})
    )
    shown = seqloom("predict", tiny_run, "--json", given="a\x9bb\n").out
    assert "\x9b" not in shown
    assert json.loads(shown)["source"] == "a\x9bb"


def test_a_missing_permission_is_said_as_such(
    seqloom: Seqloom, tiny_run: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.stat

    def closed(path: Path, **wishes: Any) -> os.stat_result:
        if "closed" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **wishes)

    monkeypatch.setattr(Path, "stat", closed)
    for command, code in (
        (["predict", "closed/run"], 4),
        (["predict", tiny_run, "closed/file.txt"], 3),
        (["train", "--pairs", "closed/pairs.tsv", "--out", "run"], 3),
        (["check", "closed/pairs.tsv"], 3),
    ):
        answer = seqloom(*command)
        assert (answer.code, "permission" in answer.err) == (code, True), (command, answer.err)
