"""How often data is read before a training begins: once to see what it is, once to prepare it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from seqloom.cli.app import app_for
from seqloom.system.content import content_hash

_watched: dict[str, int] = {}


def _watch(event: str, words: tuple[Any, ...]) -> None:
    if _watched and event == "open" and str(words[0]) in _watched:
        _watched[str(words[0])] += 1


sys.addaudithook(_watch)  # for good: one cannot be taken back


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"word {number}\t{number} word\n" for number in range(120)))
    _watched[str(file)] = 0
    yield file
    _watched.clear()


def train(table: Path, run: str) -> int:
    """Train on pairs without a recipe; how often their file was opened."""
    before = _watched[str(table)]
    sizes = ["model.encoder.size=4", "model.decoder.size=4", "training.steps=1", "training.validation.every_steps=1"]
    settings = [word for one in sizes for word in ("--set", one)]
    done = CliRunner().invoke(app_for("train"), ["train", "--pairs", str(table), "--out", str(table.parent / run), *settings])
    assert done.exit_code == 0, done.output
    return _watched[str(table)] - before


def test_pairs_without_a_recipe_are_read_twice_and_once_when_they_are_prepared(table: Path) -> None:
    assert train(table, "first") == 2
    assert train(table, "second") == 1


def test_a_file_that_was_written_anew_has_another_hash(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")
    first = content_hash(file)
    file.write_text("another")
    assert content_hash(file) != first
