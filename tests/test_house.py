"""Budgets of the house: modules and functions that one can read at a sitting, and one name for one thing.

An exception has its reason beside it. One that is no longer needed has to go: the tests say so.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]
MODULES = sorted((HOUSE / "seqloom").rglob("*.py"))

LONGEST_MODULE = 400
LONG_MODULES: dict[str, str] = {}

LONGEST_FUNCTION = 40
LONG_FUNCTIONS = {
    "seqloom/suggest/file_defaults.py recipe_for_files": "one recipe, written out as data",
    "seqloom/training/loop.py fit": "the training loop, to be read from top to bottom",
}

APART = {"seqloom/bench/textbook.py"}
"""A plain implementation to measure against, which shares nothing with the rest, words included."""
SHARED_NAMES = {
    "Checkpoint": "when to save one (the recipe's section), and what is saved",
}


def name_of(path: Path) -> str:
    return path.relative_to(HOUSE).as_posix()


def lines_of_body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Without signature and docstring: a command's signature is the list of its options, and its docstring the help."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def long_functions() -> Iterator[str]:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of_body(node) > LONGEST_FUNCTION:
                yield f"{name_of(path)} {node.name}"


def repeated_class_names() -> set[str]:
    rooms = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and name_of(path) not in APART:
                rooms[node.name].append(name_of(path))
    return {name for name, found in rooms.items() if len(found) > 1 and not is_section_and_what_it_builds(found)}


def is_section_and_what_it_builds(modules: list[str]) -> bool:
    """`TextEncoder` of a recipe, of the models and as a graph: the same word on purpose."""
    places = ["seqloom/recipe/sections/", "seqloom/models/", "seqloom/graphs/"]
    counts = [sum(one.startswith(place) for one in modules) for place in places]
    return sum(counts) == len(modules) and max(counts) == 1


def test_modules_are_short() -> None:
    long = {name_of(path) for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_MODULE}
    assert long - LONG_MODULES.keys() == set(), f"more than {LONGEST_MODULE} lines: give parts of them rooms of their own"
    assert LONG_MODULES.keys() - long == set(), "exceptions that are no longer needed"


def test_functions_are_short() -> None:
    long = set(long_functions())
    assert long - LONG_FUNCTIONS.keys() == set(), f"more than {LONGEST_FUNCTION} lines: name the steps they are made of"
    assert LONG_FUNCTIONS.keys() - long == set(), "exceptions that are no longer needed"


def test_a_public_class_name_means_one_thing() -> None:
    repeated = repeated_class_names()
    assert repeated - SHARED_NAMES.keys() == set(), "two public classes of one name: rename one"
    assert SHARED_NAMES.keys() - repeated == set(), "exceptions that are no longer needed"


@pytest.mark.parametrize("word", ["utils", "helpers", "common", "misc"])
def test_no_module_is_named_for_nothing(word: str) -> None:
    assert [name_of(path) for path in MODULES if path.stem == word] == []
