"""How many images a second a trained model describes, the features of its frozen network being there already.

    python benchmarks/caption_speed.py RUNS/flickr8k-soft [--beam 5] [--longest 30] [--threads 2] [--turns 5]

All images of the test part, one turn to warm up, then the median of several. Prints JSON.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from seqloom.data.examples import grouped
from seqloom.data.preparing.corpus import Corpus
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Beam
from seqloom.runs import RunFolder
from seqloom.training.machine import choose_threads, computing


def main() -> None:
    """Describe the same images several times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run that describes images, or an exported one")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--longest", type=int, help="symbols of a caption at most, instead of what the run's recipe says")
    parser.add_argument("--threads", type=int, default=choose_threads(None))
    parser.add_argument("--turns", type=int, default=5)
    wanted = parser.parse_args()
    recipe = RunFolder.open(wanted.run).recipe
    predictor = Predictor.load(wanted.run)
    images = predictor.tolerant(grouped(Corpus(recipe.data, recipe.seed).examples("test")))
    limits = {} if wanted.longest is None else {"length_factor": 0.0, "length_extra": wanted.longest}
    search = Beam(**{**recipe.search.shared, **limits}, width=wanted.beam)
    seconds = []
    with computing(wanted.threads):
        for _ in range(wanted.turns + 1):
            began = time.perf_counter()
            predictor.predict(images, search=search)
            seconds.append(time.perf_counter() - began)
    rate = len(images) / statistics.median(seconds[1:])
    settings = ("beam", "longest", "threads")
    facts = {"images": len(images), **{name: getattr(wanted, name) for name in settings}}
    print(json.dumps({**facts, "images_per_second": round(rate, 1)}))


if __name__ == "__main__":
    main()
