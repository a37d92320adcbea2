"""Sections as places, and when they are built."""

import subprocess
import sys

from seqloom.recipe.schema import slots_of
from seqloom.recipe.sections import Recipe, VideoEncoder


def test_no_section_is_built_before_it_is_used() -> None:
    program = (
        "from seqloom.recipe.sections import Model, Recipe, Training\n"
        "print([one.__pydantic_complete__ for one in (Recipe, Model, Training)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[False, False, False]"


def test_a_default_that_is_made_has_the_kind_of_what_is_made() -> None:
    assert slots_of(Recipe)["search"].default_kind == "beam"
    assert slots_of(VideoEncoder)["time"].default_kind == "pyramid"
