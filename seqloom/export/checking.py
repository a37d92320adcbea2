"""Whether an exported model says what its run says: both score what the run wrote at its last validation."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from seqloom.data.examples import INPUT, Example, Origin
from seqloom.errors import DataError
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.runs import RunFolder
from seqloom.system.files import LARGEST_RECORDS, read_regular
from seqloom.system.json_parsing import parse_object

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
            samples = _samples(opened)
            one, other = (_scores(Predictor.load(model), samples) for model in (run, export))
        else:
            one, other = _agreed(run, export, _samples(opened), shortlist)
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


def _samples(run: RunFolder) -> list[Example]:
    """What was read and written at the last validation; nothing if that cannot be read any more."""
    files = sorted(
        (path for path in (run.path / "validation").glob("*.json") if path.stem.isdecimal()), key=lambda path: int(path.stem)
    )
    if not files:
        return []
    try:
        body = parse_object(read_regular(files[-1], limit=LARGEST_RECORDS, inside=run.path), {"samples": list})
        samples = [sample for sample in body["samples"] if sample["text"]]
        return [_example(sample, list(run.recipe.data.sources), number) for number, sample in enumerate(samples, start=1)]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def _example(sample: dict[str, Any], names: list[str], number: int) -> Example:
    source = sample["source"]
    sources = {name: str(source[name]) for name in names} if isinstance(source, dict) else {names[0]: str(source)}
    return Example(sources, str(sample["text"]), Origin(INPUT, number), features=tuple(map(str, sample.get("features", ()))))
