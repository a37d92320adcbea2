"""What search is told at a step: the best symbols, given symbols, all symbols."""

import numpy as np
import pytest

from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.prediction.stepper import TorchStep, TorchStepper
from seqloom.recipe import sections
from seqloom.search.contracts import IntArray
from seqloom.symbols import BEGIN

from .architectures import ARCHITECTURES, SOURCE_SIZE, TARGET_SIZE
from .harness import batch_for, model_of

LUONG = ARCHITECTURES["gru-luong-1_layer"]
NOTHING: IntArray = np.zeros(0, dtype=np.int64)
V = TARGET_SIZE


@pytest.fixture
def step() -> TorchStep:
    """A step of 3 sentences of 2 rows."""
    stepper = TorchStepper(model_of(LUONG))
    state = stepper.start(batch_for(LUONG).sources, 3).select(np.arange(3), np.zeros((3, 2), dtype=np.int64))
    return stepper.step(np.asarray([[BEGIN, 2], [3, 4], [5, 6]]), state)


def test_probabilities_of_all_symbols_sum_to_one(step: TorchStep) -> None:
    assert step.all().shape == (3, 2, V)
    np.testing.assert_allclose(np.exp(step.all()).sum(axis=-1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("k", [1, 3, V])
def test_top_gives_the_best_of_all_symbols_best_first(step: TorchStep, k: int) -> None:
    ids, log_probs = step.top(k, NOTHING)
    assert ids.shape == log_probs.shape == (3, 2, k)
    np.testing.assert_array_equal(log_probs, -np.sort(-step.all(), axis=-1)[..., :k])
    np.testing.assert_array_equal(log_probs, np.take_along_axis(step.all(), ids, axis=-1))


def test_at_gives_what_top_gives_for_the_same_symbols(step: TorchStep) -> None:
    ids, log_probs = step.top(4, NOTHING)
    np.testing.assert_array_equal(step.at(ids), log_probs)


def test_at_takes_symbols_in_any_order_and_number(step: TorchStep) -> None:
    ids = np.asarray([[[6, 0, 0], [1, 1, 1]], [[2, 3, 4], [5, 6, 0]], [[3, 2, 1], [0, 6, 3]]])
    np.testing.assert_array_equal(step.at(ids), np.take_along_axis(step.all(), ids, axis=-1))


def test_forbidden_symbols_do_not_come_and_the_others_keep_their_probabilities(step: TorchStep) -> None:
    forbidden = np.asarray([0, 4], dtype=np.int64)
    ids, log_probs = step.top(V - 2, forbidden)
    assert not np.isin(ids, forbidden).any()
    np.testing.assert_array_equal(log_probs, np.take_along_axis(step.all(), ids, axis=-1))
    left = np.delete(step.all(), forbidden, axis=-1)
    np.testing.assert_array_equal(log_probs, -np.sort(-left, axis=-1))


def test_forbidding_leaves_the_step_as_it_was(step: TorchStep) -> None:
    before = step.all().copy()
    step.top(3, np.asarray([2], dtype=np.int64))
    np.testing.assert_array_equal(step.all(), before)


def test_where_fewer_symbols_remain_than_are_asked_for_the_rest_is_impossible(step: TorchStep) -> None:
    ids, log_probs = step.top(V, np.asarray([0, 4], dtype=np.int64))
    assert np.isfinite(log_probs[..., : V - 2]).all()
    assert np.isneginf(log_probs[..., V - 2 :]).all()
    assert ((ids >= 0) & (ids < V)).all()


def test_more_candidates_than_symbols_are_filled_up_with_impossible_ones(step: TorchStep) -> None:
    ids, log_probs = step.top(V + 3, NOTHING)
    assert ids.shape == log_probs.shape == (3, 2, V + 3)
    np.testing.assert_array_equal(log_probs[..., :V], step.top(V, NOTHING)[1])
    assert np.isneginf(log_probs[..., V:]).all()
    assert ((ids >= 0) & (ids < V)).all()


def test_search_gets_int64_ids_and_float32_numbers_even_from_a_float64_model(step: TorchStep) -> None:
    ids, log_probs = step.top(2, NOTHING)
    assert ids.dtype == np.int64
    assert {log_probs.dtype, step.all().dtype, step.at(ids).dtype, step.weights["source"].dtype} == {np.dtype(np.float32)}


def test_the_stepper_knows_the_size_of_the_vocabulary() -> None:
    assert TorchStepper(model_of(LUONG)).vocabulary_size == V


def test_a_stepper_drops_nothing_out() -> None:
    section = sections.Model.model_validate(
        {"encoder": {"kind": "text", "dropout": 0.9, "size": 4}, "decoder": {"kind": "recurrent", "dropout": 0.9, "size": 6}}
    )
    model = EncoderDecoder(section, {"source": SOURCE_SIZE, "target": TARGET_SIZE}).train()
    stepper, batch = TorchStepper(model), batch_for(LUONG)
    np.testing.assert_array_equal(stepper.score(batch), stepper.score(batch))
    first, second = (stepper.step(np.full((3, 1), BEGIN), stepper.start(batch.sources, 3)).all() for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_state_of_another_kind_is_refused() -> None:
    class Foreign:
        sentences = 1

        def select(self, sentences: IntArray, parents: IntArray) -> "Foreign":
            return self

    with pytest.raises(TypeError):
        TorchStepper(model_of(LUONG)).step(np.zeros((1, 1), dtype=np.int64), Foreign())
