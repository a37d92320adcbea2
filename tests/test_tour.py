"""The tour of the code and the table of equations name what is there."""

import importlib
import re
from pathlib import Path

import pytest

from seqloom.recipe.schema import is_place

TOP = Path(__file__).parents[1]
ROOMS = sorted(path.parent.name for path in (TOP / "seqloom").glob("*/__init__.py"))
NAMES = re.compile(rf"`((?:{'|'.join(ROOMS)})(?:\.\w+)+)`")
FILES = ("jsonl", "json", "yaml", "md")


def is_there(name: str) -> bool:
    found: object = importlib.import_module("seqloom")
    path = "seqloom"
    for part in name.split("."):
        path = f"{path}.{part}"
        try:
            found = getattr(found, part) if hasattr(found, part) else importlib.import_module(path)
        except ImportError:
            return False
    return True


@pytest.mark.parametrize("page", ["tour.md", "equations.md"])
def test_what_a_page_names_is_there(page: str) -> None:
    names = set(NAMES.findall((TOP / "docs" / page).read_text(encoding="utf-8")))
    assert len(names) > 20
    code = [name for name in sorted(names) if not is_place(name) and name.rpartition(".")[2] not in FILES]
    assert [name for name in code if not is_there(name)] == []
