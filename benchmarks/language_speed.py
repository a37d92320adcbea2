"""How fast language models train and write here: a 2 x 650 LSTM over 10,000 words, 64 streams from a 2 x 512 character LSTM.

    python benchmarks/language_speed.py [--threads 2]

Words are random, as often as words of their rank are in texts; weights are random, which does not change the work. Training is
given as a share of the rate at which this machine multiplies 1024 x 1024 matrices, sampled between the rounds; the same model
with a sampled softmax by how many times faster it is, and with plain steps in the place of torch's LSTM by how many times
slower. Medians over the rounds, in which all take turns.
"""

import argparse
import json
import os
import statistics
import time
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from seqloom.bench.counting import BatchShape, count_operations
from seqloom.bench.measuring import MatrixRates, peak_mb, precision_here
from seqloom.data.arrays import Padded
from seqloom.data.examples import Origin
from seqloom.data.preparing.batches import StreamBatch
from seqloom.data.vocabulary import build_vocabulary
from seqloom.models.cells import Cell, LstmCell
from seqloom.models.decoders import DecoderState
from seqloom.models.encoder_decoder import build_model
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.prediction.backends import OpenedModel
from seqloom.prediction.language_model import LanguageModel
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Recipe
from seqloom.training.loop import update
from seqloom.training.machine import Precision, computing
from seqloom.training.optimisation import build_optimiser

WORDS, ROWS, STRETCH = 10_000, 64, 35
SAMPLED = 2_000
ROUNDS, UPDATES = 5, 4
STREAMS, LENGTH = 64, 200


def recipe(size: int, sampled: int | None = None) -> Recipe:
    """Two LSTM layers with tied weights."""
    decoder = {"cell": "lstm", "size": size, "layers": 2, "embedding": size, "tied": "output", "dropout": 0.5}
    model = {"encoder": None, "decoder": decoder, "bridge": {"kind": "none"}}
    training = {"sampled_softmax": sampled}
    return recipe_from({"data": {"train": "none", "text": "stream"}, "model": model, "training": training})


def batch(generator: np.random.Generator, *, fresh: bool) -> StreamBatch:
    """A window of random words in all rows, the first ones the most frequent."""
    shares = 1.0 / np.arange(1, WORDS - 2)
    words = 3 + generator.choice(WORDS - 3, (ROWS, STRETCH + 1), p=shares / shares.sum())
    lengths = np.full(ROWS, STRETCH)
    origins = (Origin("random", 1),) * ROWS
    weights = np.ones(ROWS, dtype=np.float32)
    return StreamBatch({}, Padded(words[:, 1:], lengths), weights, origins, words[:, 0], fresh, np.zeros(ROWS, dtype=np.int64))


class Trainee:
    """The word model, updated on one window after the other."""

    def __init__(self, sampled: int | None) -> None:
        self.recipe = recipe(650, sampled)
        self._model = build_model(self.recipe, {"target": WORDS}).train()
        self._optimiser = build_optimiser(self.recipe.training.optimiser, self._model, 1e-3)
        self._carried: DecoderState | None = None
        self._seconds: list[float] = []

    def learn(self, window: StreamBatch, precision: Precision) -> None:
        """One update, timed."""
        began, step = time.perf_counter(), len(self._seconds)
        _, self._carried = update(
            self._model, [window], self._optimiser, self.recipe, step=step, precision=precision, carried=self._carried
        )
        self._seconds.append(time.perf_counter() - began)

    @property
    def seconds(self) -> float:
        """Of an update; the first is not counted."""
        return statistics.median(self._seconds[1:])


def training() -> dict[str, Any]:
    """Updates of the word model: with the whole vocabulary, with part of it, and step by plain step."""
    whole, part, plain = Trainee(None), Trainee(SAMPLED), Trainee(None)
    precision, generator, rates = precision_here("auto"), np.random.default_rng(1), MatrixRates()
    for number in range(ROUNDS * UPDATES + 1):
        window = batch(generator, fresh=number == 0)
        whole.learn(window, precision)
        part.learn(window, precision)
        with patch.object(LstmCell, "run", Cell.run):
            plain.learn(window, precision)
        if number % UPDATES == 0:
            rates.sample(3)
    tokens = ROWS * STRETCH
    shape = BatchShape.real(np.zeros(ROWS, dtype=np.int64), np.full(ROWS, STRETCH))
    operations = count_operations(whole.recipe.model, {"target": WORDS}, shape).total
    gflops = operations / whole.seconds / 1e9
    return {
        "tokens_per_second": round(tokens / whole.seconds),
        "mflop_per_token": round(operations / tokens / 1e6, 1),
        "gflops": round(gflops, 1),
        "matrix_gflops": round(rates.gflops[precision], 1),
        "share": round(gflops / rates.gflops[precision], 3),
        "precision": precision,
        "peak_mb": round(peak_mb()),
        "sampled_softmax": SAMPLED,
        "sampled_tokens_per_second": round(tokens / part.seconds),
        "sampled_times_faster": round(whole.seconds / part.seconds, 2),
        "plain_times_slower": round(plain.seconds / whole.seconds, 2),
    }


def writing() -> dict[str, Any]:
    """Characters that the character model writes in all streams together."""
    wanted = recipe(512)
    symbols = build_vocabulary(wanted.data.vocabularies.target, ["".join(map(chr, range(33, 98)))])
    model = build_model(wanted, {"target": symbols.size})
    opened = LanguageModel(OpenedModel(TorchStepper(model), {"target": symbols}, wanted))
    opened.sample(STREAMS, length=10)
    rates = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        written = opened.sample(STREAMS, length=LENGTH)
        rates.append(sum(len(one.symbols) for one in written) / (time.perf_counter() - began))
    return {"streams": STREAMS, "characters_per_second": round(statistics.median(rates))}


def main() -> None:
    """Measure both and print one object each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    with computing(parser.parse_args().threads):
        print(json.dumps({"training": training(), "threads": torch.get_num_threads()}), flush=True)
        print(json.dumps({"writing": writing(), "threads": torch.get_num_threads()}), flush=True)


if __name__ == "__main__":
    main()
