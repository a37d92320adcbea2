"""Captions of drawn scenes and questions about them: train a recipe of the package, measure it, print a row.

    python benchmarks/scenes.py soft --runs RUNS
    python benchmarks/scenes.py hard --runs RUNS --threads 2 --seed 2
    python benchmarks/scenes.py questions --runs RUNS

soft and hard are the recipe `scenes` with either attention, questions is `scene-questions`. Measured on pictures of known
combinations of size, colour and shape (validation), and on pictures with one that training never shows (test); pointing is the
share of words for a thing that were written looking at it. The JSON also counts the new pictures that are described
wrongly, by relation and, of things alone, by combination. A run that was interrupted goes on. The row is printed as JSON and
as a line of docs/results.md.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from runs import Found, report

from seqloom.cli.demo_captions import describe, measure_captions
from seqloom.cli.recipes import find_recipe
from seqloom.data.builtin.scenes import scene
from seqloom.data.builtin.scenes.splits import number_of
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.training.machine import choose_threads

HARD = (
    "model.bridge.attention={kind: hard, soft_share: 0.8, score: {kind: projected, size: 64, nonlinearity: none, scaled: true}}"
)
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
    new = describe(predictor, "test")
    found = measure_captions(describe(predictor, "validation"), new)
    if name == "questions":
        return {key: value for key, value in found.items() if "match" in key}
    drawn = [(scene(number_of(example.sources["image"])), prediction.text) for prediction, example in new]
    return {
        **found,
        "wrong_by_relation": wrong((one.relation or "alone", text != one.caption) for one, text in drawn),
        "wrong_alone": wrong((one.caption, text != one.caption) for one, text in drawn if one.relation is None),
    }


def wrong(cases: Iterable[tuple[str, bool]]) -> dict[str, str]:
    """How many pictures of each kind are described wrongly, of how many."""
    counts: dict[str, list[int]] = {}
    for kind, is_wrong in cases:
        count = counts.setdefault(kind, [0, 0])
        count[0] += is_wrong
        count[1] += 1
    return {kind: f"{bad} of {all_}" for kind, (bad, all_) in sorted(counts.items())}


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
