"""How the cost of data grows: prepare invented pairs (8,000 symbols a side), open the cache, make the batches of an epoch.

    python benchmarks/preparation.py 30000 300000 1000000 3000000 [--kind words]

One line for each number of pairs, each measured in a process of its own with an empty cache in a temporary folder.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORDS, MEAN_LENGTH, PIECES = 60_000, 12, 8000
CHUNK = 50_000


def lexicon(vowels: str, generator: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """Invented words of one to four syllables."""
    syllables = np.array([f"{start}{vowel}{end}" for start in "bcdfghklmnprstvw" for vowel in vowels for end in ("", *"nrst")])
    words: set[str] = set()
    while len(words) < WORDS:
        words.add("".join(generator.choice(syllables, generator.integers(1, 5))))
    return np.array(sorted(words, key=lambda word: (len(word), word)))  # the frequent ones are short


def write_pairs(path: Path, pairs: int) -> None:
    """Sentences on both sides, their words as frequent as Zipf's law says."""
    generator = np.random.default_rng(7)
    sides = [lexicon(vowels, generator) for vowels in ("aeiou", "aéèiou")]
    shares = np.cumsum(1.0 / np.arange(3, WORDS + 3))
    shares /= shares[-1]
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, pairs, CHUNK):
            count = min(CHUNK, pairs - start)
            lengths = np.clip(generator.poisson(MEAN_LENGTH, count), 1, 60)
            ends = np.cumsum(lengths)
            drawn = [side[np.searchsorted(shares, generator.random(ends[-1]))] for side in sides]
            stream.writelines(
                "\t".join(" ".join(words[end - length : end]) + "." for words in drawn) + "\n"
                for end, length in zip(ends, lengths, strict=True)
            )


def measure(path: Path, kind: str) -> dict[str, float]:
    """Prepare a file of pairs, open it again, and make all batches of an epoch."""
    from seqloom.data.preparing.batches import plan_epoch
    from seqloom.data.preparing.corpus import Corpus
    from seqloom.data.preparing.prepared import prepare
    from seqloom.recipe import recipe_from
    from seqloom.training.plans import batch_lengths

    pieces = {"kind": kind, "size": PIECES}
    body = {"data": {"train": str(path), "vocabularies": {"source": pieces, "target": pieces}}}
    corpus = Corpus(recipe_from(body).data, 1)
    moments = [time.perf_counter()]
    for _ in range(2):
        prepared = prepare(corpus)
        moments.append(time.perf_counter())
    split = prepared.splits["train"]
    plan = plan_epoch(batch_lengths(split), budget=4000, most=None, seed=1, epoch=0)
    moments.append(time.perf_counter())
    for numbers in plan.batches:
        split.batch(numbers)
    moments.append(time.perf_counter())
    seconds = dict(zip(("prepare", "open", "plan", "batches"), np.diff(moments).tolist(), strict=True))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**{f"{name}_seconds": round(value, 3) for name, value in seconds.items()}, "peak_mb": round(memory)}


def main() -> None:
    """Measure every number of pairs in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=int, nargs="*", default=[30_000, 300_000, 1_000_000])
    parser.add_argument(
        "--kind", default="bpe", help="of both vocabularies; learning the pieces of bpe takes as long for few pairs"
    )
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)  # what the process of one number measures
    wanted = parser.parse_args()
    if wanted.file is not None:
        print(json.dumps(measure(wanted.file, wanted.kind)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for pairs in wanted.pairs:
            path = Path(folder) / f"{pairs}.tsv"
            write_pairs(path, pairs)
            environment = {**os.environ, "SEQLOOM_CACHE": str(Path(folder) / f"cache-{pairs}")}
            command = [sys.executable, __file__, "--file", str(path), "--kind", wanted.kind]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(done.stdout)
            spent = found["prepare_seconds"] + found["plan_seconds"] + found["batches_seconds"]
            print(json.dumps({"pairs": pairs, **found, "microseconds_per_pair": round(1e6 * spent / pairs, 2)}), flush=True)


if __name__ == "__main__":
    main()
