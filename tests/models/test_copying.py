"""Copying: symbols of the source as outputs, those outside the vocabulary too."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from seqloom.data.arrays import IntArray, Padded
from seqloom.data.preparing.batches import Batch
from seqloom.models.decoders.copying import Copying
from seqloom.models.decoders.inputs import scheduled_sampling
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.recipe import sections
from seqloom.search.dispatch import run
from seqloom.search.request import Request
from seqloom.symbols import BEGIN, UNKNOWN

from .architectures import ARCHITECTURES, TARGET_SIZE, Architecture
from .harness import (
    CLOSE,
    assert_same,
    batch_for,
    build_random,
    first_state,
    make_batch,
    model_of,
    scored_by,
    steps_of,
    tokens_of,
)
from .test_learning import FIRST, VOCABULARY, attention, write_greedily
from .test_learning import model as section_of

COPYING = [one for one in ARCHITECTURES.values() if one.name.startswith("copying-")]
copying_ones = pytest.mark.parametrize("architecture", COPYING, ids=lambda one: one.name)


def with_new_symbols(batch: Batch) -> Batch:
    """The batch with sources and targets that have symbols outside the vocabulary, of ids from V on."""
    first = TARGET_SIZE + 1
    source = Padded.of([np.array([5, first, 3, first]), np.array([TARGET_SIZE, 3]), np.array([4, 6, 6])])
    target = Padded.of([np.array([first, 3]), np.array([TARGET_SIZE, 4, 4]), np.array([6])])
    return make_batch({"source": source}, target)


def gate(copying: Copying | None, value: float) -> None:
    """Fix the gate: a large value lets everything be written, a small one everything be copied."""
    assert copying is not None
    with torch.no_grad():
        copying.gate.weight.zero_()
        copying.gate.bias.fill_(value)


# --- the mixture ----------------------------------------------------------------------------------------------------


def mixed(share: float, weights: list[float], symbols: list[int], written: list[float]) -> Tensor:
    """What becomes of one step's distribution."""
    copying = Copying(2)
    gate(copying, float(np.log(share / (1 - share))))
    found: Tensor = copying(
        torch.tensor([[written]]).log(), torch.ones(1, 1, 2), torch.tensor([[weights]]), torch.tensor([symbols])
    )
    return found.detach().exp()[0, 0]


def test_probability_is_shared_between_writing_and_pointing() -> None:
    found = mixed(0.6, [0.5, 0.25, 0.25], [2, 3, 2], written=[0.1, 0.2, 0.3, 0.4])
    assert_same(found, torch.tensor([0.06, 0.12, 0.6 * 0.3 + 0.4 * 0.75, 0.6 * 0.4 + 0.4 * 0.25]), CLOSE)


def test_symbols_outside_the_vocabulary_stand_behind_it() -> None:
    found = mixed(0.6, [0.5, 0.25, 0.25], [5, 3, 5], written=[0.1, 0.2, 0.3, 0.4])
    assert_same(found, torch.tensor([0.06, 0.12, 0.18, 0.6 * 0.4 + 0.4 * 0.25, 0.0, 0.4 * 0.75]), CLOSE)
    assert float(found.sum()) == pytest.approx(1.0)


def test_a_source_without_positions_lets_everything_be_written() -> None:
    assert_same(mixed(0.6, [0.0], [0], written=[0.25, 0.75]), torch.tensor([0.25, 0.75]), CLOSE)


# --- models ---------------------------------------------------------------------------------------------------------


@copying_ones
def test_probabilities_sum_to_one(architecture: Architecture) -> None:
    model = model_of(architecture)
    for batch in (batch_for(architecture), with_new_symbols(batch_for(architecture))):
        total = model.decoder.log_probs(model.decode(batch)).exp().sum(dim=-1)
        assert_same(total, torch.ones_like(total))


@copying_ones
def test_steps_say_what_scoring_says_of_new_symbols(architecture: Architecture) -> None:
    batch = with_new_symbols(batch_for(architecture))
    stepper = TorchStepper(model_of(architecture, torch.float32))
    np.testing.assert_allclose(stepper.score(batch), scored_by(steps_of(stepper, batch), batch), atol=CLOSE)


@copying_ones
def test_a_found_output_has_the_log_probability_that_scoring_it_gives(architecture: Architecture) -> None:
    model = build_random(architecture).float()
    gate(model.decoder.copying, -1.0)
    stepper, batch = TorchStepper(model), with_new_symbols(batch_for(architecture))
    request = Request(limits=np.full(3, 4), keys=np.arange(3))
    found = [ranked[0] for ranked in run(stepper, stepper.start(batch.sources, 3), sections.Beam(width=4), request)]
    written = [one.tokens[:-1] if one.finished else one.tokens for one in found]
    for one, again in zip(found, stepper.score(replace(batch, target=Padded.of(written))), strict=True):
        np.testing.assert_allclose(one.log_probs, again[: len(one.tokens)], atol=1e-4)


@copying_ones
def test_what_can_only_be_copied_is_written_at_no_other_source(architecture: Architecture) -> None:
    batch = with_new_symbols(batch_for(architecture))
    stepper = TorchStepper(model_of(architecture, torch.float32))
    every = stepper.step(np.full((3, 1), BEGIN), stepper.start(batch.sources, 3)).all()
    assert every.shape == (3, 1, TARGET_SIZE + 2)
    assert np.isfinite(every[..., TARGET_SIZE:]).tolist() == [[[False, True]], [[True, False]], [[False, False]]]


def test_new_symbols_are_read_as_unknown() -> None:
    architecture = ARCHITECTURES["copying-gru-bahdanau"]
    model, batch = model_of(architecture), with_new_symbols(batch_for(architecture))
    plain = make_batch({name: unknown(source) for name, source in batch.sources.items()}, unknown(batch.target))
    assert_same(model.decode(batch).features, model.decode(plain).features)


def unknown(padded: Padded) -> Padded:
    values = np.asarray(padded.values, dtype=np.int64)
    return Padded(np.where(values < TARGET_SIZE, values, UNKNOWN), padded.lengths)


# --- learning -------------------------------------------------------------------------------------------------------


def test_own_outputs_may_be_copies() -> None:
    section = ARCHITECTURES["copying-gru-luong"].section
    own = section.decoder.model_copy(update={"inputs": sections.OwnInputs()})
    architecture = Architecture("own", section.model_copy(update={"decoder": own}))
    model, batch = build_random(architecture), with_new_symbols(batch_for(architecture))
    gate(model.decoder.copying, -30.0)
    given = scheduled_sampling(model.decoder, tokens_of(batch), first_state(model, batch), 1.0)
    for row, source in zip(given[:, 1:].tolist(), np.asarray(batch.sources["source"].values).tolist(), strict=True):
        assert set(row) <= set(source)


def strings(random: np.random.Generator, count: int) -> list[IntArray]:
    """Strings of known symbols, one of each outside the vocabulary."""
    drawn = [random.integers(FIRST, VOCABULARY, random.integers(3, 6)) for _ in range(count)]
    for string in drawn:
        place = random.integers(len(string))
        string[place] = VOCABULARY + place
    return drawn


def test_copying_of_new_symbols_is_learnt() -> None:
    section = section_of("gru", {**attention({"kind": "additive", "size": 32}, query="previous", into="input"), "copy": True})
    torch.manual_seed(1)
    network = EncoderDecoder(sections.Model.model_validate(section), {"source": VOCABULARY, "target": VOCABULARY})
    optimiser, random = torch.optim.Adam(network.parameters(), lr=1e-2), np.random.default_rng(1)
    for _ in range(120):
        drawn = Padded.of(strings(random, 64))
        batch = make_batch({"source": drawn}, drawn)
        optimiser.zero_grad()
        (network(batch).objective / batch.num_symbols).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
    unseen = strings(random, 200)
    written = write_greedily(network, make_batch({"source": Padded.of(unseen)}, Padded.of(unseen)), longest=6)
    exact = np.mean([one == list(other) for one, other in zip(written, unseen, strict=True)])
    assert exact >= 0.9
