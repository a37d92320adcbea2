"""What the studies share: training or picking up runs, results as JSON, generated parts of pages.

A study measures, keeps what it measured in studies/results/NAME.json, and draws from that. Its page, docs/studies/NAME.md, is
written by people, except for what stands between `<!-- begin: PART -->` and `<!-- end: PART -->`. Figures are drawn with
figures.py.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seqloom.data.examples import Example
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import prepare
from seqloom.data.preparing.splitting import SplitName
from seqloom.evaluation.items import items_of
from seqloom.metrics import Item, evaluate, intervals
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import TARGET, Aligned, Files, Recipe
from seqloom.runs import RunFolder

HERE = Path(__file__).parent
RECIPES, RESULTS = HERE / "recipes", HERE / "results"
PAGES = HERE.parent / "docs" / "studies"
IMAGES = PAGES / "images"


# --- runs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run that studies need: the folder's name, the recipe's, and what is set otherwise, as after `--set`.

    start: the folder's name of a finished run with whose weights it begins.
    """

    name: str
    recipe: str
    settings: tuple[str, ...] = ()
    start: str | None = None


# Several studies use these runs: whichever comes first trains one, the others pick it up.
MULTI30K_ATTENTION = Run("multi30k-attention", "multi30k")
"""German to English with attention."""
MULTI30K_INITIAL = Run("multi30k-initial", "multi30k", ("model.bridge={kind: initial}",))
"""German to English, all through one vector."""
MEANINGS_ATTENTION = Run("meanings-attention", "meanings", ("model.bridge={kind: attention}",))
"""Sentences of the little grammar (meanings.py) to their meanings, with attention."""


@dataclass(frozen=True)
class Options:
    """What every study is told on the command line.

    show: draw what was measured before, without data or runs. finished: train nothing, and leave out what is not there.
    """

    data: Path
    runs: Path
    threads: int
    show: bool = False
    finished: bool = False


def options(description: str | None, *, needs_data: bool = True) -> Options:
    """Read the command line of a study. needs_data: it reads data sets; else it makes its data."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder that holds the data sets, each in a folder of its own")
    parser.add_argument("--runs", type=Path, help="where run folders are kept; finished ones are picked up")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--show", action="store_true", help="only draw what studies/results holds")
    parser.add_argument("--finished", action="store_true", help="train nothing; studies of many runs show those that are there")
    wanted = parser.parse_args()
    if not wanted.show and (wanted.runs is None or (needs_data and wanted.data is None)):
        needed = "--data and --runs" if needs_data else "--runs"
        parser.error(f"give {needed} to train and measure, or --show to draw what was measured")
    return Options(wanted.data or Path(), wanted.runs or Path(), wanted.threads, wanted.show, wanted.finished)


def recipe_of(run: Run, wanted: Options) -> Recipe:
    """The run's recipe, its files below the data folder."""
    recipe = read_recipe(RECIPES / f"{run.recipe}.yaml", [*run.settings, f"training.threads={wanted.threads}"])
    splits = {name: getattr(recipe.data, name) for name in ("train", "validation", "test")}
    files = {name: _below(wanted.data, files) for name, files in splits.items() if files}
    return recipe.model_copy(update={"data": recipe.data.model_copy(update=files)})


def _below(folder: Path, files: Files) -> Files:
    match files:
        case Aligned(source=source, target=target):
            return Aligned.model_validate({"source": _below(folder, source), "target": _below(folder, target)})
        case str():
            return str((folder / files).resolve())
        case _:
            return tuple(str((folder / one).resolve()) for one in files)


def trained(run: Run, wanted: Options) -> Path:
    """The folder of the finished run: picked up if it is there, else trained, from its last checkpoint if it has one."""
    from seqloom.training.reporting.display import open_display
    from seqloom.training.session import train

    out = wanted.runs / run.name
    if is_finished(run, wanted):
        return out
    if wanted.finished:
        raise SystemExit(f"{out}: not finished yet. Without --finished, it is trained")
    display = open_display()
    began = time.process_time()
    try:
        start = wanted.runs / run.start if run.start is not None else None
        outcome = train(recipe_of(run, wanted), out, display=display, start=start)
    finally:
        display.closed()
        _add_cpu_seconds(wanted.runs, run.name, time.process_time() - began)
    if not outcome.finished:
        raise SystemExit(f"{out}: interrupted at step {outcome.step}. The same command goes on from there")
    return out


def is_finished(run: Run, wanted: Options) -> bool:
    """Whether the run is there to be picked up."""
    path = wanted.runs / run.name
    return RunFolder.exists_at(path) and bool((RunFolder.open(path).counters() or {}).get("finished"))


def _add_cpu_seconds(runs: Path, name: str, seconds: float) -> None:
    """Note the processor's time beside the runs: unlike the clock's, it does not depend on what else the machine does."""
    runs.mkdir(parents=True, exist_ok=True)
    file = runs / f"{name}.cpu-seconds"
    before = float(file.read_text()) if file.exists() else 0.0
    file.write_text(f"{before + seconds:.1f}\n")


def cost(path: Path) -> dict[str, Any]:
    """What a finished run took: parameters, updates, processor minutes (validations included), target symbols a second."""
    run = RunFolder.open(path)
    counters, recipe = run.counters() or {}, run.recipe
    seconds = float((path.parent / f"{path.name}.cpu-seconds").read_text())
    return {
        "parameters": run.num_parameters,
        "steps": counters["step"],
        "cpu_minutes": round(seconds / 60, 1),
        "tokens_per_second": round(_symbols_seen(recipe, counters["step"]) / seconds),
        "threads": run.facts["threads"],
        "precision": run.facts["precision"],
        "seed": recipe.seed,
        "best_step": counters["best_step"],
        "validation": {recipe.training.validation.metric: counters["best"]},
    }


def _symbols_seen(recipe: Recipe, steps: int) -> float:
    """How many target symbols so many updates went over, `end` included."""
    from seqloom.training.plans import build_plans

    split = prepare(Corpus(recipe.data, recipe.seed)).splits["train"]
    per_epoch = float((split.lengths(TARGET) + 1).sum())
    return per_epoch * steps / build_plans(split, recipe).steps_per_epoch


def examples_of(predictor: Predictor, split: SplitName) -> list[Example]:
    """The examples of one part of the data that a run was trained on."""
    return predictor.tolerant(Corpus(predictor.recipe.data, predictor.recipe.seed).examples(split))


def outputs(path: Path, split: SplitName) -> list[Item]:
    """What a run writes for one part of its data, by its recipe's search, beside what was wanted."""
    predictor = Predictor.load(path)
    examples = examples_of(predictor, split)
    return items_of(predictor, examples, predictor.predict(examples))


def scores(items: Sequence[Item], metrics: Sequence[str]) -> dict[str, Any]:
    """What each metric says of the items, with its 95 % interval."""
    ranges = intervals(items, metrics)
    return {name: {"score": score, "interval": ranges[name]} for name, score in evaluate(items, metrics).metrics.items()}


# --- results and pages ----------------------------------------------------------------------------------------------


def results(name: str, wanted: Options, measure: Callable[[Options], dict[str, Any]]) -> dict[str, Any]:
    """What the study measured: now, or with --show what it measured last."""
    path = RESULTS / f"{name}.json"
    if wanted.show:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return kept
    began = time.process_time()
    found = measure(wanted)
    found["made"] = {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "torch": _version_of_torch(),
        "threads": wanted.threads,
        "cpu_minutes_without_training": round((time.process_time() - began) / 60, 1),
    }
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _version_of_torch() -> str:
    import torch

    return str(torch.__version__)


def write_page(name: str, parts: Mapping[str, str]) -> None:
    """Put the generated parts between their marks in the study's page; what people wrote around them stays.

    A page that is not there yet begins with the parts one after the other.
    """
    path = PAGES / f"{name}.md"
    PAGES.mkdir(parents=True, exist_ok=True)
    page = path.read_text(encoding="utf-8") if path.exists() else f"# {name.capitalize()}\n"
    for part, content in parts.items():
        begin, end = f"<!-- begin: {part} -->", f"<!-- end: {part} -->"
        if begin not in page:
            page = f"{page}\n{begin}{end}\n"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{content.strip()}\n{end}{after}"
    path.write_text(page, encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def with_interval(one: Mapping[str, Any]) -> str:
    """One of `scores` as a cell of a table."""
    low, high = one["interval"]
    return f"{one['score']:.1f} ({low:.1f}-{high:.1f})"


def cost_table(costs: Mapping[str, Any], head: Sequence[str], further: Mapping[str, Sequence[object]]) -> str:
    """What each run took, by its name. head, further: columns behind, and what stands there."""
    rows = [
        [f"`{name}`", f"{one['parameters']:,}", f"{one['steps']:,}", one["cpu_minutes"], one["seed"], *further[name]]
        for name, one in costs.items()
    ]
    return table(["run", "parameters", "updates", "minutes", "seed", *head], rows)


def made(name: str, found: Mapping[str, Any]) -> str:
    """The sentence that says how the figures of a page came about."""
    how = found["made"]
    return (
        f"`python studies/{name}.py --data DATA --runs RUNS --threads {how['threads']}`, {how['date']}: {how['processor']}, "
        f"threads: {how['threads']}, torch {how['torch']}. Minutes are the processor's, validations included."
    )


def save_figure(name: str, svg: str, description: str) -> str:
    """Write a figure beside the pages; returns the Markdown that shows it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")
    return f"![{description}](images/{name}.svg)"
