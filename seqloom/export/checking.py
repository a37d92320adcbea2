"""Whether an exported model says what its run says: both score what the run wrote at its last validation."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from seqloom.data.examples import INPUT, Example, Origin
from seqloom.errors import DataError
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.results.predictions import Prediction
from seqloom.runs import RunFolder
from seqloom.system.files import LARGEST_RECORDS, read_regular

_DRAWN = 40
"""How many symbols a language model writes to be compared by."""


def compare(run: Path, export: Path, *, shortlist: int | None = None) -> tuple[float, int]:
    """The largest difference between log-probabilities of symbols, and how many were compared; not a number if none.

    With a shortlist, both write anew, and what both wrote is compared: a run scores targets with its whole vocabulary.
    """
    one, other = (
        (_scores(run, run), _scores(export, run))
        if shortlist is None
        else _agreed(_written(run, run, shortlist), _written(export, run, None))
    )
    if not len(one):
        return math.nan, 0
    return float(np.abs(np.subtract(one, other)).max()), len(one)


def _written(model: Path, run: Path, shortlist: int | None) -> list[Prediction]:
    """What is written for the samples."""
    if RunFolder.open(run).recipe.is_language_model:
        return []
    try:
        return list(Predictor.load(model, shortlist=shortlist).predict(_samples(run), beam=1))
    except DataError:
        return []


def _agreed(one: list[Prediction], other: list[Prediction]) -> tuple[list[float], list[float]]:
    """The log-probabilities of outputs that are the same."""
    same = [(a, b) for a, b in zip(one, other, strict=True) if a.tokens == b.tokens]
    return [value for a, _ in same for value in a.best.log_probs], [value for _, b in same for value in b.best.log_probs]


def _scores(model: Path, run: Path) -> list[float]:
    """Log-probabilities of all symbols of the samples."""
    if RunFolder.open(run).recipe.is_language_model:
        texts = [sampled.text for sampled in LanguageModel.load(run).sample(1, length=_DRAWN)]
        return [value for scored in LanguageModel.load(model).score(texts) for value in scored.log_probs]
    samples = _samples(run)
    try:
        return [value for scored in Predictor.load(model).score(samples) for value in scored.log_probs]
    except DataError:  # pictures that are not where they were
        return []


def _samples(run: Path) -> list[Example]:
    """What was read and written at the last validation."""
    recipe = RunFolder.open(run).recipe
    files = sorted((run / "validation").glob("*.json"), key=lambda path: int(path.stem) if path.stem.isdecimal() else -1)
    if not files:
        return []
    body = json.loads(read_regular(files[-1], limit=LARGEST_RECORDS, inside=run))
    return [
        Example(_sources(sample, list(recipe.data.sources)), sample["text"], Origin(INPUT, number), 1.0, _features(sample))
        for number, sample in enumerate(body.get("samples", []), start=1)
        if sample.get("text")
    ]


def _sources(sample: dict[str, Any], names: list[str]) -> dict[str, str]:
    source = sample["source"]
    return {name: source[name] for name in names} if isinstance(source, dict) else {names[0]: source}


def _features(sample: dict[str, Any]) -> tuple[str, ...]:
    return tuple(sample.get("features", ()))
