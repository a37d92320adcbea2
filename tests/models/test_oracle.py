"""A model that is told where to look: every kind of attention, every use of a context."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from seqloom.data.reading.oracles import Oracle
from seqloom.models.attention.oracle import OracleWeights
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.symbols import BEGIN

from .architectures import ARCHITECTURES, Architecture
from .harness import (
    ATTENDING,
    ATTENDING_WITH_ONE_HEAD,
    CLOSE,
    PLAIN_AND_ATTENDING,
    ROUNDED,
    batch_for,
    continued,
    first_state,
    looking_steps,
    model_of,
    real_positions,
    said_of,
    tokens_of,
)


def oracles_for(architecture: Architecture, steps: int, seed: int = 3) -> dict[str, Oracle]:
    """Random distributions over the real positions of every source, in the batch that most tests use."""
    random = np.random.default_rng(seed)
    oracles = {}
    for name in batch_for(architecture).sources:
        real = real_positions(architecture, name)
        weights = np.zeros((len(real), steps, real.shape[1]), dtype=np.float32)
        for sentence, length in enumerate(real.sum(axis=1)):
            weights[sentence, :, :length] = random.dirichlet(np.ones(length), size=steps)
        oracles[name] = Oracle(weights, np.ones((len(real), steps), dtype=np.bool_))
    return oracles


def told_of(oracle: Oracle) -> OracleWeights:
    return OracleWeights(torch.from_numpy(oracle.weights), torch.from_numpy(oracle.known))


@ATTENDING
def test_the_weights_that_come_back_are_the_given_ones_in_every_head(architecture: Architecture) -> None:
    stepper, batch = TorchStepper(model_of(architecture)), batch_for(architecture)
    oracles = oracles_for(architecture, 2)
    state = stepper.start(batch.sources, 3, oracles)
    tokens = np.full((3, 1), BEGIN, dtype=np.int64)
    for time in range(2):
        step = stepper.step(tokens, state)
        for name, oracle in oracles.items():
            given = oracle.weights[:, time][:, None, None]
            np.testing.assert_allclose(step.weights[name], np.broadcast_to(given, step.weights[name].shape), atol=1e-7)
        state = step.state
    own = stepper.step(tokens, state).weights  # nothing is said of the third step
    for name, oracle in oracles.items():
        looks = looking_steps(architecture, name, 3)[:, 2, None, None]
        np.testing.assert_allclose(own[name].sum(axis=-1), np.broadcast_to(looks, own[name].shape[:-1]), atol=1e-6)
        if oracle.weights.shape[-1] > 1:
            assert np.abs(own[name][:, 0, 0] - oracle.weights[:, 1]).max() > 1e-3


@ATTENDING_WITH_ONE_HEAD  # several look at different places, and an oracle tells them all the same
def test_an_oracle_that_says_what_the_model_would_do_changes_nothing(architecture: Architecture) -> None:
    model, batch, said = model_of(architecture), batch_for(architecture), said_of(architecture)
    told = {
        name: OracleWeights(weights[:, 0].clone(), torch.ones(weights.shape[0], weights.shape[2], dtype=torch.bool))
        for name, weights in said.weights.items()
    }
    state = first_state(model, batch)
    again = continued(model, tokens_of(batch), replace(state, link=replace(state.link, oracle=told)))
    torch.testing.assert_close(again.log_probs, said.log_probs, atol=1e-9, rtol=0)


@PLAIN_AND_ATTENDING
def test_a_whole_target_that_is_told_equals_its_steps(architecture: Architecture) -> None:
    model, batch = model_of(architecture), batch_for(architecture)
    told = {name: told_of(oracle) for name, oracle in oracles_for(architecture, 3).items()}
    state = first_state(model, batch)
    state = replace(state, link=replace(state.link, oracle=told))
    tokens = tokens_of(batch)
    with torch.inference_mode():
        whole = model.decoder(tokens, state)
        for time in range(tokens.shape[1]):
            step = model.decoder.step(tokens[:, time : time + 1], state)
            state = step.state
            torch.testing.assert_close(step.features[:, 0], whole.features[:, time], atol=1e-12, rtol=0)


@PLAIN_AND_ATTENDING
def test_who_is_told_nothing_is_not_disturbed_by_who_is(architecture: Architecture) -> None:
    stepper, batch = TorchStepper(model_of(architecture)), batch_for(architecture)
    known = np.array([[True], [False], [True]]).repeat(2, axis=1)
    oracles = {name: Oracle(oracle.weights, known) for name, oracle in oracles_for(architecture, 2).items()}
    tokens = np.full((3, 1), BEGIN, dtype=np.int64)
    told = stepper.step(tokens, stepper.start(batch.sources, 3, oracles))
    free = stepper.step(tokens, stepper.start(batch.sources, 3))
    for name in oracles:
        np.testing.assert_array_equal(told.weights[name][1], free.weights[name][1])
    np.testing.assert_allclose(told.all()[1], free.all()[1], atol=ROUNDED)


@PLAIN_AND_ATTENDING
def test_sentences_that_leave_take_their_oracle_along(architecture: Architecture) -> None:
    stepper, batch = TorchStepper(model_of(architecture)), batch_for(architecture)
    oracles = oracles_for(architecture, 2)
    tokens = np.full((3, 1), BEGIN, dtype=np.int64)
    state = stepper.step(tokens, stepper.start(batch.sources, 3, oracles)).state
    left = state.select(np.asarray([0, 2]), np.zeros((2, 2), dtype=np.int64))
    weights = stepper.step(tokens[[0, 2]].repeat(2, axis=1), left).weights
    for name, oracle in oracles.items():
        for row, sentence in enumerate((0, 2)):
            given = oracle.weights[sentence, 1]
            np.testing.assert_allclose(weights[name][row], np.broadcast_to(given, weights[name][row].shape), atol=1e-7)


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name.startswith("coverage")])
def test_prediction_covers_what_it_was_told_to_look_at(name: str) -> None:
    architecture = ARCHITECTURES[name]
    model, batch = model_of(architecture, torch.float32), batch_for(architecture)
    stepper, oracles = TorchStepper(model), oracles_for(architecture, 2)
    after, state = stepper.start(batch.sources, 3, oracles), first_state(model, batch)
    state = replace(state, link=replace(state.link, oracle={name: told_of(oracle) for name, oracle in oracles.items()}))
    tokens = np.full((3, 1), BEGIN, dtype=np.int64)
    with torch.inference_mode():
        for _ in range(3):
            step, decoded = stepper.step(tokens, after), model.decoder.step(torch.from_numpy(tokens), state)
            after, state = step.state, decoded.state
            np.testing.assert_allclose(step.all(), model.decoder.log_probs(decoded).numpy(), atol=CLOSE)
