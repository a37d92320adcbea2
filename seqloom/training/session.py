"""From a recipe to a finished run: prepare the data, open or make the run folder, train, write the model card."""

import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqloom.data.examples import evenly_taken, grouped
from seqloom.data.media.files import Frontend
from seqloom.data.media.store import StoredFrontend
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import Prepared, prepare
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.data.preparing.splitting import SplitName
from seqloom.data.unseen import unseen_sentences
from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import DataError, RecipeError, RunError, UsageError
from seqloom.metrics import NotComputedError, absence, better, silence
from seqloom.models.encoder_decoder import EncoderDecoder, build_model
from seqloom.models.encoders.frontends import build_frontends, frontend_variants
from seqloom.models.weights import choose_device, load_weight_arrays, weight_arrays
from seqloom.prediction.backends import open_vocabularies
from seqloom.prediction.inputs import Reader
from seqloom.recipe import Recipe, differences, jars, read_recipe, recipe_from
from seqloom.recipe.sections import TARGET
from seqloom.runs import RunFacts, RunFolder
from seqloom.runs.seeds import SeedFolder
from seqloom.training.absolute_paths import with_absolute_paths
from seqloom.training.loop import TrainingState, fit
from seqloom.training.machine import Precision, choose_precision, choose_threads, computing, describe
from seqloom.training.reporting.display import Display, SilentDisplay
from seqloom.training.reporting.model_card import model_card
from seqloom.training.signals import stops_politely
from seqloom.training.timing import as_decided, fitted, measure_pace, timing_seconds
from seqloom.training.validation import PairValidator, TextValidator, Validator
from seqloom.training.weights.kept_snapshots import tidy
from seqloom.training.weights.parts import factors_of
from seqloom.training.weights.starting import OpenedStart, StartingRun


@dataclass(frozen=True)
class Outcome:
    """How a call of `train` ended. finished: why the training is complete; empty if it was interrupted before."""

    path: Path
    step: int
    seconds: float
    metric: str
    best: float
    finished: str
    members: tuple["Outcome", ...] = ()
    """Those of the single runs, where several seeds were trained; `best` is then the best of theirs, the others their sums."""


@dataclass(frozen=True)
class _Material:
    """What a training learns from. frontends: what makes arrays of the sources that are files. start: another run's weights."""

    prepared: Prepared
    frontends: Mapping[str, Frontend]
    start: OpenedStart | None = None


def train(
    recipe: Recipe | Mapping[str, Any] | str | Path,
    out: str | Path,
    *,
    seeds: int | None = None,
    start: StartingRun | str | Path | None = None,
    display: Display | None = None,
    minutes: float | None = None,
) -> Outcome:
    """Train a recipe into a run folder, from the start or from where an unfinished run stopped.

    minutes: train so long, with as many updates as fit. That is decided when the run begins, and stands in its recipe.
    seeds: train so many, which differ in their seed, into numbered folders. start: a run whose weights to start with.
    """
    watched = display or SilentDisplay()
    wanted = with_absolute_paths(_recipe(recipe))
    _require_metric(wanted)
    wish = StartingRun(Path(start)) if isinstance(start, str | Path) else start
    if wish is not None and wish.path.resolve() == Path(out).resolve():
        raise UsageError(f"{out}: a run cannot start from itself. Choose another --out; to go on with it, leave --from out")
    if seeds is None:
        return _train_one(Path(out), wanted, wish, watched, minutes)
    if seeds < 1:
        raise UsageError(f"seeds: expected at least 1; got {seeds}")
    folder = SeedFolder.planned(Path(out), tuple(range(wanted.seed, wanted.seed + seeds)))
    return _train_several(folder, wanted, wish, watched, minutes)


def _train_one(path: Path, wanted: Recipe, wish: StartingRun | None, display: Display, minutes: float | None) -> Outcome:
    there = _opened(path, wanted, wish, minutes)
    material = _material(wanted, there, wish, display)
    if there is None and minutes is not None:
        wanted = _fitted(wanted, material.prepared, material.frontends, minutes, display)
    return _train_into(path, there, wanted, material, display, minutes)


def _train_several(
    folder: SeedFolder, wanted: Recipe, wish: StartingRun | None, display: Display, minutes: float | None
) -> Outcome:
    """Train one run after the other, on the same splits with the same vocabularies, so that they can vote."""
    seed = wanted.seed if wanted.data.seed is None else wanted.data.seed
    shared = wanted.model_copy(update={"data": wanted.data.model_copy(update={"seed": seed})})
    recipes = [shared.model_copy(update={"seed": one}) for one in folder.seeds]
    there = [_opened(path, recipe, wish, minutes) for path, recipe in zip(folder.runs, recipes, strict=True)]
    begun = next(filter(None, there), None)
    material = _material(recipes[0], begun, wish, display, new=None in there)
    if minutes is not None:  # timed once: all of them get as many updates
        timed = begun.recipe if begun else _fitted(recipes[0], material.prepared, material.frontends, minutes, display)
        recipes = [as_decided(recipe, timed) for recipe in recipes]
    folder.write()
    outcomes = []
    for number, (path, run, recipe) in enumerate(zip(folder.runs, there, recipes, strict=True), start=1):
        display.say(f"model {number} of {len(recipes)}, seed {recipe.seed}: {path}")
        outcomes.append(_train_into(path, run, recipe, material, display, minutes))
        if not outcomes[-1].finished:
            break
    return _together(folder, outcomes)


def _together(folder: SeedFolder, outcomes: Sequence[Outcome]) -> Outcome:
    """How the training of several runs ended, of which the last ones may not have begun."""
    complete = len(outcomes) == len(folder.runs) and all(one.finished for one in outcomes)
    best = math.nan
    for one in outcomes:
        best = one.best if better(one.metric, one.best, best) else best
    return Outcome(
        folder.path,
        sum(one.step for one in outcomes),
        sum(one.seconds for one in outcomes),
        outcomes[0].metric,
        best,
        f"all {len(outcomes)} runs are finished" if complete else "",
        tuple(outcomes),
    )


def _opened(path: Path, wanted: Recipe, wish: StartingRun | None, minutes: float | None) -> RunFolder | None:
    """The run at a path, if there is one; it must be one of this recipe, and of this start if one is wanted."""
    if not RunFolder.exists_at(path):
        return None
    run = RunFolder.open(path)
    _require_same_recipe(run, _as_begun(run, wanted, minutes))
    if wish is not None:
        wish.require_same(run)
    return run


def _material(
    wanted: Recipe, there: RunFolder | None, wish: StartingRun | None, display: Display, *, new: bool | None = None
) -> _Material:
    """Prepare the data. there: a run that goes on, whose vocabularies it has. new: whether a run has to be made."""
    is_new = there is None if new is None else new
    start = wish.opened(wanted) if wish is not None and is_new else None
    known, grow = (open_vocabularies(there), False) if there is not None else (None, False)
    if there is None and start is not None and start.keeps_vocabularies:
        known, grow = {name: start.vocabularies[name] for name in wanted.data.symbol_sides}, True
    prepared, frontends = prepare_data(wanted, display, known, grow=grow)
    return _Material(prepared, frontends, start)


def prepare_data(
    recipe: Recipe, display: Display, vocabularies: Mapping[str, Vocabulary] | None, *, grow: bool = False
) -> tuple[Prepared, dict[str, Frontend]]:
    """The data of a recipe, checked, and what makes arrays of its files. vocabularies, grow: as `prepare` has them."""
    frontends = build_frontends(recipe)
    prepared = prepare(
        Corpus(recipe.data, recipe.seed),
        display.preparing,
        vocabularies=vocabularies,
        grow=grow,
        frontends=frontends,
        variants=frontend_variants(recipe),
        tell_apart=recipe.copied,
    )
    _require_examples(prepared)
    _require_symbols(recipe, prepared)
    return prepared, frontends


def _train_into(
    path: Path, there: RunFolder | None, wanted: Recipe, material: _Material, display: Display, minutes: float | None
) -> Outcome:
    run = there or _create(path, wanted, material, display, minutes)
    with run.locked():
        require_same_data(run, material.prepared)
        return _train(run, material.prepared, material.frontends, display)


def _train(run: RunFolder, prepared: Prepared, frontends: Mapping[str, Frontend], display: Display) -> Outcome:
    recipe = run.recipe
    counters = run.counters()
    if counters is not None and counters["finished"]:
        tidy(run)
        display.say(f"{run.path}: this run is finished ({counters['finished']}). For another one, choose another --out")
        return _outcome(run, TrainingState(**counters))
    precision: Precision = run.facts["precision"]
    model = build_model(recipe, prepared.sizes)
    if counters is None and (begun := run.load_start()) is not None:
        load_weight_arrays(model, begun, where=f"the start of {run.path}")
    model = model.to(choose_device(recipe.device))
    display.say(_greeting(recipe, prepared, model, precision, run))
    if prepared.splits.keys() >= {"test"} and not len(prepared.splits["test"]):
        display.say(f"warning: there are no test examples{_remedy('test', prepared.splits['test'])}")
    validator = build_validator(recipe, prepared, frontends)
    for warning in _warnings(recipe, validator, prepared):
        display.say(f"warning: {warning}")
    with computing(int(run.facts["threads"])), stops_politely() as stop_wanted:
        progress = fit(
            model,
            prepared.splits["train"],
            recipe,
            run,
            validator,
            display,
            precision=precision,
            stop_wanted=stop_wanted,
        )
    if progress.finished:
        run.write_text("model-card.md", model_card(run, model, prepared))
    return _outcome(run, progress)


def _outcome(run: RunFolder, progress: TrainingState) -> Outcome:
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
        pace = measure_pace(recipe, prepared, build_validator(recipe, prepared, frontends), precision, at_most=limit)
    decided = fitted(recipe, pace, 60 * minutes - (time.monotonic() - began))
    training = decided.training
    display.say(
        f"{minutes:g} minutes: an update takes {pace.update:.3g} s and a validation {pace.validation:.3g} s, so there are "
        f"{training.steps:,} updates ({(training.steps or 0) / pace.steps_per_epoch:.3g} epochs), and a validation every "
        f"{training.validation.every_steps:,}"
    )
    return decided


def _create(path: Path, recipe: Recipe, material: _Material, display: Display, minutes: float | None) -> RunFolder:
    prepared = material.prepared
    facts: RunFacts = {
        "versions": describe(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "fingerprint": prepared.fingerprint,
        "data": Corpus(recipe.data, recipe.seed).hashes(),
        "threads": choose_threads(recipe.training.threads),
        "precision": choose_precision(recipe.training.precision, choose_device(recipe.device)),
        "examples": {name: len(split) for name, split in prepared.splits.items()},
        "unknown_targets": prepared.unknown_targets,
    }
    if minutes is not None:
        facts["minutes"] = minutes
    texts = {name: vocabulary.to_json() for name, vocabulary in prepared.vocabularies.items()}
    begun: dict[str, Any] = {}
    if material.start is not None or recipe.training.rates:
        model = build_model(recipe, prepared.sizes)
        factors_of(weight_arrays(model), recipe.training.rates)  # refuses parts that there are not
        if material.start is not None:
            taken = material.start.put_into(model, prepared.vocabularies)
            display.say(taken.sentence(material.start.path))
            begun = weight_arrays(model)
            facts["start"] = material.start.facts(begun, taken)
    return RunFolder.create(path, recipe, texts, facts, fill=lambda run: run.save_start(begun) if begun else None)


def _require_same_recipe(run: RunFolder, wanted: Recipe) -> None:
    changed = differences(run.recipe, wanted)
    if changed:
        raise RunError(
            f"{run.path}: holds a run of another recipe, so it cannot go on with this one. Differences (run -> now):\n  "
            + "\n  ".join(changed)
            + "\nUse the same recipe, or choose another --out"
        )


def require_same_data(run: RunFolder, prepared: Prepared) -> None:
    """Refuse data that is not what a run was made with."""
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
        return (
            f": all {split.dropped} are longer than data.maximum_length. Raise it (of files, `longest`), or give shorter ones"
        )
    if name == "train":
        return ". Give more data, or lower data.split, which takes validation and test from it"
    return f". Give more data, name a file in data.{name}, or raise data.split.{name}"


def _require_symbols(recipe: Recipe, prepared: Prepared) -> None:
    """What may not be written, or has a bias, must be known; to find out at the first validation would be late."""
    for key, symbols in (("forbid", recipe.search.forbid), ("bias", recipe.search.bias)):
        for symbol in symbols:
            try:
                prepared.vocabularies[TARGET].find(symbol)
            except UsageError as problem:
                raise RecipeError(f"search.{key}: {problem}") from problem


def build_validator(recipe: Recipe, prepared: Prepared, frontends: Mapping[str, Frontend]) -> Validator:
    """What judges models of a recipe."""
    if recipe.is_language_model:
        return TextValidator(recipe, prepared)
    # What is too long to be read would end the training at its first validation.
    reader = Reader(recipe.data, prepared.vocabularies, {}, {}, tell_apart=recipe.copied)
    fitting = list(filter(reader.fits, prepared.validation_examples()))
    judged = evenly_taken(grouped(fitting) if recipe.data.groups_references else fitting, recipe.training.validation.examples)
    stored = {name: StoredFrontend(frontend) for name, frontend in frontends.items()}
    return PairValidator(recipe, prepared, judged, stored)


def _require_metric(recipe: Recipe) -> None:
    metric = recipe.training.validation.metric
    if reason := absence(metric):
        raise NotComputedError(f"training.validation.metric is {metric}, but {reason}")


def _warnings(recipe: Recipe, validator: Validator, prepared: Prepared) -> Iterator[str]:
    """Warn of validation examples that no output can be right for, and of a metric that cannot improve on this data.

    Early stopping would take the first weights for the best.
    """
    if not isinstance(validator, PairValidator):
        return
    yield from unseen_sentences(validator.examples, prepared.vocabularies, recipe.data.text_sources)
    metric = recipe.training.validation.metric
    if metric != "loss" and (reason := silence(metric, [example.targets for example in validator.examples])):
        yield (
            f"training.validation.metric is {metric}, but {reason}, and no weights would count as better than the first. "
            "Choose another one: --set training.validation.metric=cer"
        )


def _greeting(recipe: Recipe, prepared: Prepared, model: EncoderDecoder, precision: Precision, run: RunFolder) -> str:
    counts = ", ".join(f"{len(split):,} {name}" for name, split in prepared.splits.items())
    dropped = sum(split.dropped for split in prepared.splits.values())
    too_long = f" ({dropped:,} longer than {recipe.data.limits_in_words} left out)" if dropped else ""
    cut = sum(split.cut for split in prepared.splits.values())
    too_long += f" (of {cut:,} only the first symbols are read, as data.sources says)" if cut else ""
    sizes = ", ".join(f"{vocabulary.size:,} {name}" for name, vocabulary in prepared.vocabularies.items())
    words = dict(jars(recipe))
    return (
        f"model: {words['model']}\nlearning: {words['learning algorithm']}\n"
        f"examples: {counts}{too_long}; symbols: {sizes}; parameters: {model.num_parameters:,}; "
        f"{precision} on {model.device}, threads: {run.facts['threads']}"
    )
