"""Kept weights and folders of seeds that a stranger may have made: what is no regular file of theirs is refused."""

import os
from pathlib import Path

import numpy as np
import pytest

from seqloom.errors import RunError, WriteError
from seqloom.runs.seeds import SeedFolder
from seqloom.runs.snapshots import KeptWeights

WEIGHTS = {"a": np.ones(2, np.float32)}


def filled(run: Path) -> KeptWeights:
    run.mkdir()
    kept = KeptWeights(run / "kept")
    kept.save(2, WEIGHTS, {"value": "0.5"})
    return kept


def test_what_was_kept_is_read_back(tmp_path: Path) -> None:
    kept = filled(tmp_path / "run")
    assert (kept.steps, kept.values(), kept.load(2)["a"].tolist()) == ((2,), {2: 0.5}, [1.0, 1.0])


def test_kept_weights_are_not_a_pipe_and_do_not_lead_out_of_the_run(tmp_path: Path) -> None:
    kept = filled(tmp_path / "run")
    os.mkfifo(kept.path / "4.safetensors")
    with pytest.raises(RunError, match="found a named pipe"):
        kept.values()
    with pytest.raises(RunError, match="found a named pipe"):
        kept.load(4)
    (kept.path / "2.safetensors").rename(tmp_path / "elsewhere")
    (kept.path / "2.safetensors").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="leads out of"):
        kept.load(2)


def test_nothing_is_written_or_removed_behind_a_link(tmp_path: Path) -> None:
    other = filled(tmp_path / "other")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "kept").symlink_to(other.path)
    kept = KeptWeights(tmp_path / "run" / "kept")
    with pytest.raises(WriteError, match="found a link"):
        kept.drop([2])
    with pytest.raises(WriteError, match="found a link"):
        kept.save(4, WEIGHTS, {"value": "1"})
    assert other.steps == (2,)


@pytest.mark.parametrize("header", [b"\xff" * 8, b"\x02" + bytes(7) + b"{}", b"", b"\x04" + bytes(7) + b"null"])
def test_a_header_that_is_none_is_damage(tmp_path: Path, header: bytes) -> None:
    kept = filled(tmp_path / "run")
    (kept.path / "2.safetensors").write_bytes(header)
    with pytest.raises(RunError, match="is damaged or not a weights file"):
        kept.values()


@pytest.mark.parametrize(
    "text", ["[" * 99999, "[]", '{"format": 1, "seeds": [true]}', '{"format": 1, "seeds": []}', '{"format": 2, "seeds": [1]}']
)
def test_a_list_of_seeds_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "seeds.json").write_text(text)
    with pytest.raises(RunError, match="is damaged or was not written by seqloom"):
        SeedFolder.open(tmp_path)


def test_a_list_of_seeds_is_not_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "seeds.json")
    assert not SeedFolder.exists_at(tmp_path)
    with pytest.raises(RunError, match="found a named pipe"):
        SeedFolder.open(tmp_path)
