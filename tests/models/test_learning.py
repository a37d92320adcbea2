"""Models learn: copying and reversing random strings, well enough to be exact on strings they have not seen."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from seqloom.data.batches import Batch, IntArray, Padded
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.stepper import TorchStepper
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
        "encoder": {"cell": cell, "size": size // 2, "embedding": 16},
        "decoder": {"cell": cell, "size": size, "embedding": 16},
        "bridge": bridge,
    }


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
        steps=140,
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


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", LEARNERS)
def test_random_strings_are_learnt(name: str, task: str) -> None:
    learner = LEARNERS[name]
    network = train(learner, task)
    unseen = draw(np.random.default_rng(2), task, learner.lengths, 200)
    written = write_greedily(network, unseen, longest=learner.lengths[1])
    wanted = [list(row[:length]) for row, length in zip(unseen.target.values, unseen.target.lengths, strict=True)]
    exact = np.mean([one == other for one, other in zip(written, wanted, strict=True)])
    assert exact >= 0.95
