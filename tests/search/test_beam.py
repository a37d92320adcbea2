import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transition_table import (
    Table,
    TableStep,
    assert_all_same,
    lecture_chain,
    plain_beam,
    quick,
    random_table,
    request_for,
    tables,
    words,
)

from seqloom.errors import UsageError
from seqloom.recipe.sections import Beam
from seqloom.search import Hypothesis, State, run, search
from seqloom.search.contracts import IntArray
from seqloom.symbols import END

POWERS = st.sampled_from([0.0, 0.6, 1.0, 2.0])


def test_a_beam_of_two_finds_what_greedy_search_misses() -> None:
    table = lecture_chain()
    [[best, second]] = run(table, table.start(), Beam(width=2), request_for(table, limit=8))
    assert words(best) == "I am going home end"
    np.testing.assert_allclose(best.log_prob, np.log(0.119 * 0.9**4), rtol=1e-6)
    np.testing.assert_allclose(best.score, np.log(0.119 * 0.9**4) / 5, rtol=1e-6)
    assert second.score < best.score


@quick
@given(table=tables(sentences=4), width=st.integers(1, 7), limit=st.integers(1, 6), power=POWERS)
def test_the_grid_gives_what_a_plain_beam_gives(table: Table, width: int, limit: int, power: float) -> None:
    section = Beam(width=width, length_power=power)
    expected = [
        plain_beam(table, sentence, width=width, limit=limit, power=power, stops_early=True)
        for sentence in range(len(table.log_probs))
    ]
    assert_all_same(run(table, table.start(), section, request_for(table, limit=limit)), expected)


@quick
@given(table=tables(), width=st.integers(1, 5), power=POWERS)
def test_stopping_early_never_loses_the_best(table: Table, width: int, power: float) -> None:
    [found] = run(table, table.start(), Beam(width=width, length_power=power), request_for(table, limit=7))
    to_the_end = plain_beam(table, 0, width=width, limit=7, power=power, stops_early=False)
    assert found[0].tokens.tolist() == to_the_end[0].tokens.tolist()


def test_length_power_favours_longer_outputs() -> None:
    probabilities = np.full((1, 5, 5), 1e-9)
    probabilities[0, 0, [END, 3]] = 0.4, 0.6
    probabilities[0, 3, [4, END]] = 0.6, 0.1
    probabilities[0, 4, END] = 0.9
    table = Table(probabilities)
    by_power = {
        power: run(table, table.start(), Beam(width=4, length_power=power), request_for(table, limit=4))[0][0].tokens.tolist()
        for power in (0.0, 1.0)
    }
    assert by_power == {0.0: [END], 1.0: [3, 4, END]}


def test_cut_off_outputs_come_after_all_finished_ones() -> None:
    probabilities = np.full((1, 4, 4), 1e-9)
    probabilities[0, :, [END, 2, 3]] = np.array([[0.1], [0.5], [0.4]])
    table = Table(probabilities)
    [found] = run(table, table.start(), Beam(width=6, length_power=0.0), request_for(table, limit=2))
    assert [one.finished for one in found] == [True, True, True, False, False, False]
    assert found[-3].log_prob > found[0].log_prob
    assert all(len(one.tokens) == 2 for one in found if not one.finished)


def test_the_beam_fills_up_again_after_an_output_has_left_it() -> None:
    probabilities = np.full((1, 5, 5), 1e-9)
    probabilities[0, 0, [END, 3]] = 0.5, 0.5
    probabilities[0, 3, [3, 4]] = 0.5, 0.5
    probabilities[0, 4, [3, 4]] = 0.5, 0.5
    table = Table(probabilities)
    traces = list(search(table, table.start(), Beam(width=2), request_for(table, limit=3)))
    live = [int((np.isfinite(trace.log_probs) & ~trace.finished).sum()) for trace in traces]
    assert live == [1, 2, 2]


def test_a_search_ends_as_soon_as_nothing_live_can_win() -> None:
    probabilities = np.full((1, 4, 4), 0.05)
    probabilities[0, :, END] = 0.85
    table = Table(probabilities)
    traces = list(search(table, table.start(), Beam(width=1, length_power=1.0), request_for(table, limit=50)))
    assert len(traces) == 1
    assert len(list(search(table, table.start(), Beam(width=3, length_power=0.0), request_for(table, limit=50)))) == 2


class RowCounter(Table):
    """A table that notes how many rows of a sentence it is asked about."""

    rows: tuple[int, ...] = ()

    def step(self, tokens: IntArray, state: State) -> TableStep:
        self.rows = (*self.rows, tokens.shape[1])
        return super().step(tokens, state)


def test_rows_that_have_ended_are_not_fed_again() -> None:
    probabilities = np.full((1, 5, 5), 1e-9)
    probabilities[0, 0, [END, 3, 4]] = 0.5, 0.3, 0.2
    probabilities[0, 3:, [END, 3]] = np.array([[0.61], [0.39]])
    table = RowCounter(probabilities)
    run(table, table.start(), Beam(width=3, length_power=2.0), request_for(table, limit=3))
    assert table.rows == (1, 2, 1)


def score_by_the_formula(found: Hypothesis, section: Beam) -> float:
    seen = found.weights["text"].astype(np.float64).mean(axis=0).sum(axis=0)
    coverage = float(np.log(np.minimum(1.0, seen)).sum())
    return float(found.log_prob / len(found.tokens) ** section.length_power + section.coverage * coverage)


@quick
@given(table=tables(sentences=3), coverage=st.sampled_from([0.2, 1.0]), power=POWERS)
def test_the_score_is_length_normalised_and_rewards_coverage(table: Table, coverage: float, power: float) -> None:
    section = Beam(width=4, length_power=power, coverage=coverage)
    for found in run(table, table.start(), section, request_for(table)):
        for one in found:
            np.testing.assert_allclose(one.score, score_by_the_formula(one, section), rtol=1e-4)


def test_a_position_never_looked_at_costs_much_but_not_everything() -> None:
    table = random_table(4)
    table.source_lengths[:] = 2
    state = table.start()
    request = request_for(table, source_lengths={"text": np.array([2])})
    looks_at_one = np.array([1.0, 0.0], np.float32)
    table.weights = lambda sentences, codes, positions: np.broadcast_to(looks_at_one, (*codes.shape, 1, 2))  # type: ignore[method-assign]
    for one in run(table, state, Beam(coverage=1.0), request)[0]:
        assert -100 < one.score - one.log_prob / len(one.tokens) < -80


def test_coverage_without_attention_is_refused() -> None:
    table = random_table(5)
    table.heads = 0
    with pytest.raises(UsageError, match=r"search.coverage is 0.5, but this model has no attention"):
        run(table, table.start(), Beam(coverage=0.5), request_for(table))


def test_a_model_without_attention_gives_no_weights() -> None:
    table = random_table(5)
    table.heads = 0
    assert all(one.weights == {} for one in run(table, table.start(), Beam(), request_for(table))[0])


def test_symbols_beyond_the_vocabulary_can_be_written() -> None:
    probabilities = np.full((1, 6, 6), 1e-9)
    probabilities[0, 0, 5] = 0.9
    probabilities[0, 5, END] = 0.9
    table = Table(probabilities, vocabulary_size=4)
    [found] = run(table, table.start(), Beam(width=2), request_for(table))
    assert found[0].tokens.tolist() == [5, END]
