"""What exporting changes in what a trained model writes: beside torch, and alone beside in a batch.

    python benchmarks/exports.py RUN SOURCES [--sentences 1000] [--beam 5]

SOURCES is a text file, gzipped or not, with a source a line. Prints a table for docs/performance.md. How fast exported models
are is measured by `seqloom bench decode --backend runtime`, and how good by `seqloom evaluate`.
"""

import argparse
import gzip
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from seqloom.export.writing import export_run
from seqloom.graphs.graph import Precision
from seqloom.prediction.predictor import Predictor
from seqloom.results.predictions import Prediction

PRECISIONS: tuple[Precision, ...] = ("fp32", "int8")


def compared(ones: Sequence[Prediction], others: Sequence[Prediction]) -> tuple[float, float]:
    """The percentage of outputs with the same symbols, and the largest difference between log-probabilities of those."""
    same = [(one, other) for one, other in zip(ones, others, strict=True) if one.tokens == other.tokens]
    off = [np.abs(np.subtract(one.best.log_probs, other.best.log_probs)).max(initial=0.0) for one, other in same]
    return 100 * len(same) / len(ones), float(max(off, default=0.0))


def main() -> None:
    """Write everything three times, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--beam", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with (gzip.open if options.sources.suffix == ".gz" else open)(options.sources, "rt", encoding="utf-8") as stream:
        sources = [line.rstrip("\n") for line in stream][: options.sentences]
    written = Predictor.load(options.run).predict(sources, beam=options.beam)
    print(f"{len(sources):,} sources, beam {options.beam}\n")
    print("| export | as in torch | log-probabilities, at most | alone as in a batch | log-probabilities, at most |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for precision in PRECISIONS:
            model = Predictor.load(export_run(options.run, Path(folder) / precision, precision=precision).path)
            together = model.predict(sources, beam=options.beam)
            alone = [model.predict([source], beam=options.beam)[0] for source in sources]
            rows = [f"{share:.1f} % | {off:.1g}" for share, off in (compared(together, written), compared(alone, together))]
            print(f"| {precision} | {' | '.join(rows)} |")


if __name__ == "__main__":
    main()
