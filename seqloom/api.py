"""What `import seqloom` offers, carried out: training, measuring and explaining as the commands do it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.metrics import Evaluation
    from seqloom.prediction.chat import Chat
    from seqloom.prediction.drawn import DrawnPrediction
    from seqloom.prediction.language_model import LanguageModel
    from seqloom.prediction.predictor import Predictor
    from seqloom.recipe import Recipe
    from seqloom.results.language import Reading, Summary
    from seqloom.training.session import Outcome

PathText = str | Path
Paths = PathText | Sequence[PathText]
"""A file, or several."""


def train(
    recipe: "PathText | Mapping[str, Any] | Recipe | None",
    *,
    out: PathText,
    pairs: Paths | None,
    text: Paths | None,
    validation: PathText | None,
    test: PathText | None,
    columns: str | Mapping[str, int | str] | None,
    format: str | None,
    images: PathText | None,
    settings: Mapping[str, Any] | None,
    minutes: float | None,
    seeds: int | None,
    start: PathText | None,
) -> "Outcome":
    """Train a recipe, data without one, or a recipe on one's own data."""
    from seqloom.cli.choosing import Asked, choose_recipe
    from seqloom.recipe import Recipe
    from seqloom.training.session import train as train_recipe
    from seqloom.training.weights.starting import StartingRun

    chosen = recipe
    if recipe is None or isinstance(recipe, str | Path):
        chosen = choose_recipe(
            Asked(
                recipe=None if recipe is None else str(recipe),
                pairs=_listed(pairs, "pairs"),
                text=_listed(text, "text"),
                validation=_path(validation),
                test=_path(test),
                columns=_columns(columns),
                format=format,
                images=_path(images),
                settings=_settings(settings),
                start=None if start is None else Path(start),
                begun=Path(out) if seeds is None else Path(out) / "1",
            )
        )
    elif any(one is not None for one in (pairs, text, validation, test, columns, format, images, settings)):
        raise UsageError("train: a recipe that is given as Python data names its own files and settings. Put them there")
    if not isinstance(chosen, Recipe | Mapping):
        raise UsageError(f"train: expected a recipe's file, its name, a mapping or a Recipe, found {type(recipe).__name__}")
    wish = None if start is None else StartingRun(Path(start), keeps_vocabularies=recipe is None)
    return train_recipe(chosen, str(out), minutes=minutes, seeds=seeds, start=wish)


def load(folders: Sequence[PathText], language_model: PathText | None, weight: float) -> "Predictor | LanguageModel":
    """Open what is in the folders: a model that reads a source, several of them, or a language model."""
    from seqloom.cli.texts import is_text_run
    from seqloom.prediction.language_model import LanguageModel
    from seqloom.prediction.predictor import Predictor

    if language_model is None and len(folders) == 1 and is_text_run(str(folders[0])):
        return LanguageModel.load(folders[0])
    return Predictor.load(*folders, language_model=language_model, weight=weight)


def evaluate(
    run: "PathText | Predictor",
    pairs: PathText | None,
    *,
    columns: str | Mapping[str, int | str] | None,
    beam: int | None,
    metrics: Sequence[str] | None,
) -> "Evaluation":
    """Measure a model on pairs, as `seqloom evaluate` does."""
    from seqloom.cli.judging import judged_examples
    from seqloom.evaluation.items import items_of, usual_metrics
    from seqloom.metrics import evaluate as measure

    predictor = _opened(run)
    examples = judged_examples(predictor, _path(pairs), _columns(columns))
    items = items_of(predictor, examples, predictor.predict(examples, beam=beam))
    return measure(items, metrics, usual=usual_metrics(predictor.recipe, items))


@dataclass(frozen=True)
class ReadText:
    """What a language model expected at every symbol of a text, line by line."""

    readings: "Sequence[Reading]"
    summary: "Summary"

    def save(self, path: PathText) -> Path:
        """Write it to a file, .html, .svg, .png or .json; return its path."""
        from seqloom.views.language.files import write_next_symbols
        from seqloom.views.text.labels import shortened

        title = shortened(self.readings[0].line.text, 60) if self.readings else ""
        return write_next_symbols(list(self.readings), self.summary, path, title=title)

    def __repr__(self) -> str:
        return f"ReadText({self.summary.symbols} symbols, {self.summary.bits_per_symbol:.3f} bits per symbol)"


def explain(run: "PathText | Predictor", source: Any, *, beam: int | None) -> "DrawnPrediction | ReadText":
    """What a model looked at, or what a language model expected."""
    from seqloom.prediction.predictor import Predictor
    from seqloom.recipe.sections import Beam
    from seqloom.runs import RunFolder

    if not isinstance(run, Predictor) and RunFolder.open(Path(run)).recipe.is_language_model:
        return _read(run, source)
    predictor = _opened(run)
    width = beam or (predictor.recipe.search.width if isinstance(predictor.recipe.search, Beam) else 1)
    if isinstance(source, str) and not source.strip():
        raise UsageError("explain: the text is empty, so there is nothing to look at. Give the text that the model shall read")
    found = predictor.predict(source, beam=beam, nbest=width)
    if len(found) != 1:
        raise UsageError(f"explain: expected one source, found {len(found)}. Explain them one by one")
    return found[0]


def chat(run: "PathText | Predictor", *, remembered: int | None) -> "Chat":
    """A conversation with a model."""
    from seqloom.prediction.chat import Chat

    return Chat(_opened(run), remembered=remembered)


def _read(run: PathText, text: Any) -> ReadText:
    from seqloom.prediction.language_model import LanguageModel
    from seqloom.results.language import Summary

    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"explain: expected a text for the language model to read, found {text!r}")
    model = LanguageModel.load(run)
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    return ReadText(model.read(lines), Summary.of(model.score(lines)))


def _opened(run: "PathText | Predictor") -> "Predictor":
    from seqloom.prediction.predictor import Predictor

    return run if isinstance(run, Predictor) else Predictor.load(run)


def _listed(files: Paths | None, name: str) -> tuple[str, ...]:
    if files is None:
        return ()
    several: object = [files] if isinstance(files, str | Path) else files
    if not isinstance(several, Sequence) or not all(isinstance(one, str | Path) for one in several):
        raise UsageError(f"{name}: expected the name of a file or a list of names, found {files!r}")
    return tuple(map(str, several))


def _path(path: PathText | None) -> str | None:
    return None if path is None else str(path)


def _columns(columns: str | Mapping[str, int | str] | None) -> str | None:
    """As the command line has them."""
    return ",".join(f"{name}={column}" for name, column in columns.items()) if isinstance(columns, Mapping) else columns


def _settings(settings: Mapping[str, Any] | None) -> tuple[str, ...]:
    """As `--set` has them: what JSON writes, YAML reads."""
    import json

    try:
        return tuple(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in (settings or {}).items())
    except TypeError as problem:
        raise UsageError(f"settings: expected numbers, texts, lists and mappings of them ({problem})") from problem
