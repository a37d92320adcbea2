"""What the decoder is given of the step before (E7): the right symbol, its own, the distribution, or nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.models.decoders.inputs import scheduled_sampling
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.recipe import sections
from seqloom.search.dispatch import run
from seqloom.search.request import Request
from seqloom.symbols import BEGIN

from .architectures import ARCHITECTURES, BRIDGES, CELLS, Architecture, Settings, build_section
from .harness import CLOSE, assert_same, batch_for, build_random, first_state, make_batch, tokens_of, whole

UNREAD = [one for one in ARCHITECTURES.values() if one.name.startswith("inputs_")]
without_symbols = pytest.mark.parametrize("architecture", UNREAD, ids=lambda one: one.name)
BRIDGE_NAMES = pytest.mark.parametrize("bridge", ["initial", "bahdanau", "luong", "004", "state", "concatenated"])


def architecture_of(bridge: str, inputs: Settings, **decoder: Any) -> Architecture:
    section = build_section(BRIDGES[bridge], cell=CELLS["gru"])
    changed = sections.RecurrentDecoder.model_validate({**section.decoder.model_dump(), "inputs": inputs, **decoder})
    return Architecture(bridge, section.model_copy(update={"decoder": changed}))


def gradients_of(model: EncoderDecoder, objective: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(objective, list(model.parameters())))


# --- own outputs ----------------------------------------------------------------------------------------------------


@torch.no_grad()
def written_greedily(model: EncoderDecoder, batch: Batch) -> Tensor:
    """`begin`, and after it what the stepper finds most probable step by step, [B, T]."""
    stepper = TorchStepper(model)
    state, columns = stepper.start(batch.sources, 3), [np.full((3, 1), BEGIN)]
    for _ in range(tokens_of(batch).shape[1] - 1):
        step = stepper.step(columns[-1], state)
        columns.append(step.top(1, np.zeros(0, dtype=np.int64))[0][:, :, 0])
        state = step.state
    return torch.from_numpy(np.concatenate(columns, axis=1))


@BRIDGE_NAMES
def test_own_inputs_are_what_the_model_would_write(bridge: str) -> None:
    architecture = architecture_of(bridge, {"kind": "own"})
    model, batch = build_random(architecture), batch_for(architecture)
    given = scheduled_sampling(model.decoder, tokens_of(batch), first_state(model, batch), 1.0)
    assert torch.equal(given, written_greedily(model, batch))
    assert not torch.equal(given, tokens_of(batch))


@BRIDGE_NAMES
def test_training_on_own_outputs_is_a_pass_over_them_with_the_right_labels(bridge: str) -> None:
    architecture = architecture_of(bridge, {"kind": "own"})
    model, batch = build_random(architecture).train(), batch_for(architecture)
    actual = model(batch).objective
    decoded = model.decoder(written_greedily(model, batch), model.decoder.start(model.encode(batch.sources), 3))
    log_probs = torch.log_softmax(model.decoder.output(decoded.features), dim=-1)
    labels = torch.from_numpy(np.asarray(batch.labels.values))
    said = log_probs.gather(-1, labels[..., None])[..., 0]
    expected = -said[torch.from_numpy(batch.labels.mask)].sum()
    assert_same(actual, expected, CLOSE)
    for one, other in zip(gradients_of(model, actual), gradients_of(model, expected), strict=True):
        assert_same(one, other, CLOSE)


@pytest.mark.parametrize("kind", ["own", "mixed"])
def test_own_outputs_are_for_training_only(kind: str) -> None:
    architecture, taught = architecture_of("luong", {"kind": kind}), architecture_of("luong", {"kind": "teacher"})
    model, teacher = build_random(architecture), build_random(taught)
    batch = batch_for(architecture)
    assert_same(whole(model, batch).log_probs, whole(teacher, batch).log_probs)
    assert torch.equal(model(batch).objective, teacher(batch).objective)
    torch.manual_seed(2)  # one by which some inputs are mixed
    assert not torch.equal(model.train()(batch).objective, teacher.train()(batch).objective)


def test_a_share_of_mixed_inputs_is_own_and_the_others_are_right() -> None:
    architecture = architecture_of("bahdanau", {"kind": "mixed"})
    model = build_random(architecture)
    source, target = (np.random.default_rng(1).integers(2, 7, (64, length)) for length in (3, 20))
    lengths = [np.full(64, length) for length in (3, 20)]
    batch = make_batch({"source": Padded(source, lengths[0])}, Padded(target, lengths[1]))
    right, state = tokens_of(batch), first_state(model, batch)
    torch.manual_seed(3)
    given = scheduled_sampling(model.decoder, right, state, 0.3)
    torch.manual_seed(3)
    assert torch.equal(given, scheduled_sampling(model.decoder, right, state, 0.3))
    with torch.inference_mode():  # in which the state was made
        log_probs = model.decoder.output(model.decoder(given, state).features)
    own = torch.cat([right[:, :1], log_probs.argmax(dim=-1)[:, :-1]], dim=1)
    assert ((given == own) | (given == right)).all()
    share = float((given != right).float().mean() / (own != right).float().mean())
    assert share == pytest.approx(0.3, abs=0.04)


def test_the_share_of_mixed_inputs_rises_with_the_steps() -> None:
    rising = sections.MixedInputs(share=0.4, rise=100)
    assert [rising.own_share(step) for step in (0, 25, 100, 5000)] == pytest.approx([0.0, 0.1, 0.4, 0.4])
    assert sections.MixedInputs(share=0.4).own_share(0) == 0.4
    assert (sections.TeacherInputs().own_share(9), sections.OwnInputs().own_share(0)) == (0.0, 1.0)


def test_the_step_decides_what_training_gives() -> None:
    architecture = architecture_of("bahdanau", {"kind": "mixed", "share": 1.0, "rise": 10})
    taught, own = architecture_of("bahdanau", {"kind": "teacher"}), architecture_of("bahdanau", {"kind": "own"})
    batch = batch_for(architecture)
    model = build_random(architecture).train()
    assert torch.equal(model(batch, step=0).objective, build_random(taught).train()(batch).objective)
    assert torch.equal(model(batch, step=10).objective, build_random(own).train()(batch).objective)


# --- no symbols -----------------------------------------------------------------------------------------------------


@without_symbols
def test_what_was_written_is_not_read(architecture: Architecture) -> None:
    model, batch = build_random(architecture), batch_for(architecture)
    others = replace(batch, target=Padded(2 + np.asarray(batch.target.values, dtype=np.int64) % 5, batch.target.lengths))
    assert_same(whole(model, others).log_probs, whole(model, batch).log_probs)


@without_symbols
def test_a_found_output_has_the_log_probability_that_scoring_it_gives(architecture: Architecture) -> None:
    stepper, batch = TorchStepper(build_random(architecture).float()), batch_for(architecture)
    request = Request(limits=np.full(3, 6), keys=np.arange(3))
    found = run(stepper, stepper.start(batch.sources, 3), sections.Beam(width=4), request)
    best = [ranked[0] for ranked in found]
    written = [one.tokens[:-1] if one.finished else one.tokens for one in best]
    for one, again in zip(best, stepper.score(replace(batch, target=Padded.of(written))), strict=True):
        np.testing.assert_allclose(one.log_probs, again[: len(one.tokens)], atol=1e-4)


def test_gradients_flow_back_through_the_distribution() -> None:
    """The first output's matrix has a say in the second step, and in nothing else here."""
    architecture = architecture_of("initial", {"kind": "distribution"})
    model, batch = build_random(architecture), batch_for(architecture)
    decoded = model.decode(batch)
    (gradient,) = torch.autograd.grad(decoded.features[:, 1].sum(), model.decoder.output.get_parameter("weight"))
    assert gradient.abs().max() > 1e-6


DROPPING: dict[str, dict[str, float]] = {
    "inputs": {"input_dropout": 0.5, "output_dropout": 0.0},
    "symbols": {"embedding_dropout": 0.5},
    "outputs": {"input_dropout": 0.0, "output_dropout": 0.5},
}


@pytest.mark.parametrize(
    ("kind", "place"),
    [("distribution", place) for place in DROPPING] + [("none", "inputs"), ("none", "outputs")],  # "symbols": refused
)
def test_seeds_decide_what_is_left_out_of_a_decoder_without_symbols(kind: str, place: str) -> None:
    architecture = architecture_of("bahdanau", {"kind": kind}, **DROPPING[place])
    model, batch = build_random(architecture).train(), batch_for(architecture)
    objectives = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        objectives.append(model(batch).objective)
    assert torch.equal(objectives[0], objectives[1])
    assert not torch.equal(objectives[0], objectives[2])
