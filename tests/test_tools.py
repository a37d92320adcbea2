"""What contributors type: the tests of a change, other versions of Python, releases."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOP = Path(__file__).parents[1]


def tool(name: str) -> ModuleType:
    """A script of tools/, as a module."""
    spec = importlib.util.spec_from_file_location(f"{name}_tool", TOP / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("tests/search/test_beam.py", {"tests/search/test_beam.py"}),
        ("seqloom/search/beam.py", {"tests/search/test_beam.py"}),
        ("seqloom/wording.py", {"tests/test_wording.py"}),
        ("docs/tutorials/captions.md", {"tests/tutorials/test_tutorials.py"}),
        ("LICENSE", set()),
    ],
)
def test_a_change_calls_for_its_tests(changed: str, tests: set[str]) -> None:
    found = set(tool("changed").tests_of(changed))
    assert tests <= found
    assert bool(tests) == bool(found)


def test_a_module_that_everything_imports_calls_for_few_tests() -> None:
    found = tool("changed").tests_of("seqloom/errors.py")
    assert len(found) <= tool("changed").MOST_IMPORTERS


def test_a_python_that_is_nowhere_is_not_found_and_said_so() -> None:
    assert tool("pythons").find("3.99") is None
    done = subprocess.run(
        [sys.executable, TOP / "tools" / "pythons.py", ".venv", "3.99"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Python 3.99: not found on the PATH, with uv or with pyenv: not tested" in done.stdout


def test_this_python_is_found_if_it_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / f"python{version}").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tool("pythons").find(version) == str(tmp_path / f"python{version}")


def test_light_tests_are_many_and_need_no_torch() -> None:
    light = tool("pythons").light_tests()
    assert len(light) > 20
    assert not any(re.search(r"\bimport torch\b", (TOP / name).read_text(encoding="utf-8")) for name in light)


def test_a_release_without_its_data_is_refused() -> None:
    release = tool("release")
    with pytest.raises(SystemExit, match=re.escape("a.whl lacks seqloom/recipes/dates.yaml")):
        release.require(Path("a.whl"), ["seqloom/py.typed", "seqloom/views/assets/map.js"], release.PACKAGE_DATA)


def test_rooms_are_found_by_what_they_import(tmp_path: Path) -> None:
    modules = {
        "__init__": "",
        "low/__init__": '"""What is below. And more."""',
        "low/things": "",
        "middle/__init__": "from seqloom.low import things",
        "middle/more": "",
        "high/__init__": "from seqloom.middle import nothing",
        "high/lazy": "def run():\n    from seqloom.low.things import one",
    }
    for name, text in modules.items():
        path = tmp_path / "seqloom" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    rooms = tool("rooms")
    house = rooms.House.at(tmp_path)
    assert house.rooms() == {"high": {"middle", "low"}, "middle": {"low"}, "low": set()}
    assert rooms.direct(house.rooms()) == {"high": {"middle"}, "middle": {"low"}, "low": set()}
    assert house.longest_chain() == ["seqloom.high", "seqloom.middle", "seqloom.low.things"]
    assert house.files_at_the_top()["seqloom.high"] == 1
    assert "What is below<" in rooms.picture(house)


def test_the_tour_shows_every_room() -> None:
    shown = (TOP / "docs" / "images" / "rooms.svg").read_text(encoding="utf-8")
    rooms = [path.parent.name for path in sorted((TOP / "seqloom").glob("*/__init__.py"))]
    assert [room for room in rooms if f">{room}</text>" not in shown] == []
