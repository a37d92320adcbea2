"""Captions of drawn scenes and questions about them: train a recipe of the package, measure it, print a row.

    python benchmarks/scenes.py soft --runs RUNS
    python benchmarks/scenes.py hard --runs RUNS --threads 2 --seed 2
    python benchmarks/scenes.py questions --runs RUNS

soft and hard are the recipe `scenes` with either attention, questions is `scene-questions`. Measured on pictures of known
combinations of size, colour and shape (validation), and on pictures with one that training never shows (test); pointing is the
share of words for a thing that were written looking at it. A run that was interrupted goes on. The row is printed as JSON and
as a line of docs/results.md.
"""

import argparse
from pathlib import Path

from runs import Found, report

from seqloom.cli.demo_captions import describe, measure_captions
from seqloom.cli.recipes import find_recipe
from seqloom.predict import Predictor
from seqloom.recipe import read_recipe
from seqloom.training.machine import choose_threads

SCORE = "{kind: projected, size: 64, nonlinearity: none, scaled: true}"
HARD = f"model.bridge.attention={{kind: hard, soft_share: 0.8, score: {SCORE}}}"
"""Among 256 places draws seldom hit a thing at first, so most pictures are read softly."""

RECIPES: dict[str, tuple[str, list[str]]] = {
    "soft": ("scenes", []),
    "hard": ("scenes", [HARD]),
    "questions": ("scene-questions", []),
}
"""The recipe of each name, and what is changed in it."""


def measure(name: str, run: Path) -> Found:
    """What is reported of a finished run."""
    predictor = Predictor.load(run)
    found = measure_captions(describe(predictor, "validation"), describe(predictor, "test"))
    return found if name != "questions" else {key: value for key, value in found.items() if "match" in key}


def figures(found: Found) -> str:
    """Exact match on known and new combinations, and pointing, if it was measured."""
    pointing = f"{found['pointing']:.2f} ({found['pointing_by_chance']:.2f})" if "pointing" in found else ""
    return f"{found['exact_match_known']:.2f} | {found['exact_match_new']:.2f} | {pointing}"


def main() -> None:
    """Train or pick up a run, then measure it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=RECIPES)
    parser.add_argument("--runs", type=Path, required=True, help="where run folders are kept")
    parser.add_argument("--threads", type=int, default=choose_threads(None))
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    name, changes = RECIPES[wanted.name]
    recipe = read_recipe(find_recipe(name), [*changes, f"training.threads={wanted.threads}", f"seed={wanted.seed}"])
    out = wanted.runs / f"scenes-{wanted.name}-{wanted.seed}"
    report(wanted.name, recipe, out, measure=lambda run: measure(wanted.name, run), figures=figures)


if __name__ == "__main__":
    main()
