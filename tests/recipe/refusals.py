"""What a recipe with a mistake is answered with."""

import pytest

from seqloom.errors import RecipeError
from seqloom.recipe import parse_recipe

DATES = "data: {builtin: dates}\n"
BEAM_KEYS = (
    "Known keys here: kind, length_factor, length_extra, minimum_length, forbid, bias, ctc, speeds, width, length_power, "
    "coverage, values."
)


def refusal(text: str, *overrides: str) -> str:
    with pytest.raises(RecipeError) as caught:
        parse_recipe(text, where="r.yaml", overrides=overrides)
    return str(caught.value)
