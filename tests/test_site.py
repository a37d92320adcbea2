"""The documentation as a site: it builds, its links lead somewhere, and a reader's browser asks nobody else for anything."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOP = Path(__file__).parents[1]
pytest.importorskip("material")


@pytest.fixture(scope="module")
def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_tool", TOP / "tools" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["site_tool"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(site: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    site.build(folder)
    return folder


def test_pages_ask_nobody_else_for_anything(site: ModuleType, built: Path) -> None:
    assert list(site.requests(built)) == []


def test_what_would_be_fetched_is_found(site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://b.c/">fine</a> <script async src="https://b.c/d.js"></script>')
    (tmp_path / "a.css").write_text("@import url(https://b.c/font.css); p { background: url('//b.c/e.png') }")
    found = list(site.requests(tmp_path))
    assert [one.split(":")[0] for one in found] == ["a.css", "a.css", "a.html"]


def test_every_page_can_be_searched_for_and_found(built: Path) -> None:
    index = (built / "search" / "search_index.json").read_text(encoding="utf-8")
    pages = [page.relative_to(TOP / "docs").with_suffix(".html").as_posix() for page in (TOP / "docs").rglob("*.md")]
    assert [page for page in pages if page.replace("README", "index") not in index and page not in index] == []


def test_pages_from_the_top_of_the_repository_are_there(built: Path) -> None:
    assert "What the version digits mean" in (built / "changelog.html").read_text(encoding="utf-8")
    assert 'href="changelog.html"' in (built / "contributing.html").read_text(encoding="utf-8")
