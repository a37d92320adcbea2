import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transition_table import Table, assert_all_same, lecture_chain, quick, random_table, request_for, tables, words

from seqloom.errors import UsageError
from seqloom.recipe.sections import Beam, Exhaustive
from seqloom.search import Hypotheses, run


def by_symbols(hypotheses: Hypotheses) -> Hypotheses:
    """Outputs in an order that does not depend on ties: the same symbols in another order may be as probable."""
    return [sorted(found, key=lambda one: one.tokens.tolist()) for found in hypotheses]


@quick
@given(table=tables(sentences=2, symbols=5), limit=st.integers(1, 4), power=st.sampled_from([0.0, 1.0]))
def test_a_wide_beam_is_an_exhaustive_search(table: Table, limit: int, power: float) -> None:
    request = request_for(table, limit=limit)
    width = sum((table.vocabulary_size - 2) ** length for length in range(limit + 1))
    everything = run(table, table.start(), Exhaustive(count=width, length_power=power), request)
    assert all(len(found) == width for found in everything)
    beams = run(table, table.start(), Beam(width=width, length_power=power), request)
    assert [[one.score for one in found] for found in beams] == [[one.score for one in found] for found in everything]
    assert_all_same(by_symbols(beams), by_symbols(everything))


@quick
@given(table=tables(symbols=5))
def test_probabilities_of_all_sequences_sum_to_one(table: Table) -> None:
    table.log_probs[:, :, 0] = -np.inf
    table.log_probs -= np.log(np.exp(table.log_probs).sum(axis=2, keepdims=True))
    [found] = run(table, table.start(), Exhaustive(count=10_000), request_for(table, limit=4))
    assert sum(np.exp(one.log_prob) for one in found) == pytest.approx(1.0, abs=1e-5)


def test_the_lecture_chain_has_the_answer_that_beam_search_found() -> None:
    table = lecture_chain()
    [found] = run(table, table.start(), Exhaustive(count=1), request_for(table, limit=5))
    assert words(found[0]) == "I am going home end"


def test_fewer_than_all_are_the_best_of_all() -> None:
    table = random_table(3, sentences=2)
    every = run(table, table.start(), Exhaustive(count=1000), request_for(table, limit=4))
    assert_all_same(run(table, table.start(), Exhaustive(count=3), request_for(table, limit=4)), [one[:3] for one in every])


@pytest.mark.parametrize(
    ("symbols", "limit", "number"), [(12, 6, "1,111,111"), (100, 1000, r"about 10\^1991"), (1002, 2, "1,001,001")]
)
def test_what_cannot_end_is_refused(symbols: int, limit: int, number: str) -> None:
    table = random_table(0, symbols=symbols)
    with pytest.raises(UsageError, match=f"1,000,000 sequences.* up to {limit} give {number}. Use `kind: beam`"):
        run(table, table.start(), Exhaustive(), request_for(table, limit=limit))


def test_a_prefix_leaves_fewer_sequences_to_look_at() -> None:
    table = random_table(0, symbols=12)
    prefix = np.array([3, 4, 5])
    [found] = run(table, table.start(), Exhaustive(), request_for(table, limit=6, prefixes=[prefix]))
    assert all(one.tokens[:3].tolist() == prefix.tolist() for one in found)
