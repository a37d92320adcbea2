"""A model that is told where to look: every kind of attention, every use of a context."""

from dataclasses import replace

import numpy as np
import torch

from seqloom.data.oracles import Oracle
from seqloom.models.oracle import Told
from seqloom.models.stepper import TorchStepper
from seqloom.symbols import BEGIN

from .architectures import Architecture
from .harness import (
    LOOKING_AT_TEXT,
    LOOKING_AT_TEXT_WITH_ONE_HEAD,
    PLAIN_AND_LOOKING_AT_TEXT,
    ROUNDED,
    SOURCE_LENGTHS,
    batch_for,
    continued,
    first_state,
    model_of,
    said_of,
    tokens_of,
)


def oracle_for(steps: int, seed: int = 3) -> Oracle:
    """Random distributions over the real positions of the batch that most tests use."""
    random = np.random.default_rng(seed)
    weights = np.zeros((len(SOURCE_LENGTHS), steps, max(SOURCE_LENGTHS)), dtype=np.float32)
    for sentence, length in enumerate(SOURCE_LENGTHS):
        weights[sentence, :, :length] = random.dirichlet(np.ones(length), size=steps)
    return Oracle(weights, np.ones((len(SOURCE_LENGTHS), steps), dtype=np.bool_))


def told_of(oracle: Oracle) -> Told:
    return Told(torch.from_numpy(oracle.weights), torch.from_numpy(oracle.known))


@LOOKING_AT_TEXT
def test_the_weights_that_come_back_are_the_given_ones_in_every_head(architecture: Architecture) -> None:
    stepper, batch = TorchStepper(model_of(architecture)), batch_for(architecture)
    oracle = oracle_for(2)
    state = stepper.start(batch.sources, 3, {architecture.text: oracle})
    tokens = np.full((3, 1), BEGIN, dtype=np.int64)
    for time in range(2):
        step = stepper.step(tokens, state)
        given = oracle.weights[:, time][:, None, None]
        np.testing.assert_allclose(
            step.weights[architecture.text], np.broadcast_to(given, step.weights[architecture.text].shape), atol=1e-7
        )
        state = step.state
    own = stepper.step(tokens, state).weights[architecture.text]  # nothing is said of the third step
    np.testing.assert_allclose(own.sum(axis=-1), 1, atol=1e-6)
    assert np.abs(own[:, 0, 0] - oracle.weights[:, 1]).max() > 1e-3


@LOOKING_AT_TEXT_WITH_ONE_HEAD  # several look at different places, and an oracle tells them all the same
def test_an_oracle_that_says_what_the_model_would_do_changes_nothing(architecture: Architecture) -> None:
    model, batch, said = model_of(architecture), batch_for(architecture), said_of(architecture)
    weights = said.weights[architecture.text]
    told = Told(weights[:, 0].clone(), torch.ones(weights.shape[0], weights.shape[2], dtype=torch.bool))
    state = first_state(model, batch)
    again = continued(model, tokens_of(batch), replace(state, link=replace(state.link, told={architecture.text: told})))
    torch.testing.assert_close(again.log_probs, said.log_probs, atol=1e-9, rtol=0)


@PLAIN_AND_LOOKING_AT_TEXT
def test_a_whole_target_that_is_told_equals_its_steps(architecture: Architecture) -> None:
    model, batch = model_of(architecture), batch_for(architecture)
    told = told_of(oracle_for(3))
    state = first_state(model, batch)
    state = replace(state, link=replace(state.link, told={architecture.text: told}))
    tokens = tokens_of(batch)
    with torch.inference_mode():
        whole = model.decoder(tokens, state)
        for time in range(tokens.shape[1]):
            step = model.decoder.step(tokens[:, time : time + 1], state)
            state = step.state
            torch.testing.assert_close(step.features[:, 0], whole.features[:, time], atol=1e-12, rtol=0)


@PLAIN_AND_LOOKING_AT_TEXT
def test_who_is_told_nothing_is_not_disturbed_by_who_is(architecture: Architecture) -> None:
    stepper, batch = TorchStepper(model_of(architecture)), batch_for(architecture)
    oracle = oracle_for(2)
    known = oracle.known.copy()
    known[1] = False
    tokens = np.full((3, 1), BEGIN, dtype=np.int64)
    told = stepper.step(tokens, stepper.start(batch.sources, 3, {architecture.text: Oracle(oracle.weights, known)}))
    free = stepper.step(tokens, stepper.start(batch.sources, 3))
    np.testing.assert_array_equal(told.weights[architecture.text][1], free.weights[architecture.text][1])
    np.testing.assert_allclose(told.all()[1], free.all()[1], atol=ROUNDED)


@PLAIN_AND_LOOKING_AT_TEXT
def test_sentences_that_leave_take_their_oracle_along(architecture: Architecture) -> None:
    stepper, batch = TorchStepper(model_of(architecture)), batch_for(architecture)
    oracle = oracle_for(2)
    tokens = np.full((3, 1), BEGIN, dtype=np.int64)
    state = stepper.step(tokens, stepper.start(batch.sources, 3, {architecture.text: oracle})).state
    left = state.select(np.asarray([0, 2]), np.zeros((2, 2), dtype=np.int64))
    weights = stepper.step(tokens[[0, 2]].repeat(2, axis=1), left).weights[architecture.text]
    for row, sentence in enumerate((0, 2)):
        given = oracle.weights[sentence, 1]
        np.testing.assert_allclose(weights[row], np.broadcast_to(given, weights[row].shape), atol=1e-7)
