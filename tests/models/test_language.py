"""Text in windows: the same log-probabilities as step by step, however it is cut, and a state that carries all."""

import numpy as np
import pytest

import seqloom.models.prediction.language as module
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.search.contracts import FloatArray, IntArray, State
from seqloom.symbols import BEGIN

from .architectures import ARCHITECTURES, CELLS, TARGET_SIZE, Architecture
from .harness import model_of

RECURRENT = [ARCHITECTURES[f"{cell}-none-{depth}"] for cell in CELLS for depth in ("1_layer", "2_layers")]
SOURCELESS = [*RECURRENT, ARCHITECTURES["transformer-none"]]
every_one = pytest.mark.parametrize("architecture", SOURCELESS, ids=lambda one: one.name)

LABELS: IntArray = np.random.default_rng(1).integers(1, TARGET_SIZE, (3, 11))
INPUTS: IntArray = np.concatenate([np.full((3, 1), BEGIN), LABELS[:, :-1]], axis=1)


def by_steps(stepper: TorchStepper) -> FloatArray:
    """All log-probabilities, [B, T, V], one symbol at a time."""
    state: State = stepper.start({}, 3)
    found = []
    for tokens in INPUTS.T:
        step = stepper.step(tokens[:, None], state)
        found.append(step.all()[:, 0])
        state = step.state
    return np.stack(found, axis=1)


@every_one
@pytest.mark.parametrize("length", [1, 4, 11])
def test_stretches_with_carried_state_equal_single_steps(architecture: Architecture, length: int) -> None:
    stepper = TorchStepper(model_of(architecture))
    expected = np.take_along_axis(by_steps(stepper), LABELS[..., None], axis=2)[..., 0]
    state: State = stepper.start({}, 3)
    found = []
    for start in range(0, 11, length):
        part = (slice(None), slice(start, start + length))
        scores, state = stepper.score_stream(INPUTS[part], LABELS[part], state)
        found.append(scores)
    np.testing.assert_allclose(np.concatenate(found, axis=1), expected, atol=1e-6)


@every_one
def test_a_study_is_read_off_the_whole_distribution(architecture: Architecture) -> None:
    stepper = TorchStepper(model_of(architecture))
    every = by_steps(stepper)
    studied, _ = stepper.study_stream(INPUTS, LABELS, stepper.start({}, 3), alternatives=4)
    own = np.take_along_axis(every, LABELS[..., None], axis=2)
    np.testing.assert_allclose(studied.log_probs, own[..., 0], atol=1e-6)
    np.testing.assert_array_equal(studied.ranks, (every > own).sum(axis=2) + 1)
    np.testing.assert_allclose(studied.entropies, -(np.exp(every) * every).sum(axis=2) / np.log(2), atol=1e-5)
    np.testing.assert_array_equal(studied.top_ids, np.argsort(-every, axis=2)[..., :4])
    np.testing.assert_allclose(studied.top_log_probs, -np.sort(-every, axis=2)[..., :4], atol=1e-6)


def test_logits_in_small_portions_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    stepper = TorchStepper(model_of(SOURCELESS[0]))
    whole, _ = stepper.score_stream(INPUTS, LABELS, stepper.start({}, 3))
    monkeypatch.setattr(module, "_MOST_LOGITS", 5 * TARGET_SIZE)
    portions, _ = stepper.score_stream(INPUTS, LABELS, stepper.start({}, 3))
    np.testing.assert_allclose(portions, whole, atol=1e-7)


def test_more_alternatives_than_symbols_are_all_symbols() -> None:
    stepper = TorchStepper(model_of(SOURCELESS[0]))
    studied, _ = stepper.study_stream(INPUTS, LABELS, stepper.start({}, 3), alternatives=99)
    assert studied.top_ids.shape == (3, 11, TARGET_SIZE)


@every_one
def test_hidden_states_are_those_of_the_steps(architecture: Architecture) -> None:
    stepper = TorchStepper(model_of(architecture))
    hidden = stepper.hidden_states(INPUTS[0], stepper.start({}, 1))
    assert hidden.shape == (11, architecture.section.decoder.layers, architecture.section.decoder.size)
    assert architecture not in RECURRENT or np.abs(hidden).max() <= 1.0
    assert stepper.hidden_states(INPUTS[0, :0], stepper.start({}, 1)).shape == (0, *hidden.shape[1:])
