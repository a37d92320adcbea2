"""The programs of docs/export.md, which use an export without seqloom."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import seqloom
from seqloom.export.writing import Exported, export_run

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "export.md").read_text(encoding="utf-8")
MODULES = Path(sys.prefix) / "node" / "node_modules"


@pytest.fixture(scope="module")
def exported(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return export_run(tiny_run, tmp_path_factory.mktemp("exports") / "int8", precision="int8")


def program(language: str, path: Path) -> Path:
    """The page's program in a language, as a file."""
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    path.write_text(code, encoding="utf-8")
    return path


def answer(*words: object) -> str:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout.strip()


def test_the_python_program_writes_what_predict_writes(exported: Exported, tmp_path: Path) -> None:
    wanted = seqloom.load(exported.path).predict("badge", beam=1)[0].text
    assert answer(sys.executable, program("python", tmp_path / "decode.py"), exported.path, "badge") == wanted


def test_the_javascript_program_writes_what_predict_writes(exported: Exported, tmp_path: Path) -> None:
    node = shutil.which("node")
    if (node is None or not MODULES.is_dir()) and not os.environ.get("CI"):
        pytest.skip("needs Node and onnxruntime-web, which `make test` installs where there is npm")
    assert node is not None
    (tmp_path / "node_modules").symlink_to(MODULES)
    wanted = seqloom.load(exported.path).predict("badge", beam=1)[0].text
    assert answer(node, program("js", tmp_path / "decode.mjs"), exported.path, "badge") == wanted
