"""Lower bounds with known faults are found, and there are none."""

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    found = importlib.util.find_spec("audit")
    assert found is not None
    return importlib.import_module("audit")


def test_no_lower_bound_has_a_known_fault(audit: ModuleType) -> None:
    bounds = audit.lower_bounds()
    assert bounds["pillow"]
    assert audit.faulty_bounds(bounds) == []


def test_a_faulty_bound_is_named_with_its_remedy(audit: ModuleType) -> None:
    [sentence] = audit.faulty_bounds({"pillow": "10.3", "numpy": "1.26"})
    assert "pillow >= 10.3: CVE-2026-59199" in sentence
    assert sentence.endswith("Raise the bound to 12.3")
    assert len(audit.faulty_bounds({"torch": ""})) == 1
