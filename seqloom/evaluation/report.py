"""Collects what a report shows: curves from the run's records, and quality on test examples measured now."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from seqloom.data.examples import Example, grouped
from seqloom.errors import RunError
from seqloom.evaluation.items import items_of, usual_metrics
from seqloom.metrics import HIGHER_IS_BETTER, Evaluation, evaluate, intervals, sentence_scores
from seqloom.prediction.backends import own_corpus
from seqloom.prediction.drawn import DrawnPrediction
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import jars, to_yaml
from seqloom.recipe.sections import Sample
from seqloom.results.language import Summary
from seqloom.runs import RunFolder
from seqloom.views.charts.plots import MOST_CURVES, Panel
from seqloom.views.pages import report as views
from seqloom.wording import counted

Row = TypeVar("Row")

Watch = Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]
"""Is told what is done and how much there is of it, if that is known; what it opens is told how much more is done."""

_EXTREMES = 8
_MAPS = 4
_TEMPERATURES = (0.5, 0.8, 1.0)


def _unwatched(_what: str, _total: int | None) -> AbstractContextManager[Callable[[int], None]]:
    return nullcontext(lambda count: None)


def collect_report(path: Path, *, most: int | None = None, watch: Watch = _unwatched) -> views.Report:
    """The report of a run on its test examples, or on those of validation if it has none.

    most: at most so many of them; None takes all, as `evaluate` does. watch: is told how far the work is.
    """
    run = RunFolder.open(path)
    if run.recipe.is_language_model:
        return _text_report(run, watch)
    predictor = Predictor.load(path)
    split, given = _examples(run)
    examples = predictor.tolerant(given[:most])
    judged = f"{len(examples):,}" + (f" of {len(given):,}" if len(examples) < len(given) else "")
    with watch(f"decoding {split} examples", len(examples)) as progress:
        # In a stream, and without where the model looked: of all examples that would fill the memory.
        predictions = [one.without_alignment() for one in predictor.predict_stream(examples, progress=progress)]
    items = items_of(predictor, examples, predictions)
    evaluation = evaluate(items, usual=usual_metrics(predictor.recipe, items))
    names = evaluation.telling
    margins = intervals(items, names)
    chosen = run.recipe.training.validation.metric
    scores = sentence_scores(items, _ranking(chosen, names))
    # The best first; among equals the surer one.
    ranked = sorted(zip(scores, predictions, examples, strict=True), key=lambda row: (-row[0], -row[1].score))
    seen = [(prediction, example) for _, prediction, example in ranked]
    return views.Report(
        title=path.name,
        summary=dict(jars(run.recipe))["task"],
        facts=_facts(run, f"{judged} {split} examples, search: {run.recipe.search.kind}"),
        notes=[
            *_notes(run),
            *(f"Not shown: {names}. Reason: {reason}." for names, reason in evaluation.unsaid.items()),
            *(f"Not computed: {name}. Reason: {reason}." for name, reason in evaluation.absent.items()),
        ],
        metrics=[views.Metric(name, evaluation.metrics[name], margins[name], evaluation.signatures[name]) for name in names],
        panels=_panels(run, names),
        validation=_validation_rows(run, names),
        by_length=_by_length(evaluation),
        classes=evaluation.classes,
        best=[_shown(*one) for one in seen[:_EXTREMES]],
        worst=[_shown(*one) for one in [one for one in reversed(seen) if _is_wrong(*one)][:_EXTREMES]],
        maps=[prediction.exhibit() for prediction in predictor.predict([example for _, example in _varied(seen, _MAPS)])],
        recipe_text=to_yaml(run.recipe),
    )


def _text_report(run: RunFolder, watch: Watch) -> views.Report:
    """The report of a language model: how probable it finds the test text, and what it writes."""
    model = LanguageModel.load(run.path)
    split, examples = _examples(run)
    with watch(f"scoring {split} text", None) as progress:
        scored = model.score([example.target or "" for example in examples], progress=progress)
    summary = Summary.of(scored)
    unknown = f", {summary.unknown:,} of them unknown" if summary.unknown else ""
    size = f"{counted(summary.lines, 'line')}, {counted(summary.symbols, 'symbol')}"
    return views.Report(
        title=run.path.name,
        summary=dict(jars(run.recipe))["task"],
        facts=_facts(run, f"the {split} text: {size}{unknown}"),
        metrics=[
            views.Metric("perplexity", summary.perplexity, signature="per symbol, line ends counted", percent=False),
            views.Metric("bits per symbol", summary.bits_per_symbol, percent=False),
            views.Metric("bits per character", summary.bits_per_character, percent=False),
        ],
        panels=_panels(run, ()),
        validation=_validation_rows(run, ("perplexity",)),
        texts=[
            (f"temperature {temperature:g}", model.sample(search=Sample(temperature=temperature, seed=number))[0].text)
            for number, temperature in enumerate(_TEMPERATURES)
        ],
        recipe_text=to_yaml(run.recipe),
    )


def _examples(run: RunFolder) -> tuple[str, list[Example]]:
    corpus = own_corpus(run)
    for split in ("test", "validation"):
        found: Iterable[Example] = corpus.examples(split) if corpus.has(split) else ()
        examples = grouped(found) if run.recipe.data.groups_references else list(found)
        if examples:
            return split, examples
    raise RunError(f"{run.path}: its recipe has neither test nor validation examples to report on")


def _ranking(chosen: str, names: Sequence[str]) -> str:
    """The metric that tells good outputs from bad ones: the recipe's own if it can, else the finest that can."""
    return next(name for name in (chosen, "cer", "cider", *names) if name in names)


def _by_length(evaluation: Evaluation) -> list[dict[str, float]]:
    """The groups of source lengths with the metrics that say something; nothing where all sources are of one length."""
    rows = evaluation.by_length if len(evaluation.by_length) > 1 else ()
    return [{key: row[key] for key in row if key not in evaluation.silent} for row in rows]


def _is_wrong(prediction: DrawnPrediction, example: Example) -> bool:
    return prediction.text not in example.targets


def _shown(prediction: DrawnPrediction, example: Example) -> views.ShownExample:
    return views.ShownExample(prediction.exhibit(), example.target or "", others=example.targets[1:])


def _varied(ranked: Sequence[Row], count: int) -> list[Row]:
    """Some from all over the ranking: the best, the worst, and what lies between."""
    if len(ranked) <= count:
        return list(ranked)
    return [ranked[round(index * (len(ranked) - 1) / (count - 1))] for index in range(count)]


def _facts(run: RunFolder, measured_on: str) -> list[tuple[str, str]]:
    counters = run.counters() or {}
    return [
        ("parameters", f"{run.num_parameters:,}"),
        ("examples", ", ".join(f"{number:,} {name}" for name, number in run.facts["examples"].items())),
        (
            "steps",
            f"{counters.get('step', 0):,} ({counters.get('finished') or 'unfinished'}), best {counters.get('best_step', 0):,}",
        ),
        (
            "training time",
            f"{counters.get('seconds', 0.0) / 60:.1f} minutes on {_threads(run.facts['threads'])}, {run.facts['precision']}",
        ),
        ("measured on", measured_on),
        ("versions", ", ".join(f"{name} {version}" for name, version in run.facts["versions"].items())),
    ]


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _notes(run: RunFolder) -> list[str]:
    validations = [record for record in run.metrics() if record["kind"] == "validation"]
    if not validations:
        return ["This run has not been validated yet."]
    if not validations[-1]["uses_source"]:
        return ["The model does not use its source: with wrong sources its loss is nearly the same."]
    last = validations[-1]
    return [f"The model uses its source: loss {last['loss']:.4f}, with wrong sources {_number(last['shuffled_loss'])}."]


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"


def _panels(run: RunFolder, names: Sequence[str]) -> list[Panel]:
    records = run.metrics()
    train = [record for record in records if record["kind"] == "train"]
    validation = [record for record in records if record["kind"] == "validation"]
    panels = [Panel("Loss per symbol", {"training": _points(train, "loss"), "validation": _points(validation, "loss")})]
    curves = {name: points for name in names if (points := _points(validation, name))}
    for better, title in ((True, "Validation, higher is better"), (False, "Validation, lower is better")):
        remaining = iter((name, points) for name, points in curves.items() if HIGHER_IS_BETTER[name] == better)
        while some := dict(islice(remaining, MOST_CURVES)):
            panels.append(Panel(title, some))
    return [*panels, Panel("Learning rate", {"learning rate": _points(train, "learning_rate")})]


def _points(records: Sequence[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    return [(record["step"], record[name]) for record in records if record.get(name) is not None]


def _validation_rows(run: RunFolder, names: Sequence[str]) -> list[dict[str, float | str]]:
    wanted = ("step", "seconds", "loss", "shuffled_loss", *names)
    return [
        {name: record[name] for name in wanted if record.get(name) is not None}
        for record in run.metrics()
        if record["kind"] == "validation"
    ]
