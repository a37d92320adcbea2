"""A small part of every attack of docs/reliability.md, at every change."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
SCRIPT = TOP / "benchmarks" / "reliability.py"


def attacked(*names: str) -> dict[str, dict[str, object]]:
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    words = [sys.executable, str(SCRIPT), "--quick", "--json", *names]
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(found) == len(names), ended.stderr[-2000:]
    return {one["attack"]: one for one in found}


def test_what_is_killed_full_damaged_malformed_or_hostile_is_answered() -> None:
    for name, one in attacked("kills", "disks", "damage", "malformed", "folders").items():
        assert one["faults"] == [], name
        assert one["attempts"], name


def test_no_text_becomes_markup_in_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    from attacks.pages import browser  # type: ignore[import-not-found]

    if browser() is None and not os.environ.get("CI"):
        pytest.skip("no Chromium here, and `make test` could not install it: install it, or name one in SEQLOOM_BROWSER")
    [one] = attacked("pages").values()
    assert one["faults"] == []


def test_a_page_of_results_names_every_attack(tmp_path: Path) -> None:
    result = {
        "attack": "kills",
        "attempts": 4,
        "outcomes": {"at a random moment": 4},
        "faults": [],
        "facts": {},
        "seconds": 5.0,
    }
    facts = {"seed": 1, "date": "2026-11-17", "size": "--quick", "machine": "Measured on a machine."}
    (tmp_path / "all.jsonl").write_text(json.dumps(result | facts) + "\n")
    words = [sys.executable, str(SCRIPT), "--page", str(tmp_path / "page.md"), "--of", str(tmp_path / "all.jsonl")]
    subprocess.run(words, env={**os.environ, "PYTHONPATH": str(TOP)}, check=True)
    page = (tmp_path / "page.md").read_text()
    assert "| [kills](#kills) | 4 | 0 | 0.1 | 1 | 2026-11-17 |" in page
    assert "`python benchmarks/reliability.py kills --seed 1 --quick`" in page
