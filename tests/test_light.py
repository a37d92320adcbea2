"""The small install: without torch and the other extras, what can work works, and the rest says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

from seqloom.installation import install_command

ABSENT = ("torch", "safetensors", "matplotlib", "sacrebleu", "rapidfuzz", "pycocoevalcap", "babel", "pyarrow", "tensorboard")
WITHOUT_EXTRAS = f"""
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {ABSENT} else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path = [Without(finder) for finder in sys.meta_path]
"""


def python(program: str, *words: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True, check=False)


def light(*words: object) -> "subprocess.CompletedProcess[str]":
    """Run a command where none of the extras is installed."""
    return python(f"{WITHOUT_EXTRAS}\nfrom seqloom.__main__ import main\nsys.argv[0] = 'seqloom'\nmain()", *words)


@pytest.fixture(scope="module", autouse=True)
def _extras_are_out_of_reach() -> None:
    for name in ABSENT:
        assert python(f"{WITHOUT_EXTRAS}\nimport {name}").returncode != 0


def test_importing_seqloom_imports_nothing_large() -> None:
    large = {"torch", "numpy", "pydantic", "tokenizers", "rich", "typer", "matplotlib"}
    done = python(f"import seqloom, sys; found = {large} & set(sys.modules); sys.exit(str(found) if found else 0)")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words", [["--help"], ["train", "--help"], ["recipes", "ls"], ["recipes", "show", "dates"]], ids=" ".join
)
def test_help_and_recipes_need_no_extra(words: list[str]) -> None:
    done = light(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_check_needs_no_extra(tiny_pairs: Path) -> None:
    done = light("check", tiny_pairs)
    assert (done.returncode, "fit for training" in done.stdout) == (0, True), done.stderr


def test_training_names_the_extra_to_install(tiny_pairs: Path, tmp_path: Path) -> None:
    for words in (["train", "dates"], ["train", "--pairs", tiny_pairs], ["demo"]):
        done = light(*words, "--out", tmp_path / "run")
        assert done.returncode == 2
        assert install_command("train") in done.stderr
        assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_using_a_model_names_the_extra_to_install(tiny_run: Path) -> None:
    done = light("predict", tiny_run, tiny_run / "recipe.yaml")
    assert done.returncode == 2
    assert install_command("train") in done.stderr
