"""Whether training in bfloat16 costs quality: the built-in task `dates` in both precisions, three seeds each.

    python benchmarks/precision.py --runs RUNS [--seeds 1 2 3] [--threads 2]

On a processor without bfloat16 products the factors are rounded and multiplied in float32: the same numbers, no speed.
"""

import argparse
import json
import os
import statistics
from pathlib import Path
from typing import Any

from runs import trained

from seqloom.cli.recipes import find_recipe
from seqloom.data.preparing.corpus import Corpus
from seqloom.evaluation.items import items_of
from seqloom.metrics import evaluate
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.runs import RunFolder

PRECISIONS = ("fp32", "bf16")


def measure(precision: str, seed: int, wanted: argparse.Namespace) -> dict[str, Any]:
    """Train or pick up one run, and decode the test split greedily."""
    settings = [f"seed={seed}", f"training.precision={precision}", f"training.threads={wanted.threads}", "search.kind=greedy"]
    recipe = read_recipe(find_recipe("dates"), [*settings, *wanted.set])
    outcome = trained(recipe, wanted.runs / f"dates-{precision}-{seed}")
    predictor = Predictor.load(outcome.path)
    examples = predictor.tolerant(Corpus(recipe.data, recipe.seed).examples("test"))
    found = evaluate(items_of(predictor, examples, predictor.predict(examples))).metrics
    losses = [record["loss"] for record in RunFolder.open(outcome.path).metrics() if record["kind"] == "validation"]
    return {
        "precision": precision,
        "seed": seed,
        "validation_loss": min(losses),
        "exact_match": found["exact_match"],
        "minutes": round(outcome.seconds / 60, 1),
    }


def main() -> None:
    """Print a line for each run, then means and the spread over seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting of the recipe")
    wanted = parser.parse_args()
    rows = [measure(precision, seed, wanted) for seed in wanted.seeds for precision in PRECISIONS]
    for row in rows:
        print(json.dumps(row))
    for precision in PRECISIONS:
        own = [row for row in rows if row["precision"] == precision]
        summary = {
            name: [round(statistics.mean(row[name] for row in own), 4), round(statistics.pstdev(row[name] for row in own), 4)]
            for name in ("validation_loss", "exact_match")
        }
        print(json.dumps({"precision": precision, "mean_and_deviation": summary}))


if __name__ == "__main__":
    main()
