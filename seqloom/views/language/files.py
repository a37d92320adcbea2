"""The one entry to pages of a language model as files: the form follows from the file's ending."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqloom.errors import UsageError
from seqloom.results.language import Activations, Reading, Summary
from seqloom.system.atomic_files import write_file
from seqloom.views.language.next_symbols import next_symbols_page
from seqloom.views.language.surprise import surprise_page
from seqloom.views.language.units import units_page

JSON_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away; new fields do not count."""


def write_surprise(readings: Sequence[Reading], summary: Summary, path: Path, *, title: str) -> Path:
    """Write how surprising a text was, as .html or .json."""
    return _write(path, surprise_page(readings, summary, title), _readings_json(readings, summary))


def write_next_symbols(readings: Sequence[Reading], summary: Summary, path: Path, *, title: str) -> Path:
    """Write the distribution of the next symbol along a text, as .html or .json."""
    return _write(path, next_symbols_page(readings, summary, title), _readings_json(readings, summary))


def write_units(activations: Activations, path: Path, *, title: str) -> Path:
    """Write single hidden units over a text, as .html or .json."""
    return _write(path, units_page(activations, title), activations.as_json())


def require_ending(path: Path) -> None:
    """Refuse a name whose ending says neither form, before any work is spent."""
    if path.suffix.lower() not in (".html", ".json"):
        got = f"the ending '{path.suffix}'" if path.suffix else "no ending"
        raise UsageError(f"{path}: for a language model, expected a file name that ends in .html or .json, got {got}.")


def _readings_json(readings: Sequence[Reading], summary: Summary) -> dict[str, Any]:
    return {"summary": summary.as_json(), "lines": [one.as_json() for one in readings]}


def _write(path: Path, markup: str, body: dict[str, Any]) -> Path:
    require_ending(path)
    if path.suffix.lower() == ".json":
        markup = json.dumps({"version": JSON_VERSION, **body}, ensure_ascii=False, allow_nan=False) + "\n"
    write_file(path, markup.encode("utf-8"))
    return path
