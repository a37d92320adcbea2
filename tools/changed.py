"""Run the tests of what differs from another commit: changed tests, and the tests of changed modules.

python tools/changed.py [BASE]          BASE: a branch or commit, by default main
"""

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]
TESTS = sorted((TOP / "tests").rglob("test_*.py"))
ALWAYS = ("tests/test_house.py",)
MOST_IMPORTERS = 12
"""A module that more tests import than this is left to those that bear its name: the others are for `make test`."""


def git(*words: str) -> list[str]:
    """The lines that git prints."""
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def changed_since(base: str) -> list[str]:
    """Files that differ from where this branch left the base, committed or not, new ones included."""
    known = subprocess.run(["git", "rev-parse", "--verify", "--quiet", base], cwd=TOP, capture_output=True, check=False)
    if known.returncode:
        print(f"there is no {base} here: taking what differs from HEAD")
        base = "HEAD"
    [start] = git("merge-base", base, "HEAD")
    return [*git("diff", "--name-only", "--diff-filter=d", start), *git("ls-files", "--others", "--exclude-standard")]


def tests_of(path: str) -> list[str]:
    """The tests that a changed file calls for."""
    place = Path(path)
    if place.name.startswith("test_") and place.suffix == ".py":
        return [path]
    if path.startswith("tests/"):  # something that tests share: those beside it
        return [name_of(one) for one in TESTS if one.parent == (TOP / place).parent]
    if path.startswith("docs/tutorials/"):
        return ["tests/tutorials/test_tutorials.py"]
    if path.startswith("seqloom/") and place.suffix == ".py":
        return tests_of_module(place)
    return []


def tests_of_module(place: Path) -> list[str]:
    """Tests of the module's name in the mirrored folder, and those that import it, unless they are many."""
    folder = TOP / "tests" / place.parent.relative_to("seqloom")
    mirrored = [name_of(one) for one in TESTS if one.parent == folder and one.stem.startswith(f"test_{place.stem}")]
    dotted = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
    words = (f"from {dotted} import", f"import {dotted}\n", f"from {dotted.rpartition('.')[0]} import {place.stem}\n")
    importers = [name_of(one) for one in TESTS if any(word in one.read_text(encoding="utf-8") for word in words)]
    return mirrored + (importers if len(importers) <= MOST_IMPORTERS else [])


def name_of(test: Path) -> str:
    """A test's path from the top of the repository."""
    return test.relative_to(TOP).as_posix()


def main() -> None:
    """Find them, run them."""
    base = sys.argv[1] if len(sys.argv) > 1 else "main"
    changed = changed_since(base)
    if not changed:
        print(f"nothing differs from {base}: nothing to test")
        return
    tests = sorted({test for path in changed for test in tests_of(path)} | set(ALWAYS))
    print(f"{len(changed)} changed files, {len(tests)} files of tests; `make test` runs all {len(TESTS)}")
    sys.exit(subprocess.run([sys.executable, "-m", "pytest", "-n", "2", *tests], cwd=TOP, check=False).returncode)


if __name__ == "__main__":
    main()
