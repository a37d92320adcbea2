"""Whose error a wrong output is: the search's if the right one is more probable than what was found, else the model's."""

from collections.abc import Sequence
from typing import Any

from seqloom.data.examples import Example
from seqloom.prediction.predictor import Predictor
from seqloom.prediction.tasks import Watch
from seqloom.recipe.sections import Search
from seqloom.results.predictions import Prediction


def judged(predictor: Predictor, pairs: Sequence[Example], section: Search | None, watch: Watch) -> list[dict[str, Any]]:
    """The scores of given targets. section: how to search for what the model itself writes; None does not."""
    scored = [one.as_json() for one in predictor.score(pairs)]
    if section is None:
        return scored
    found = predictor.predict(pairs, search=section, watch=watch)
    return [{**score, **_compared(score, one, pair)} for score, one, pair in zip(scored, found, pairs, strict=True)]


def _compared(score: dict[str, Any], found: Prediction, pair: Example) -> dict[str, Any]:
    verdict = "search-error" if score["log_prob"] > found.log_prob else "model-error"
    shown = {"text": found.text, "log_prob": found.log_prob}
    return {"found": shown, "verdict": "right" if found.text == pair.target else verdict}
