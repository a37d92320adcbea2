import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transition_table import Table, assert_all_same, path, quick, random_table, request_for, rescored, tables

from seqloom.recipe.sections import Greedy, Sample
from seqloom.search import Hypothesis, run
from seqloom.search.draws import streams, uniform
from seqloom.symbols import BEGIN, END


def first_symbols(table: Table, section: Sample) -> list[int]:
    [found] = run(table, table.start(), section, request_for(table, limit=1))
    assert len(found) == section.count
    return [int(one.tokens[0]) for one in found]


def written(found: list[Hypothesis]) -> list[list[int]]:
    return [one.tokens.tolist() for one in found]


FIRST = np.array([0.2, 0.1, 0.05, 0.3, 0.25, 0.1])
COUNT = 20_000


def one_step_table() -> Table:
    return Table(np.tile(FIRST, (1, 6, 1)))


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (Sample(count=COUNT), FIRST),
        (Sample(count=COUNT, temperature=0.5), FIRST**2),
        (Sample(count=COUNT, top_k=2), FIRST * [0, 0, 0, 1, 1, 0]),
        (Sample(count=COUNT, top_p=0.5), FIRST * [0, 0, 0, 1, 1, 0]),
        (Sample(count=COUNT, top_k=3, top_p=0.9), FIRST * [0, 1, 0, 1, 1, 0]),
        (Sample(count=COUNT, top_k=50, temperature=2.0), FIRST**0.5),
        (Sample(count=COUNT, minimum_length=1), FIRST * [1, 0, 1, 1, 1, 1]),
    ],
)
def test_symbols_are_drawn_as_often_as_they_should(section: Sample, expected: np.ndarray) -> None:
    chances = np.where(np.arange(6) == BEGIN, 0.0, expected)
    chances = chances / chances.sum()
    shares = np.bincount(first_symbols(one_step_table(), section), minlength=6) / COUNT
    np.testing.assert_allclose(shares, chances, atol=5 * np.sqrt(0.25 / COUNT))
    assert not shares[chances == 0].any()


def test_later_symbols_are_drawn_anew() -> None:
    table = one_step_table()
    [found] = run(table, table.start(), Sample(count=5000, minimum_length=2), request_for(table, limit=2))
    pairs = np.array([one.tokens for one in found])
    first, second = pairs[:, 0], pairs[:, 1]
    np.testing.assert_allclose(np.mean((first == 3) & (second == 3)), np.mean(first == 3) * np.mean(second == 3), atol=0.02)


@quick
@given(
    table=tables(sentences=3), seed=st.integers(0, 2**70), top_k=st.sampled_from([None, 2]), top_p=st.sampled_from([None, 0.7])
)
def test_a_sample_is_decided_by_its_seed(table: Table, seed: int, top_k: int | None, top_p: float | None) -> None:
    section = Sample(count=3, seed=seed, top_k=top_k, top_p=top_p)
    found = run(table, table.start(), section, request_for(table))
    assert_all_same(found, run(table, table.start(), section, request_for(table)))


def test_another_seed_key_or_number_is_another_sample() -> None:
    table = Table(np.tile(np.r_[0.0, 0.0, np.full(30, 1 / 30)], (2, 32, 1)))
    request = request_for(table, limit=8)
    first, second = run(table, table.start(), Sample(count=3), request)
    other, _ = run(table, table.start(), Sample(count=3, seed=2), request)
    outputs = written(first) + written(second) + written(other)
    assert len({tuple(one) for one in outputs}) == 9


def test_a_sample_depends_on_its_key_not_on_its_place() -> None:
    table = random_table(8, sentences=1)
    there = request_for(table, sentences=[0, 0, 0], keys=np.array([7, 8, 9]))
    alone = request_for(table, keys=np.array([9]))
    section = Sample(count=4, temperature=2.0)
    assert_all_same(run(table, table.start([0, 0, 0]), section, there)[2:], run(table, table.start(), section, alone))


@quick
@given(table=tables())
def test_more_samples_keep_those_that_were_drawn_before(table: Table) -> None:
    [few] = run(table, table.start(), Sample(count=3), request_for(table, limit=9))
    [many] = run(table, table.start(), Sample(count=12), request_for(table, limit=9))
    assert len(many) == 12
    assert all(one in written(many) for one in written(few))


def drawn_alone(table: Table, number: int, limit: int) -> list[int]:
    """The sample of the given number for sentence 0 with key 100 and seed 1, drawn as one would by hand."""
    tokens: list[int] = []
    while len(tokens) < limit and END not in tokens:
        *_, (log_probs, _) = path(table, 0, np.array([*tokens, END]))
        chances = np.cumsum(np.where(np.arange(len(log_probs)) == BEGIN, 0.0, np.exp(log_probs, dtype=np.float64)))
        target = uniform(streams(1, np.array([100]), number + 1)[:, number:], len(tokens))[0, 0] * chances[-1]
        tokens.append(int(np.searchsorted(chances, target, side="right")))
    return tokens


@quick
@given(table=tables())
def test_every_draw_has_its_own_address(table: Table) -> None:
    [found] = run(table, table.start(), Sample(count=6, seed=1), request_for(table, limit=7))
    assert sorted(written(found)) == sorted(drawn_alone(table, number, 7) for number in range(6))


@quick
@given(table=tables(sentences=2))
def test_log_probabilities_are_the_models_own(table: Table) -> None:
    section = Sample(count=4, temperature=0.6, top_k=2)
    for sentence, found in enumerate(run(table, table.start(), section, request_for(table))):
        for one in found:
            np.testing.assert_array_equal(one.log_probs, rescored(table, sentence, one.tokens))
        assert [one.log_prob for one in found] == sorted((one.log_prob for one in found), reverse=True)


@pytest.mark.parametrize("section", [Sample(temperature=1e-6), Sample(top_k=1), Sample(top_p=1e-9)])
def test_without_chance_sampling_is_greedy_search(section: Sample) -> None:
    table = random_table(10, sentences=5)
    request = request_for(table, limit=8)
    assert_all_same(run(table, table.start(), section, request), run(table, table.start(), Greedy(), request))


def test_numbers_are_spread_evenly() -> None:
    numbers = uniform(streams(1, np.arange(500), 40), 3)
    counts = np.bincount((numbers * 20).astype(np.int64).ravel(), minlength=20)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert ((counts - 1000) ** 2 / 1000).sum() < 45  # chi-square with 19 degrees of freedom: one in a thousand is above 43.8


def test_an_output_ends_where_end_is_drawn() -> None:
    table = random_table(11)
    [found] = run(table, table.start(), Sample(count=30), request_for(table, limit=9))
    for one in found:
        assert END not in one.tokens[:-1]
        assert one.finished == (one.tokens[-1] == END)
