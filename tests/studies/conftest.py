"""What the tests of studies share."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
STUDIES = TESTS.parent / "studies"


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Import a study as its script does, from its own folder; afterwards its modules are forgotten."""
    monkeypatch.syspath_prepend(str(STUDIES))
    monkeypatch.syspath_prepend(str(TESTS / "search"))  # for its table of probabilities
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if (STUDIES / f"{name}.py").exists():
            del sys.modules[name]
