"""Help is quick, plain and has examples."""

import re
import subprocess
import sys

import pytest

from cli.conftest import OWN_PROCESS, Seqloom
from seqloom import __version__

COMMANDS = [
    "demo",
    "train",
    "predict",
    "transcribe",
    "evaluate",
    "errors",
    "score",
    "sample",
    "chat",
    "explain",
    "plane",
    "report",
    "serve",
    "export",
    "compare",
    "check",
    "bench",
]
RECIPE_COMMANDS = ["ls", "show", "copy", "check"]
ALL = [[name] for name in COMMANDS] + [["recipes", name] for name in RECIPE_COMMANDS]


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_each_command_shows_an_example_that_begins_with_itself(seqloom: Seqloom, command: list[str]) -> None:
    answer = seqloom(*command, "--help")
    assert answer.code == 0
    assert re.search(r"\n  Examples?:\n", answer.out)
    assert re.search(rf"\n      (.*\| )?seqloom {' '.join(command)}\b", answer.out)


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_help_has_no_type_names_of_python_and_fits_its_width(
    seqloom: Seqloom, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = seqloom(*command, "--help").out
    assert not re.search(r"<\w+|\[default: \.\.\.|None", text)
    assert max(map(len, text.splitlines())) <= 100


def test_the_list_of_commands_cuts_no_sentence_short(seqloom: Seqloom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = seqloom("--help").out
    for name in [*COMMANDS, "recipes"]:
        line = next(line for line in text.splitlines() if line.strip().startswith(f"{name} "))
        assert line.endswith(".")
        assert not line.endswith("...")


def test_help_tells_the_exit_codes(seqloom: Seqloom) -> None:
    text = " ".join(seqloom("--help").out.split())
    for code in ("0 done", "1 a check", "2 bad usage", "3 bad or missing data", "4 bad run", "5 could not write", "130"):
        assert code in text


def test_no_command_shows_the_help_and_is_bad_usage(seqloom: Seqloom) -> None:
    answer = seqloom()
    assert answer.code == 2
    assert "Commands:" in answer.out + answer.err


def test_a_misspelt_command_is_bad_usage_with_the_nearest_one(seqloom: Seqloom) -> None:
    answer = seqloom("trian")
    assert answer.code == 2
    assert "trian" in answer.err
    assert "'train'" in answer.err


def test_a_missing_out_is_named(seqloom: Seqloom) -> None:
    answer = seqloom("train", "dates")
    assert answer.code == 2
    assert "'--out'" in answer.err


def test_the_version_is_printed(seqloom: Seqloom) -> None:
    assert seqloom("--version").out == f"seqloom {__version__}\n"


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (["--help"], ["torch", "numpy", "pydantic", "tokenizers", "yaml", "rich", "seqloom.recipe"]),
        (["predict", "--help"], ["torch", "numpy", "tokenizers", "yaml", "rich", "seqloom.recipe"]),
    ],
    ids=["all", "one command"],
)
def test_help_imports_nothing_heavy(words: list[str], heavy: list[str]) -> None:
    program = (
        f"import sys; sys.argv = ['seqloom', *{words}]\n"
        "from seqloom.__main__ import main\n"
        "try: main()\n"
        f"except SystemExit: sys.exit([name for name in {heavy} if name in sys.modules] or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=OWN_PROCESS, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "seqloom", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"seqloom {__version__}\n"


def test_an_unknown_demo_is_bad_usage_with_the_known_ones(seqloom: Seqloom) -> None:
    answer = seqloom("demo", "nosuch")
    assert (answer.code, "There is: dates" in answer.err) == (2, True)
