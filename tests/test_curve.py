"""Code may change without a change in what is learnt. `python tests/curve.py` prints what is compared here."""

import json
from pathlib import Path

import pytest
from curve import curves

COMMITTED = Path(__file__).parent / "golden" / "curves.json"


def test_training_follows_the_curves_that_it_always_followed(tmp_path: Path) -> None:
    expected = json.loads(COMMITTED.read_text(encoding="utf-8"))
    found = curves(tmp_path)
    assert found.keys() == expected.keys()
    for name, losses in expected.items():
        assert found[name] == pytest.approx(losses, abs=1e-3), name
