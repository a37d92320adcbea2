"""What language models say about texts, and what is drawn at random."""

from collections.abc import Iterator, Sequence
from typing import Any

from seqloom.data.examples import Example
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Sample
from seqloom.results.language import Reading, ScoredText, Summary
from seqloom.server.answers.predictions import Paths
from seqloom.symbols import END
from seqloom.views.language.surprise import reading_drawing


def readings(model: LanguageModel, texts: Sequence[str], *, drawing: bool = False) -> dict[str, Any]:
    """What a model expected at every symbol. A running text is taken line by line. drawing: with what a page draws."""
    lines = [line for text in texts for line in text.replace("\r\n", "\n").split("\n")] if model.running else list(texts)
    for line in lines:
        model.require_readable(line, "texts", part=True)
    found = model.read(lines)
    scores = [{**one.as_json(), "bits_per_symbol": one.surprise, **(_drawn(one) if drawing else {})} for one in found]
    return {"scores": scores, "summary": Summary.of([_scored(one) for one in found]).as_json()}


def _drawn(reading: Reading) -> dict[str, Any]:
    return {"drawing": reading_drawing(reading)}


def _scored(reading: Reading) -> ScoredText:
    line = reading.line
    unknown = tuple(index for index, one in enumerate(line.unknown) if one)
    return ScoredText(line.text, reading.log_prob, line.symbols, tuple(reading.log_probs.tolist()), unknown)


def drawn_pieces(predictor: Predictor, given: Example, prefix: str, section: Sample, length: int) -> Iterator[str]:
    """One output of a model that reads sources, drawn at random, piece by piece as it is written."""
    limited = section.model_copy(update={"length_factor": 0.0, "length_extra": length})
    task = predictor.task(given, limited, prefix=prefix)
    paths, before = Paths(), ""
    for trace in task.steps():
        paths.follow(trace)
        tokens = [one for one in paths.leader if one != END]
        text = task.text(tokens)
        yield text.removeprefix(before)
        before = text
