"""Models learn: copying and reversing random strings, well enough to be exact on strings they have not seen."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from seqloom.data.arrays import IntArray, Padded
from seqloom.data.preparing.batches import Batch
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.recipe import sections
from seqloom.symbols import BEGIN, END

from .architectures import Settings
from .harness import make_batch

FIRST, SYMBOLS = 3, 8
"""Strings are of eight symbols, which come after `begin`, `end` and `unknown`."""
VOCABULARY = FIRST + SYMBOLS

TASKS: dict[str, Callable[[IntArray], IntArray]] = {"copy": lambda string: string, "reverse": lambda string: string[::-1]}


@dataclass(frozen=True)
class Learner:
    """A model, how long its strings are, and how many updates it gets."""

    model: Settings
    lengths: tuple[int, int]
    steps: int
    rate: float = 1e-2


def attention(kind: Settings, *, query: str, into: str, feed: bool = False) -> Settings:
    return {"kind": "attention", "attention": kind, "query": query, "into": [into], "feed": feed}


def model(cell: str, bridge: Settings, size: int = 32) -> Settings:
    return {
        "encoder": {"kind": "text", "cell": cell, "size": size // 2, "embedding": 16},
        "decoder": {"kind": "recurrent", "cell": cell, "size": size, "embedding": 16},
        "bridge": bridge,
    }


def given(inputs: str) -> Settings:
    """A model whose decoder is given something else than the right symbols."""
    plain = model("gru", attention({"kind": "additive", "size": 32}, query="previous", into="input"))
    return {**plain, "decoder": {**plain["decoder"], "inputs": {"kind": inputs}}}


LEARNERS = {
    "gru-additive-previous-input": Learner(
        model("gru", attention({"kind": "additive", "size": 32}, query="previous", into="input")), (3, 6), steps=110
    ),
    "lstm-dot-current-combined-feed": Learner(
        model("lstm", attention({"kind": "dot"}, query="current", into="combined", feed=True)), (3, 6), steps=150, rate=2e-2
    ),
    "gru-multi_head-current-output": Learner(
        model("gru", attention({"kind": "multi_head", "heads": 2, "size": 32}, query="current", into="output")),
        (3, 6),
        steps=180,
    ),
    "gru-every_step": Learner(model("gru", {"kind": "every_step"}, size=64), (3, 4), steps=140),
    "rnn-initial": Learner(model("rnn", {"kind": "initial"}, size=64), (1, 3), steps=150),
}


def draw(random: np.random.Generator, task: str, lengths: tuple[int, int], count: int) -> Batch:
    """So many random strings and what should become of them."""
    strings = [random.integers(FIRST, VOCABULARY, random.integers(lengths[0], lengths[1] + 1)) for _ in range(count)]
    return make_batch({"source": Padded.of(strings)}, Padded.of([TASKS[task](string) for string in strings]))


def train(learner: Learner, task: str) -> EncoderDecoder:
    torch.manual_seed(1)
    network = EncoderDecoder(sections.Model.model_validate(learner.model), {"source": VOCABULARY, "target": VOCABULARY})
    optimiser = torch.optim.Adam(network.parameters(), lr=learner.rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.1, learner.steps)
    random = np.random.default_rng(1)
    for _ in range(learner.steps):
        batch = draw(random, task, learner.lengths, 64)
        loss = network(batch).objective / batch.num_symbols
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    return network


def write_greedily(network: EncoderDecoder, batch: Batch, *, longest: int) -> list[list[int]]:
    """The most probable symbol at every step (S1), up to `end`."""
    stepper = TorchStepper(network)
    count = len(batch.target.lengths)
    state, tokens, columns = stepper.start(batch.sources, count), np.full((count, 1), BEGIN), []
    for _ in range(longest + 1):
        step = stepper.step(tokens, state)
        tokens, state = step.top(1, np.zeros(0, dtype=np.int64))[0][:, :, 0], step.state
        columns.append(tokens[:, 0])
    rows = np.stack(columns, axis=1).tolist()
    return [row[: row.index(END)] if END in row else row for row in rows]


def transformer(layers: int) -> Settings:
    return {"kind": "transformer", "size": 32, "layers": layers, "heads": 4}


def transformers(bridge: str, *, layers: int) -> Settings:
    return {"encoder": transformer(layers), "decoder": transformer(layers), "bridge": {"kind": bridge}}


def in_a_loop(kind: Settings, **terms: float) -> Settings:
    return model("gru", {**attention(kind, query="previous", into="input"), **terms})


def at_once(kind: Settings) -> Settings:
    return model("gru", attention(kind, query="current", into="output"))


ADDITIVE = {"kind": "additive", "size": 32}
HARD = {"kind": "hard", "score": ADDITIVE}
MONOTONIC = {"kind": "local", "centre": "monotonic", "window": 1, "score": ADDITIVE}
PREDICTIVE = {"kind": "local", "centre": "predictive", "window": 2, "score": {"kind": "bilinear"}}

FURTHER_LEARNERS = {
    "projected": (Learner(at_once({"kind": "projected", "size": 32}), (3, 6), steps=140), "reverse"),
    "coverage": (Learner(in_a_loop({**ADDITIVE, "coverage": True}, coverage_loss=0.1), (3, 6), steps=150), "reverse"),
    "doubly_stochastic": (Learner(in_a_loop(ADDITIVE, doubly_stochastic=0.1), (3, 6), steps=110), "reverse"),
    # A window that moves along with the target sees what it needs when it copies.
    "local-monotonic": (Learner(in_a_loop(MONOTONIC), (3, 6), steps=130), "copy"),
    "monotonic": (Learner(model("lstm", {"kind": "monotonic"}), (3, 6), steps=240), "copy"),
    "local-predictive": (Learner(at_once(PREDICTIVE), (3, 6), steps=160), "reverse"),
    "hard-at_once": (Learner(at_once(HARD), (3, 6), steps=280), "copy"),
    "hard-in_a_loop": (Learner(in_a_loop(HARD), (3, 6), steps=250), "reverse"),
    "into_state": (
        Learner(model("lstm", attention(ADDITIVE, query="current", into="state"), size=64), (3, 5), steps=200),
        "copy",
    ),
    "into_concatenated": (
        Learner(model("lstm", attention({"kind": "bilinear"}, query="current", into="concatenated")), (3, 6), steps=150),
        "reverse",
    ),
    "transformer": (Learner(transformers("cross_attention", layers=2), (3, 6), steps=180, rate=5e-3), "reverse"),
    "transformer-every_step": (Learner(transformers("every_step", layers=1), (1, 3), steps=150), "copy"),
    "transformer-to-gru": (Learner({**at_once(ADDITIVE), "encoder": transformer(1)}, (3, 6), steps=150), "copy"),
    "gru-to-transformer": (
        Learner({**model("gru", {"kind": "cross_attention"}), "decoder": transformer(1)}, (3, 6), steps=190),
        "reverse",
    ),
    "inputs_own": (Learner(given("own"), (3, 6), steps=130), "copy"),
    "inputs_mixed": (Learner(given("mixed"), (3, 6), steps=120), "reverse"),
    "inputs_distribution": (Learner(given("distribution"), (3, 6), steps=130), "copy"),
    "inputs_none": (Learner(given("none"), (3, 6), steps=120), "copy"),
}
"""Further kinds of attention, of what becomes of a context and of what the decoder is given, each with a task."""


@pytest.mark.parametrize("name", FURTHER_LEARNERS)
def test_every_further_kind_learns(name: str) -> None:
    assert exact_share(*FURTHER_LEARNERS[name]) >= 0.95


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", LEARNERS)
def test_random_strings_are_learnt(name: str, task: str) -> None:
    assert exact_share(LEARNERS[name], task) >= 0.95


def exact_share(learner: Learner, task: str) -> float:
    """How many strings a model writes without a fault, after training, of strings that it has not seen."""
    network = train(learner, task)
    unseen = draw(np.random.default_rng(2), task, learner.lengths, 200)
    written = write_greedily(network, unseen, longest=learner.lengths[1])
    wanted = [list(row[:length]) for row, length in zip(unseen.target.values, unseen.target.lengths, strict=True)]
    return float(np.mean([one == other for one, other in zip(written, wanted, strict=True)]))
