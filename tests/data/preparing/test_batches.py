import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqloom.data.arrays import IntArray, Padded
from seqloom.data.examples import Origin
from seqloom.data.preparing.batches import Batch, BatchPlan, plan_epoch
from seqloom.symbols import BEGIN, END

quick = settings(max_examples=50, deadline=None)
LENGTHS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=120)


def ids(*numbers: int) -> IntArray:
    return np.asarray(numbers, dtype=np.int64)


def sides(lengths: list[tuple[int, int]]) -> list[IntArray]:
    table = np.asarray(lengths, dtype=np.int64).reshape(-1, 2)
    return [table[:, 0], table[:, 1]]


def members(plan: BatchPlan) -> list[list[int]]:
    return [batch.tolist() for batch in plan.batches]


def realistic(count: int) -> list[IntArray]:
    """Word lengths with targets that follow them loosely, as in transliteration."""
    draw = np.random.default_rng(3)
    source = np.clip(draw.poisson(8, count), 1, None)
    return [source, np.clip(source + draw.integers(-2, 3, count), 1, None)]


# --- padding and shifting -------------------------------------------------------------------------------------------


def test_the_mask_is_true_where_real() -> None:
    padded = Padded.of([ids(5, 6), ids(), ids(7)])
    assert padded.lengths.tolist() == [2, 0, 1]
    assert padded.mask.tolist() == [[True, True], [False, False], [True, False]]
    assert np.asarray(padded.values)[padded.mask].tolist() == [5, 6, 7]


def test_sequences_that_are_all_empty_still_have_a_position() -> None:
    padded = Padded.of([ids(), ids()])
    assert padded.values.shape == (2, 1)
    assert not padded.mask.any()


def test_inputs_begin_and_labels_end() -> None:
    target = Padded.of([ids(5, 6, 7), ids(8), ids()])
    batch = Batch({}, target, np.ones(3, dtype=np.float32), (Origin("a", 1),) * 3)
    assert batch.inputs.lengths.tolist() == batch.labels.lengths.tolist() == [4, 2, 1]
    read = [np.asarray(batch.inputs.values)[row, :length].tolist() for row, length in enumerate(batch.inputs.lengths)]
    said = [np.asarray(batch.labels.values)[row, :length].tolist() for row, length in enumerate(batch.labels.lengths)]
    assert read == [[BEGIN, 5, 6, 7], [BEGIN, 8], [BEGIN]]
    assert said == [[5, 6, 7, END], [8, END], [END]]
    assert batch.num_symbols == 7


# --- plans ----------------------------------------------------------------------------------------------------------


@quick
@given(lengths=LENGTHS, budget=st.integers(40, 300), most=st.none() | st.integers(1, 9), seed=st.integers(0, 5))
def test_an_epoch_has_every_example_once_within_the_budget(
    lengths: list[tuple[int, int]], budget: int, most: int | None, seed: int
) -> None:
    plan = plan_epoch(sides(lengths), budget=budget, most=most, seed=seed, epoch=2)
    assert sorted(number for batch in members(plan) for number in batch) == list(range(len(lengths)))
    for batch in members(plan):
        assert len(batch) * max(max(lengths[number]) for number in batch) <= budget
        assert most is None or len(batch) <= most


@quick
@given(lengths=LENGTHS, budget=st.integers(1, 300), seed=st.integers(0, 5))
def test_every_epoch_has_equally_many_batches(lengths: list[tuple[int, int]], budget: int, seed: int) -> None:
    counts = {
        len(plan_epoch(sides(lengths), budget=budget, most=7, seed=seed + extra, epoch=epoch).batches)
        for epoch in range(4)
        for extra in range(2)
    }
    assert len(counts) == 1


def test_a_plan_is_a_function_of_seed_and_epoch() -> None:
    lengths = realistic(300)

    def plan(seed: int, epoch: int) -> list[list[int]]:
        return members(plan_epoch(lengths, budget=200, most=None, seed=seed, epoch=epoch))

    assert plan(1, 0) == plan(1, 0)
    assert plan(1, 0) != plan(1, 1)
    assert plan(1, 0) != plan(2, 0)
    assert {frozenset(batch) for batch in plan(1, 0)} != {frozenset(batch) for batch in plan(1, 1)}  # not the order alone


def test_without_shuffling_batches_go_from_short_to_long() -> None:
    lengths = realistic(300)
    plan = plan_epoch(lengths, budget=200, most=None, seed=1, epoch=0, shuffle=False)
    longest = np.maximum(*lengths)
    assert [int(longest[batch].max()) for batch in plan.batches] == sorted(int(longest[batch].max()) for batch in plan.batches)


def test_padding_is_below_eight_per_cent_on_realistic_lengths() -> None:
    lengths = realistic(20_000)
    plan = plan_epoch(lengths, budget=4000, most=None, seed=1, epoch=0)
    padded = sum(len(batch) * int(side[batch].max()) for batch in plan.batches for side in lengths)
    assert plan.waste == pytest.approx(1 - sum(int(side.sum()) for side in lengths) / padded)
    assert plan.waste < 0.08


def test_an_example_longer_than_the_budget_is_a_batch_of_its_own() -> None:
    plan = plan_epoch([ids(3, 50, 4, 60), ids(3, 5, 4, 70)], budget=10, most=None, seed=1, epoch=0)
    assert sorted(map(sorted, members(plan))) == [[0, 2], [1], [3]]


def test_no_examples_make_no_batches() -> None:
    plan = plan_epoch([ids(), ids()], budget=10, most=None, seed=1, epoch=0)
    assert plan == BatchPlan((), 0.0)
