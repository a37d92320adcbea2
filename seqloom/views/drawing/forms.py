"""Views as files: the form follows from the ending of the file's name."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from seqloom.errors import UsageError
from seqloom.system.atomic_files import write_file

Forms = Mapping[str, Callable[[], str | bytes]]
"""For each ending, what makes the content of such a file. Only the wanted one is made."""

ENDINGS = (".html", ".svg", ".png", ".json")


def require_ending(path: Path) -> None:
    """Refuse a name whose ending says no form, before any work is spent."""
    if path.suffix.lower() not in ENDINGS:
        got = f"the ending '{path.suffix}'" if path.suffix else "no ending"
        raise UsageError(f"{path}: expected a file name that ends in .html, .svg, .png or .json, got {got}.")


def write_form(path: str | Path, forms: Forms) -> Path:
    """Write the form that the ending asks for, and return the path."""
    path = Path(path)
    require_ending(path)
    content = forms[path.suffix.lower()]()
    write_file(path, content.encode("utf-8") if isinstance(content, str) else content)
    return path


def as_document(version: int, body: Mapping[str, Any]) -> str:
    """The JSON form, with its version first."""
    return json.dumps({"version": version, **body}, ensure_ascii=False, allow_nan=False) + "\n"
