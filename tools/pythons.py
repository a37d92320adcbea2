"""Run the tests that need no torch on other versions of Python, each in an environment of its own.

    python tools/pythons.py .venv 3.12 3.13          makes .venv-python3.12 and .venv-python3.13

Interpreters are looked for on the PATH, with uv, and among those of pyenv. What cannot be found is named, and is no failure
unless nothing at all was found.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).parents[1]
NEEDS = [".[metrics,dates,parquet,plot]", "Pillow>=10.3", "pytest>=8.0", "hypothesis>=6.100"]
TORCH = re.compile(
    r"\btorch\b|seqloom\.(models|training|backends|predict|language)\b|tiny_run|tiny_language|text_runs|rouge_score|pycocoevalcap"
)
"""What only tests of models and runs speak of."""
LIGHT_FOLDERS = ("data", "metrics", "recipe", "search", "views")


def candidates(version: str) -> Iterator[str]:
    """Where an interpreter of a version may be."""
    if found := shutil.which(f"python{version}"):
        yield found
    if uv := shutil.which("uv"):
        done = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            yield done.stdout.strip()
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from (str(one) for one in sorted(pyenv.glob(f"versions/{version}.*/bin/python")))


def find(version: str) -> str | None:
    """An interpreter of this version that runs: pyenv's names on the PATH often lead nowhere."""
    ask = ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    for one in candidates(version):
        done = subprocess.run([one, *ask], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return one
    return None


def light_tests() -> list[str]:
    """Test files that neither train nor open a run."""
    files = [one for folder in LIGHT_FOLDERS for one in sorted((TOP / "tests" / folder).glob("test_*.py"))]
    return [str(one.relative_to(TOP)) for one in files if not TORCH.search(one.read_text(encoding="utf-8"))]


def test(version: str, interpreter: str, venv: Path) -> bool:
    """Make the environment if need be, and run the tests in it."""
    python = venv / "bin/python"
    if not python.exists():
        subprocess.run([interpreter, "-m", "venv", venv], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--editable", *NEEDS], cwd=TOP, check=True)
    tests = light_tests()
    print(f"Python {version} ({interpreter}): {len(tests)} files of tests", flush=True)
    return subprocess.run([python, "-m", "pytest", "-p", "no:cacheprovider", *tests], cwd=TOP, check=False).returncode == 0


def main() -> None:
    """Test what can be found, and say what could not."""
    venv, versions = sys.argv[1], sys.argv[2:]
    found = {version: find(version) for version in versions}
    results = {version: test(version, one, TOP / f"{venv}-python{version}") for version, one in found.items() if one}
    for version in versions:
        outcome = {True: "passed", False: "FAILED", None: "not found on the PATH, with uv or with pyenv: not tested"}
        print(f"Python {version}: {outcome[results.get(version)]}")
    sys.exit(0 if results and all(results.values()) else 1)


if __name__ == "__main__":
    main()
