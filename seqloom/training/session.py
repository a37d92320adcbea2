"""From a recipe to a finished run: prepare the data, open or make the run folder, train, write the model card."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from seqloom.backends import open_vocabularies
from seqloom.data.corpus import Corpus, SplitName
from seqloom.data.examples import Example, grouped
from seqloom.data.media import Frontend
from seqloom.data.media_store import StoredFrontend
from seqloom.data.prepared import TARGET, Prepared, PreparedSplit, prepare
from seqloom.errors import DataError, RecipeError, RunError, UsageError
from seqloom.inputs import Reader
from seqloom.metrics import NotComputedError, absence, silence
from seqloom.models.encoder_decoder import EncoderDecoder, build_model
from seqloom.models.frontends import build_frontends
from seqloom.models.weights import choose_device
from seqloom.recipe import Recipe, differences, jars, read_recipe, recipe_from
from seqloom.recipe.sections import Aligned, AnySource, AnyVocabulary, Files, FileSource, Named, TextSource, VocabularyFile
from seqloom.runs import RunFolder
from seqloom.training.card import model_card
from seqloom.training.display import Display, SilentDisplay
from seqloom.training.loop import Progress, fit
from seqloom.training.machine import Precision, choose_precision, choose_threads, computing, describe
from seqloom.training.timing import as_decided, fitted, measure_pace, timing_seconds
from seqloom.training.validation import Judge, PairJudge, TextJudge


@dataclass(frozen=True)
class Outcome:
    """How a call of `train` ended. finished: why the training is complete; empty if it was interrupted before."""

    path: Path
    step: int
    seconds: float
    metric: str
    best: float
    finished: str


def train(
    recipe: Recipe | Mapping[str, Any] | str | Path,
    out: str | Path,
    *,
    display: Display | None = None,
    minutes: float | None = None,
) -> Outcome:
    """Train a recipe into a run folder, from the start or from where an unfinished run stopped.

    minutes: train so long, with as many updates as fit. That is decided when the run begins, and stands in its recipe.
    """
    watched = display or SilentDisplay()
    wanted = with_absolute_paths(_recipe(recipe))
    _require_metric(wanted)
    path = Path(out)
    there = RunFolder.open(path) if RunFolder.exists_at(path) else None
    if there is not None:
        wanted = _as_begun(there, wanted, minutes)
        _require_same_recipe(there, wanted)
    known = open_vocabularies(there) if there is not None else None
    frontends = build_frontends(wanted)
    prepared = prepare(
        Corpus(wanted.data, wanted.seed),
        watched.preparing,
        vocabularies=known,
        frontends=frontends,
        tell_apart=wanted.copies,
    )
    _require_examples(prepared)
    _require_symbols(wanted, prepared)
    if there is None and minutes is not None:
        wanted = _fitted(wanted, prepared, frontends, minutes, watched)
    run = there or _create(path, wanted, prepared, minutes)
    with run.locked():
        _require_same_data(run, prepared)
        return _train(run, prepared, frontends, watched)


def _train(run: RunFolder, prepared: Prepared, frontends: Mapping[str, Frontend], display: Display) -> Outcome:
    recipe = run.recipe
    counters = run.counters()
    if counters is not None and counters["finished"]:
        display.say(f"{run.path}: this run is finished ({counters['finished']}). For another one, choose another --out")
        return _outcome(run, Progress(**counters))
    precision: Precision = run.facts["precision"]
    sizes = {name: vocabulary.size for name, vocabulary in prepared.vocabularies.items()}
    model = build_model(recipe, sizes).to(choose_device(recipe.device))
    display.say(_greeting(recipe, prepared, model, precision, run))
    if prepared.splits.keys() >= {"test"} and not len(prepared.splits["test"]):
        display.say(f"warning: there are no test examples{_remedy('test', prepared.splits['test'])}")
    judge = _judge(recipe, prepared, frontends)
    if warning := _silent_metric(recipe, judge):
        display.say(warning)
    with computing(int(run.facts["threads"])), _stops_politely() as stop_wanted:
        progress = fit(
            model,
            prepared.splits["train"],
            recipe,
            run,
            judge,
            display,
            precision=precision,
            stop_wanted=stop_wanted,
        )
    if progress.finished:
        run.write_text("model-card.md", model_card(run, model, prepared))
    return _outcome(run, progress)


def _outcome(run: RunFolder, progress: Progress) -> Outcome:
    metric = run.recipe.training.validation.metric
    return Outcome(run.path, progress.step, progress.seconds, metric, progress.best, progress.finished)


def _recipe(recipe: Recipe | Mapping[str, Any] | str | Path) -> Recipe:
    match recipe:
        case Recipe():
            return recipe
        case Mapping():
            return recipe_from(recipe)
        case _:
            return read_recipe(Path(recipe))


def with_absolute_paths(recipe: Recipe) -> Recipe:
    """The recipe with whole paths of its files, so that a run can be resumed and evaluated from any folder."""
    data = recipe.data
    files: dict[str, Any] = {
        split: _absolute(getattr(data, split)) for split in ("train", "validation", "test") if getattr(data, split)
    }
    own = {side: _with_absolute_file(getattr(data.vocabularies, side)) for side in ("source", "target")}
    files["vocabularies"] = data.vocabularies.model_copy(update=own)
    files["sources"] = Named({name: _with_absolute_root(source) for name, source in data.sources.items()})
    return recipe.model_copy(update={"data": data.model_copy(update=files)})


def _with_absolute_file(vocabulary: AnyVocabulary) -> AnyVocabulary:
    if isinstance(vocabulary, VocabularyFile):
        return vocabulary.model_copy(update={"file": _absolute(vocabulary.file)})
    return vocabulary


def _with_absolute_root(source: AnySource) -> AnySource:
    match source:
        case FileSource(root=str(root)):
            return source.model_copy(update={"root": _absolute(root)})
        case TextSource(vocabulary=VocabularyFile() as vocabulary):
            return source.model_copy(update={"vocabulary": _with_absolute_file(vocabulary)})
        case _:
            return source


def _absolute(files: Files) -> Files:
    match files:
        case Aligned(source=source, target=target):
            return Aligned.model_validate({"source": _absolute(source), "target": _absolute(target)})
        case str():
            return str(Path(files).resolve())
        case _:
            return tuple(str(Path(one).resolve()) for one in files)


def _as_begun(run: RunFolder, wanted: Recipe, minutes: float | None) -> Recipe:
    """What is wanted of a run that was begun for some minutes is what was decided then."""
    if minutes is None:
        return wanted
    begun = run.facts.get("minutes")
    if begun != minutes:
        raise RunError(
            f"{run.path}: this run was begun {f'for {begun:g} minutes' if begun else 'without a limit in minutes'}, and the "
            f"number of updates is settled. Go on {f'with the same --minutes {begun:g}' if begun else 'without it'}, or choose "
            "another --out"
        )
    return as_decided(wanted, run.recipe)


def _fitted(recipe: Recipe, prepared: Prepared, frontends: Mapping[str, Frontend], minutes: float, display: Display) -> Recipe:
    """The recipe with as many updates as fit into the minutes, some of which timing takes."""
    limit = timing_seconds(minutes)
    began = time.monotonic()
    precision = choose_precision(recipe.training.precision, choose_device(recipe.device))
    with computing(choose_threads(recipe.training.threads)):
        pace = measure_pace(recipe, prepared, _judge(recipe, prepared, frontends), precision, at_most=limit)
    decided = fitted(recipe, pace, 60 * minutes - (time.monotonic() - began))
    training = decided.training
    display.say(
        f"{minutes:g} minutes: an update takes {pace.update:.3g} s and a validation {pace.validation:.3g} s, so there are "
        f"{training.steps:,} updates ({(training.steps or 0) / pace.steps_per_epoch:.3g} epochs), and a validation every "
        f"{training.validation.every_steps:,}"
    )
    return decided


def _create(path: Path, recipe: Recipe, prepared: Prepared, minutes: float | None) -> RunFolder:
    facts: dict[str, Any] = {
        "versions": describe(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "fingerprint": prepared.fingerprint,
        "threads": choose_threads(recipe.training.threads),
        "precision": choose_precision(recipe.training.precision, choose_device(recipe.device)),
        "examples": {name: len(split) for name, split in prepared.splits.items()},
        "unknown_targets": prepared.unknown_targets,
        **({} if minutes is None else {"minutes": minutes}),
    }
    texts = {name: vocabulary.to_json() for name, vocabulary in prepared.vocabularies.items()}
    return RunFolder.create(path, recipe, texts, facts)


def _require_same_recipe(run: RunFolder, wanted: Recipe) -> None:
    changed = differences(run.recipe, wanted)
    if changed:
        raise RunError(
            f"{run.path}: holds a run of another recipe, so it cannot go on with this one. Differences (run -> now):\n  "
            + "\n  ".join(changed)
            + "\nUse the same recipe, or choose another --out"
        )


def _require_same_data(run: RunFolder, prepared: Prepared) -> None:
    if run.facts["fingerprint"] != prepared.fingerprint:
        raise RunError(
            f"{run.path}: its data has changed since the run was started (content hash {run.facts['fingerprint'][:12]} then, "
            f"{prepared.fingerprint[:12]} now). Restore the data, or choose another --out"
        )


def _require_examples(prepared: Prepared) -> None:
    needed: tuple[SplitName, ...] = ("train", "validation")
    for name in needed:
        split = prepared.splits.get(name)
        if split is None or not len(split):
            raise DataError(f"there are no {name} examples{_remedy(name, split)}")


def _remedy(name: SplitName, split: PreparedSplit | None) -> str:
    if split is not None and split.dropped:
        return f": all {split.dropped} are longer than data.maximum_length. Raise it, or give shorter ones"
    if name == "train":
        return ". Give more data, or lower data.split, which takes validation and test from it"
    return f". Give more data, name a file in data.{name}, or raise data.split.{name}"


def _require_symbols(recipe: Recipe, prepared: Prepared) -> None:
    """What may not be written must be known; to find out at the first validation would be late."""
    for symbol in recipe.search.forbid:
        try:
            prepared.vocabularies[TARGET].find(symbol)
        except UsageError as problem:
            raise RecipeError(f"search.forbid: {problem}") from problem


def _judge(recipe: Recipe, prepared: Prepared, frontends: Mapping[str, Frontend]) -> Judge:
    if recipe.is_language_model:
        return TextJudge(recipe, prepared)
    examples: Iterable[Example] = Corpus(recipe.data, recipe.seed).examples("validation")
    # What is too long to be read would end the training at its first validation.
    reader = Reader(recipe.data, prepared.vocabularies, {}, {}, tell_apart=recipe.copies)
    examples = filter(reader.fits, examples)
    if recipe.data.groups_references:
        examples = grouped(examples)
    stored = {name: StoredFrontend(frontend) for name, frontend in frontends.items()}
    return PairJudge(recipe, prepared, list(islice(examples, recipe.training.validation.examples)), stored)


def _require_metric(recipe: Recipe) -> None:
    metric = recipe.training.validation.metric
    if reason := absence(metric):
        raise NotComputedError(f"training.validation.metric is {metric}, but {reason}")


def _silent_metric(recipe: Recipe, judge: Judge) -> str:
    """Warn of a metric that cannot improve on this data: early stopping would take the first weights for the best."""
    metric = recipe.training.validation.metric
    if metric == "loss" or not isinstance(judge, PairJudge):
        return ""
    reason = silence(metric, [example.targets for example in judge.examples])
    return reason and (
        f"warning: training.validation.metric is {metric}, but {reason}, and no weights would count as better than the first. "
        "Choose another one: --set training.validation.metric=cer"
    )


def _greeting(recipe: Recipe, prepared: Prepared, model: EncoderDecoder, precision: Precision, run: RunFolder) -> str:
    counts = ", ".join(f"{len(split):,} {name}" for name, split in prepared.splits.items())
    dropped = sum(split.dropped for split in prepared.splits.values())
    too_long = f" ({dropped:,} longer than {recipe.data.maximum_length} symbols left out)" if dropped else ""
    sizes = ", ".join(f"{vocabulary.size:,} {name}" for name, vocabulary in prepared.vocabularies.items())
    words = dict(jars(recipe))
    return (
        f"model: {words['model']}\nlearning: {words['learning algorithm']}\n"
        f"examples: {counts}{too_long}; symbols: {sizes}; parameters: {model.num_parameters:,}; "
        f"{precision} on {model.device}, threads: {run.facts['threads']}"
    )


@contextmanager
def _stops_politely() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C, or a request to terminate, into a wish that the loop grants between two steps."""
    wanted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield wanted.is_set
        return

    def wish(number: int, frame: object) -> None:  # noqa: ARG001
        if wanted.is_set():
            raise KeyboardInterrupt
        wanted.set()

    previous = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wanted.is_set
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
