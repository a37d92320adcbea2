"""A run and its exports side by side: time of one sentence and of many, and how often they write the same.

    python benchmarks/exports.py RUN SOURCES [--sentences 1000]

SOURCES is a text file, gzipped or not, with a source a line. Everything runs in one process and one thread, taking turns
sentence by sentence; the times are processor time. Prints a table for docs/performance.md.
"""

import argparse
import gzip
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

from seqloom.export.writing import export_run
from seqloom.graphs.graph import Precision
from seqloom.prediction.predictor import Predictor
from seqloom.system.cpu import processor_flags

ALONE = 40
"""So many sentences are timed one by one."""


def opened(run: Path, folder: Path) -> dict[str, Predictor]:
    """The run in torch, and its exports."""
    found = {"torch, fp32": Predictor.load(run)}
    precisions: tuple[Precision, ...] = ("fp32", "int8")
    for precision in precisions:
        found[f"export, {precision}"] = Predictor.load(export_run(run, folder / precision, precision=precision).path)
    return found


def seconds(work: Callable[[], object]) -> float:
    """The processor time that something takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def alone(models: dict[str, Predictor], sources: Sequence[str], beam: int) -> dict[str, float]:
    """The median time of one sentence by itself, in milliseconds."""
    times: dict[str, list[float]] = {name: [] for name in models}
    for source in sources[:ALONE]:
        for name, model in models.items():
            times[name].append(seconds(partial(model.predict, source, beam=beam)))
    return {name: 1000 * statistics.median(several) for name, several in times.items()}


def together(models: dict[str, Predictor], sources: Sequence[str]) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Sentences a second by a beam of five, and what is written."""
    rates, texts = {}, {}
    for name, model in models.items():
        start = time.process_time()
        texts[name] = [one.text for one in model.predict(list(sources), beam=5)]
        rates[name] = len(sources) / (time.process_time() - start)
    return rates, texts


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--sentences", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with (gzip.open if options.sources.suffix == ".gz" else open)(options.sources, "rt", encoding="utf-8") as stream:
        sources = [line.rstrip("\n") for line in stream][: options.sentences]
    with tempfile.TemporaryDirectory() as folder:
        models = opened(options.run, Path(folder))
        for model in models.values():
            model.predict(sources[0])
        greedy, beam = alone(models, sources, 1), alone(models, sources, 5)
        rates, texts = together(models, sources)
    vnni = "with" if any("vnni" in flag for flag in processor_flags()) else "without"
    print(f"a processor {vnni} VNNI; {len(sources)} sentences, one thread\n")
    print("| model | greedy, ms | beam 5, ms | beam 5, sentences/s | outputs as in torch |")
    print("|---|---|---|---|---|")
    first = next(iter(models))
    for name in models:
        same = statistics.mean(ours == theirs for ours, theirs in zip(texts[name], texts[first], strict=True))
        print(f"| {name} | {greedy[name]:.1f} | {beam[name]:.1f} | {rates[name]:.1f} | {100 * same:.1f} % |")


if __name__ == "__main__":
    main()
