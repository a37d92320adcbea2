"""What benchmarks of trained models share: training or picking up a run, and printing what was found as a row."""

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seqloom.recipe.sections import Recipe
from seqloom.runs import RunFolder
from seqloom.training.machine import choose_threads
from seqloom.training.reporting.display import open_display
from seqloom.training.session import Outcome, train

Found = dict[str, Any]


def arguments(description: str | None, *, needs_data: bool = True) -> argparse.ArgumentParser:
    """What all benchmarks of trained models are told: where data and runs are, and what to change in recipes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=needs_data, help="the folder of the data, as the examples above have it")
    parser.add_argument("--runs", type=Path, required=True, help="where run folders and tables are kept")
    parser.add_argument("--threads", type=int, default=choose_threads(None))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the recipe further")
    return parser


def add_minutes(parser: argparse.ArgumentParser) -> None:
    """Let a command be told how long to train."""
    parser.add_argument("--minutes", type=float, help="train so long: a few updates are timed, and as many are made as fit")


def add_ensemble(parser: argparse.ArgumentParser) -> None:
    """Let a command be told that several models vote."""
    parser.add_argument("--ensemble", type=int, default=1, metavar="N", help="so many models, of seeds 1 to N, vote")


def voters(recipe: Callable[[int], Recipe], out: Path, count: int, *, minutes: float | None = None) -> list[Path]:
    """Train or pick up models of seeds 1 to `count`: the first at `out`, the others beside it. recipe: that of a seed."""
    places = [out, *(out.with_name(f"{out.name}-{seed}") for seed in range(2, count + 1))]
    return [trained(recipe(seed), place, minutes=minutes).path for seed, place in enumerate(places, start=1)]


def trained(recipe: Recipe, out: Path, *, minutes: float | None = None) -> Outcome:
    """Train, go on from the last checkpoint, or pick up a finished run. minutes: train so long, in place of all epochs.

    A stop that was asked for (Ctrl-C, SIGTERM) ends the whole command, as `seqloom train` would, not one run of several.
    """
    display = open_display()
    try:
        outcome = train(recipe, out, display=display, minutes=minutes)
    finally:
        display.closed()
    if not outcome.finished:
        print(f"{out}: stopped at step {outcome.step:,}; the same command goes on there", file=sys.stderr)
        raise SystemExit(130)
    return outcome


def report(
    name: str,
    recipe: Recipe,
    out: Path,
    *,
    measure: Callable[[Path], Found],
    figures: Callable[[Found], str],
    minutes: float | None = None,
) -> None:
    """Train or pick up a run, measure it and print the row, as JSON and as a line of docs/results.md.

    figures: the cells of the line that say how good the model is. minutes: train so long, in place of all epochs.
    """
    path = trained(recipe, out, minutes=minutes).path
    found = {"name": name, **measure(path), **_facts(path)}
    print(json.dumps(found))
    print(_line(found, figures(found)))


def _facts(path: Path) -> Found:
    """What every row says of its run."""
    run = RunFolder.open(path)
    counters = run.counters() or {}
    return {
        "parameters": run.num_parameters,
        "steps": counters["step"],
        "minutes": round(counters["seconds"] / 60, 1),
        "threads": run.facts["threads"],
        "seed": run.recipe.seed,
        "date": datetime.now(UTC).date().isoformat(),
    }


def _line(found: Found, figures: str) -> str:
    facts = f"{found['minutes']} | {found['threads']} | {found['seed']} | {found['date']}"
    return f"| {found['name']} | {found['parameters']:,} | {figures} | {facts} |"
