"""seqloom: encoder-decoder models with attention, on your own pairs.

    import seqloom

    seqloom.train(pairs="words.tsv", out="runs/words", minutes=10)
    seqloom.load("runs/words").predict("namaste", beam=5, nbest=3)[0].text
    seqloom.evaluate("runs/words").metrics
    seqloom.explain("runs/words", "namaste").save("map.html")

Importing this package imports neither torch nor anything else that is large.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from seqloom.api import Paths, ReadText
    from seqloom.metrics import Evaluation
    from seqloom.prediction.chat import Chat
    from seqloom.prediction.drawn import DrawnPrediction
    from seqloom.prediction.predictor import Predictor
    from seqloom.recipe import Recipe
    from seqloom.training.session import Outcome

__all__ = ["__version__", "chat", "evaluate", "explain", "load", "train"]


def load(*folders: "str | Path", language_model: "str | Path | None" = None, weight: float = 0.3) -> Any:
    """Open a trained run, or several as an ensemble; a language model may be fused in with a weight.

    The result is a `Predictor`, or a `LanguageModel` if the run is one: what is in a folder decides, which no type can tell.
    A folder that `train` with several seeds has written stands for all runs in it.
    """
    from seqloom.api import load as load_any

    return load_any(folders, language_model, weight)


def train(
    recipe: "str | Path | Mapping[str, Any] | Recipe | None" = None,
    *,
    out: "str | Path",
    pairs: "Paths | None" = None,
    text: "Paths | None" = None,
    validation: "str | Path | None" = None,
    test: "str | Path | None" = None,
    columns: "str | Mapping[str, int | str] | None" = None,
    format: str | None = None,
    images: "str | Path | None" = None,
    settings: "Mapping[str, Any] | None" = None,
    minutes: float | None = None,
    seeds: int | None = None,
    start: "str | Path | None" = None,
) -> "Outcome":
    """Train a model into the run folder `out`; an unfinished run there goes on.

    recipe: a YAML file, the name of a recipe that comes with seqloom, a mapping or a Recipe. pairs: a table of sources and
    targets, or several; without a recipe, settings are chosen that fit it. text: plain text, for a language model.
    validation, test: files to judge by; by default some of the data is held out. columns: which column is what, as in
    {"source": 2, "target": 1}. format: of the files, if their endings do not tell (tsv, csv, jsonl, parquet, cmudict). images:
    where the names of image files begin. settings: changes to the recipe, as in {"training.epochs": 5}. minutes: train so
    long, with as many updates as fit. seeds: train so many models, which differ in their seed, into numbered folders below
    `out`; `load(out)` lets them vote. start: a run whose weights to start with, and whose recipe to take if none is given.
    """
    from seqloom.api import train as train_asked

    return train_asked(
        recipe,
        out=out,
        pairs=pairs,
        text=text,
        validation=validation,
        test=test,
        columns=columns,
        format=format,
        images=images,
        settings=settings,
        minutes=minutes,
        seeds=seeds,
        start=start,
    )


def evaluate(
    run: "str | Path | Predictor",
    pairs: "str | Path | None" = None,
    *,
    columns: "str | Mapping[str, int | str] | None" = None,
    beam: int | None = None,
    metrics: "Sequence[str] | None" = None,
) -> "Evaluation":
    """Measure a run, or a loaded predictor, on a file of pairs; without one, on the test split of its recipe."""
    from seqloom.api import evaluate as evaluate_run

    return evaluate_run(run, pairs, columns=columns, beam=beam, metrics=metrics)


def explain(run: "str | Path | Predictor", source: Any, *, beam: int | None = None) -> "DrawnPrediction | ReadText":
    """Where a model looked while it wrote; of a language model, what it expected at every symbol of a text.

    source: a text, an image file, or a mapping of named sources. The answer draws itself in a notebook, and `save` writes it
    to a file: .html, .svg, .png or .json, of a language model .html or .json.
    """
    from seqloom.api import explain as explain_source

    return explain_source(run, source, beam=beam)


def chat(run: "str | Path | Predictor", *, remembered: int | None = None) -> "Chat":
    """A conversation with a model: `chat(run).say("Hello .").text` is its reply.

    remembered: so many earlier turns, of both sides, precede what is said; by default as many as in training.
    """
    from seqloom.api import chat as chat_with

    return chat_with(run, remembered=remembered)
