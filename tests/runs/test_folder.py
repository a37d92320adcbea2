import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqloom.errors import RunError, WriteError
from seqloom.prediction.backends import open_model
from seqloom.recipe import Recipe, recipe_from
from seqloom.runs import Checkpoint, RunFolder
from seqloom.system import atomic_files
from seqloom.system.atomic_files import write_file

WEIGHTS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2, dtype=np.float32)}


@pytest.fixture
def recipe() -> Recipe:
    return recipe_from({"data": {"train": "pairs.tsv"}})


@pytest.fixture
def run(tmp_path: Path, recipe: Recipe) -> RunFolder:
    folder = RunFolder.create(tmp_path / "run", recipe, {"source": '{"a": 1}', "target": '{"b": 2}'}, {"fingerprint": "0f"})
    folder.save_weights(WEIGHTS, {"step": "3"})
    folder.save_checkpoint(checkpoint(1))
    return folder


def checkpoint(step: int) -> Checkpoint:
    weights = {"w": np.full((2, 2), step, dtype=np.float32)}
    optimiser = {"step/w": np.asarray(step, dtype=np.float32), "mean/w": np.zeros((2, 2), dtype=np.float32)}
    return Checkpoint(weights, optimiser, {"step": step, "finished": ""})


def load_everything(path: Path) -> None:
    """Read all that a run folder holds."""
    run = RunFolder.open(path)
    run.vocabularies()
    run.load_weights()
    run.load_checkpoint()


def only_checkpoint(run: RunFolder) -> Path:
    [folder] = [one for one in (run.path / "checkpoints").iterdir() if one.is_dir()]
    return folder


def fails_at(call: int, original: Callable[..., Any], counter: list[int]) -> Callable[..., Any]:
    """The function, but from its given call on the disk is full."""

    def failing(*arguments: Any, **wishes: Any) -> Any:
        counter[0] += 1
        if counter[0] >= call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(*arguments, **wishes)

    return failing


def fill_disk(monkeypatch: pytest.MonkeyPatch, call: int) -> list[int]:
    """Let the call-th and all later system calls that write fail; the counter says how many there were."""
    counter = [0]
    for owner, name in ((os, "fsync"), (Path, "rename"), (Path, "replace"), (Path, "mkdir"), (atomic_files, "create")):
        monkeypatch.setattr(owner, name, fails_at(call, getattr(owner, name), counter))
    return counter


# --- creation and opening -------------------------------------------------------------------------------------------


def test_a_run_comes_back_as_it_was_made(run: RunFolder, recipe: Recipe) -> None:
    opened = RunFolder.open(run.path)
    assert opened.recipe == recipe
    assert opened.facts["fingerprint"] == "0f"
    assert opened.vocabularies() == {"source": '{"a": 1}', "target": '{"b": 2}'}
    weights, facts = opened.load_weights()
    assert facts == {"step": "3"}
    np.testing.assert_array_equal(weights["a"], WEIGHTS["a"])


def test_creation_is_whole_or_not_at_all(tmp_path: Path, recipe: Recipe) -> None:
    for call in range(1, 60):
        with pytest.MonkeyPatch.context() as patch:
            counter = fill_disk(patch, call)
            with contextlib.suppress(WriteError):
                RunFolder.create(tmp_path / "run", recipe, {"source": "{}"}, {})
        if counter[0] < call:  # nothing failed any more
            break
        assert list(tmp_path.iterdir()) == []
    assert call > 5
    RunFolder.open(tmp_path / "run")


def test_a_folder_in_use_is_never_overwritten(tmp_path: Path, recipe: Recipe, run: RunFolder) -> None:
    assert RunFolder.exists_at(run.path)
    assert not RunFolder.exists_at(tmp_path / "new")
    (tmp_path / "empty").mkdir()
    assert not RunFolder.exists_at(tmp_path / "empty")
    RunFolder.create(tmp_path / "empty", recipe, {}, {})
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "thesis.txt").write_text("dear")
    for path in (tmp_path / "papers", tmp_path / "papers" / "thesis.txt"):
        with pytest.raises(RunError, match=r"exists and is not a run folder\. Choose another --out"):
            RunFolder.exists_at(path)
    with pytest.raises(RunError, match="another process has just made this run"):
        RunFolder.create(tmp_path / "papers", recipe, {}, {})
    assert (tmp_path / "papers" / "thesis.txt").read_text() == "dear"


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="expected a run folder, found nothing"):
        RunFolder.open(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="expected a run folder, found a file"):
        RunFolder.open(tmp_path / "file")
    with pytest.raises(RunError, match=r"not a run folder \(it has no run\.json\)"):
        RunFolder.open(tmp_path)
    for text in ("", "[]", "{}", "null", '{"format"'):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(RunError, match=r"run\.json: is damaged or was not written by seqloom"):
            RunFolder.open(tmp_path)


def test_another_format_number_is_refused_by_name(run: RunFolder) -> None:
    path = run.path / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 7}))
    with pytest.raises(RunError, match="has run format 7; this version of seqloom reads format 1"):
        RunFolder.open(run.path)


def test_a_run_without_weights_says_how_to_go_on(run: RunFolder) -> None:
    (run.path / "weights.safetensors").unlink()
    with pytest.raises(RunError, match=r"has no weights yet: .* Go on with: seqloom train"):
        run.load_weights()


# --- damage ---------------------------------------------------------------------------------------------------------

FILES = [
    "run.json",
    "recipe.yaml",
    "tokenizers/source.json",
    "weights.safetensors",
    "checkpoints/latest",
    "checkpoints/*/weights.safetensors",
    "checkpoints/*/optimiser.safetensors",
    "checkpoints/*/counters.json",
]


def files_of(path: Path, pattern: str) -> Path:
    [found] = path.glob(pattern)
    return found


@pytest.mark.parametrize("pattern", FILES)
def test_every_flipped_byte_is_noticed(run: RunFolder, pattern: str) -> None:
    path = files_of(run.path, pattern)
    content = path.read_bytes()
    for number, place in enumerate(range(0, len(content), max(1, len(content) // 50))):
        damaged = bytearray(content)
        damaged[place] ^= (0x01, 0x20, 0xFF)[number % 3]
        path.write_bytes(damaged)
        with pytest.raises(RunError, match=str(run.path)):
            load_everything(run.path)
    path.write_bytes(content)
    load_everything(run.path)


@pytest.mark.parametrize("pattern", FILES)
def test_every_truncated_missing_or_foreign_file_is_refused(run: RunFolder, pattern: str) -> None:
    path = files_of(run.path, pattern)
    content = path.read_bytes()
    for damaged in (b"", content[: len(content) // 2], content[:-1], content + b" x", b"[1]", b"\x80\x04K\x01."):
        path.write_bytes(damaged)
        with pytest.raises(RunError, match=str(run.path)):
            load_everything(run.path)
    path.unlink()
    if pattern == "checkpoints/latest":
        assert RunFolder.open(run.path).load_checkpoint() is None
        return
    with pytest.raises(RunError, match=str(run.path)):
        load_everything(run.path)


def test_weights_of_another_recipe_are_refused(tiny_run_copy: Path) -> None:
    run = RunFolder.open(tiny_run_copy)
    weights, facts = run.load_weights()
    run.save_weights({**weights, "another": np.zeros(1, dtype=np.float32)}, facts)
    with pytest.raises(RunError, match=r"of this recipe's model \(differing: another\)"):
        open_model(tiny_run_copy)
    name = next(iter(weights))
    run.save_weights({**weights, name: np.zeros((1, 1), dtype=np.float32)}, facts)
    with pytest.raises(RunError, match=r"has shape \(1, 1\)"):
        open_model(tiny_run_copy)


# --- the lock -------------------------------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
from seqloom.runs import RunFolder
with RunFolder.open(Path(sys.argv[1])).locked():
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_holder_is_refused_until_the_first_is_done(run: RunFolder) -> None:
    with (
        run.locked(),
        pytest.raises(RunError, match=rf"is being trained by another process \(process {os.getpid()}\)"),
        RunFolder.open(run.path).locked(),
    ):
        pass
    with run.locked():
        pass


def test_the_lock_of_another_process_is_respected_and_dies_with_it(run: RunFolder) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(run.path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunError, match=rf"process {holder.pid}\)"), run.locked():
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with run.locked():
        assert (run.path / ".lock").read_text() == f"process {os.getpid()}"


def test_a_failure_under_the_lock_keeps_its_own_kind(run: RunFolder) -> None:
    with pytest.raises(FileNotFoundError, match="something else"), run.locked():
        raise FileNotFoundError("something else")


# --- checkpoints ----------------------------------------------------------------------------------------------------


def test_a_checkpoint_comes_back_as_it_was_saved(run: RunFolder) -> None:
    run.save_checkpoint(checkpoint(2))
    loaded = run.load_checkpoint()
    assert loaded is not None
    assert loaded.counters == {"step": 2, "finished": ""}
    for before, after in ((checkpoint(2).weights, loaded.weights), (checkpoint(2).optimiser, loaded.optimiser)):
        assert before.keys() == after.keys()
        for name, array in before.items():
            assert (after[name].shape, after[name].dtype) == (array.shape, array.dtype)
            np.testing.assert_array_equal(after[name], array)
    assert only_checkpoint(run).name.startswith("2-")


@pytest.mark.parametrize("step", [1, 2], ids=["the same step", "the next step"])
def test_a_full_disk_at_any_call_leaves_the_previous_checkpoint(run: RunFolder, step: int) -> None:
    for call in range(1, 60):
        with pytest.MonkeyPatch.context() as patch:
            counter = fill_disk(patch, call)
            with contextlib.suppress(WriteError):
                run.save_checkpoint(checkpoint(step))
        if counter[0] < call:
            break
        loaded = RunFolder.open(run.path).load_checkpoint()
        assert loaded is not None
        assert loaded.counters["step"] == 1
        assert loaded.weights["w"][0, 0] == 1
    assert call > 8
    assert (run.counters() or {})["step"] == step
    only_checkpoint(run)
    assert not list((run.path / "checkpoints").glob("draft-*"))


KILLED = """
import os, shutil, signal, sys
from pathlib import Path
import numpy as np
from seqloom.runs import Checkpoint, RunFolder

CALLS = {"open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "shutil.rmtree"}

def save(path, deadly):
    done = 0
    def count(event, arguments):
        nonlocal done
        if event in CALLS and str(arguments[0]).startswith(str(path)):
            done += 1
            if done == deadly:
                os.kill(os.getpid(), signal.SIGKILL)
    run = RunFolder.open(path)
    sys.addaudithook(count)
    run.save_checkpoint(Checkpoint({"w": np.full((2, 2), 2, dtype=np.float32)}, {}, {"step": 2, "finished": ""}))
    os._exit(0)

for deadly in range(1, 100):
    copy = Path(shutil.copytree(sys.argv[1], Path(sys.argv[2]) / str(deadly)))
    child = os.fork()
    if not child:
        save(copy, deadly)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def test_a_kill_between_any_two_calls_leaves_a_valid_checkpoint(run: RunFolder, tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    subprocess.run([sys.executable, "-c", KILLED, str(run.path), str(copies)], check=True)
    steps = []
    for path in sorted(copies.iterdir(), key=lambda one: int(one.name)):
        copy = RunFolder.open(path)
        loaded = copy.load_checkpoint()
        assert loaded is not None
        assert loaded.weights["w"][0, 0] == loaded.counters["step"]
        steps.append(loaded.counters["step"])
        copy.save_checkpoint(checkpoint(3))
        assert only_checkpoint(copy).name.startswith("3-")  # and what the killed one left is gone
    assert len(steps) > 8
    assert steps == sorted(steps)
    assert set(steps) == {1, 2}


def test_a_full_disk_leaves_the_previous_weights(run: RunFolder) -> None:
    for call in (1, 2, 3):
        with pytest.MonkeyPatch.context() as patch:
            fill_disk(patch, call)
            with pytest.raises(WriteError):
                run.save_weights({"a": np.zeros(1, dtype=np.float32)}, {"step": "9"})
        assert run.load_weights()[1] == {"step": "3"}


# --- records --------------------------------------------------------------------------------------------------------


def test_a_last_line_that_a_kill_cut_short_does_not_count(run: RunFolder) -> None:
    run.append_metrics({"step": 1, "kind": "é"})
    with (run.path / "metrics.jsonl").open("ab") as stream:
        stream.write('{"step": 2, "note": "é'.encode()[:-1])
    assert [record["step"] for record in run.metrics()] == [1]
    run.cut_back(5)
    run.append_metrics({"step": 2, "kind": "train"})
    assert [record["step"] for record in run.metrics()] == [1, 2]


def test_cutting_back_forgets_what_came_after_the_step(run: RunFolder) -> None:
    for step in (10, 20, 30):
        run.append_metrics({"kind": "train", "step": step})
        run.write_validation(step, {"values": {}})
    (run.path / "validation" / "notes.json").write_text("{}")
    run.cut_back(20)
    assert [record["step"] for record in run.metrics()] == [10, 20]
    assert sorted(path.name for path in (run.path / "validation").iterdir()) == ["10.json", "20.json", "notes.json"]


def test_no_records_are_no_problem(run: RunFolder) -> None:
    assert run.metrics() == []
    run.cut_back(0)


def test_a_damaged_record_is_named(run: RunFolder) -> None:
    (run.path / "metrics.jsonl").write_text('{"step": 1}\n{"ste\n{"step": 3}\n')
    with pytest.raises(RunError, match=r"metrics\.jsonl: is damaged"):
        run.metrics()


def test_a_file_that_a_user_asked_for_is_whole_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(tmp_path / "new" / "map.html", b"whole")
    assert (tmp_path / "new" / "map.html").read_bytes() == b"whole"
    fill_disk(monkeypatch, 3)
    with pytest.raises(WriteError, match=r"map\.html: could not be written \(No space left on device\)"):
        write_file(tmp_path / "new" / "map.html", b"another")
    monkeypatch.undo()
    assert [path.read_bytes() for path in (tmp_path / "new").iterdir()] == [b"whole"]


@pytest.mark.parametrize("line", ["5", "{}", '{"step": 1}'])
def test_a_record_that_is_none_is_damage(run: RunFolder, line: str) -> None:
    (run.path / "metrics.jsonl").write_text(f"{line}\n")
    with pytest.raises(RunError, match=r"metrics\.jsonl: is damaged \(expected an object with `kind` and `step`"):
        run.metrics()
