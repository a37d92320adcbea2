"""Whether an exported model says what its run says: both score what the run wrote at its last validation."""

import math
from pathlib import Path

import numpy as np

from seqloom.data.examples import Example
from seqloom.errors import DataError
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.prediction.samples import samples_of
from seqloom.runs import RunFolder

_DRAWN = 40
"""How many symbols a language model writes to be compared by."""


def compare(run: Path, export: Path, *, shortlist: int | None = None) -> tuple[float, int]:
    """The largest difference between log-probabilities of symbols, and how many were compared; not a number if none.

    With a shortlist, both write anew, and what both wrote is compared: a run scores targets with its whole vocabulary.
    """
    opened = RunFolder.open(run)
    try:
        if opened.recipe.is_language_model:
            one, other = _scores_of_texts(run, export)
        elif shortlist is None:
            samples = [sample.example for sample in samples_of(opened)]
            one, other = (_scores(Predictor.load(model), samples) for model in (run, export))
        else:
            one, other = _agreed(run, export, [sample.example for sample in samples_of(opened)], shortlist)
    except DataError:  # pictures that are not where they were
        return math.nan, 0
    if not len(one):
        return math.nan, 0
    return float(np.abs(np.subtract(one, other)).max()), len(one)


def _scores_of_texts(run: Path, export: Path) -> tuple[list[float], list[float]]:
    """What two language models say of a text that the first one wrote."""
    models = [LanguageModel.load(path) for path in (run, export)]
    texts = [written.text for written in models[0].sample(1, length=_DRAWN)]
    one, other = ([value for scored in model.score(texts) for value in scored.log_probs] for model in models)
    return one, other


def _scores(model: Predictor, samples: list[Example]) -> list[float]:
    """Log-probabilities of all symbols of the samples."""
    return [value for scored in model.score(samples) for value in scored.log_probs]


def _agreed(run: Path, export: Path, samples: list[Example], shortlist: int) -> tuple[list[float], list[float]]:
    """The log-probabilities of outputs that both write."""
    models = Predictor.load(run, shortlist=shortlist), Predictor.load(export)
    pairs = zip(*(model.predict(samples, beam=1) for model in models), strict=True)
    same = [(one.best, other.best) for one, other in pairs if one.tokens == other.tokens]
    return [value for one, _ in same for value in one.log_probs], [value for _, other in same for value in other.log_probs]
