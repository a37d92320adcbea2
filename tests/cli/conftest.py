"""The command line inside this process: quick, and with everything it printed."""

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seqloom.__main__ import main

OWN_PROCESS = {**os.environ, "PYTHONWARNINGS": "ignore"}
"""The environment of commands that run in a process of their own."""


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        """The lines of standard output as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


Seqloom = Callable[..., Answer]


@pytest.fixture
def seqloom(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Seqloom:
    """`seqloom("predict", run, given="a line\\n")` runs a command with what is given on standard input."""

    def run(*words: object, given: str = "") -> Answer:
        monkeypatch.setattr(sys, "argv", ["seqloom", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        written = capfd.readouterr()
        assert isinstance(left.value.code, int)
        assert "Traceback" not in written.err
        return Answer(left.value.code, written.out, written.err)

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def finished(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of the tiny run that a test may write into, with a short name."""
    return Path(shutil.copytree(tiny_run, tmp_path / "run"))


def words(settings: Mapping[str, object]) -> list[str]:
    """Settings as `--set` words."""
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


QUICK = words(
    {
        "training.steps": 2,
        "model.encoder.size": 8,
        "model.decoder.size": 16,
        "model.encoder.embedding": 4,
        "model.decoder.embedding": 4,
        "training.threads": 1,
    }
)
"""Settings under which training takes a moment."""


@pytest.fixture
def lines(text_runs: dict[str, Path]) -> Path:
    """A language model of lines."""
    return text_runs["lines-characters"]


@pytest.fixture
def running(text_runs: dict[str, Path]) -> Path:
    """A language model of running text."""
    return text_runs["stream-characters"]
