import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from transition_table import Table, quick, request_for, tables

from seqloom.recipe.sections import Beam, Exhaustive
from seqloom.search import run
from seqloom.search.dispatch import to_the_end
from seqloom.search.endings import endings
from seqloom.symbols import BEGIN, END


def never_ending() -> Table:
    """A symbol that is nearly always followed by itself: three others are more probable than an end at every step."""
    row = np.array([0.0, 0.01, 0.0, 0.5, 0.25, 0.24])
    return Table(np.broadcast_to(row, (1, 1, 6)).copy())


def test_a_plain_beam_may_find_no_ending_where_this_one_does() -> None:
    table, section = never_ending(), Beam(width=3, length_power=0.0)
    [plain] = run(table, table.start(), section, request_for(table, limit=8))
    assert not any(one.finished for one in plain)
    [found] = to_the_end(endings(table, table.start(), section, request_for(table, limit=8)))
    assert [one.tokens.tolist() for one in found] == [[END], [3, END], [4, END]]
    assert all(one.finished for one in found)
    np.testing.assert_allclose([one.log_prob for one in found], np.log([0.01, 0.005, 0.0025]), rtol=1e-5)


@quick
@given(table=tables(sentences=2, symbols=5), limit=st.integers(1, 4), power=st.sampled_from([0.0, 1.0]))
def test_a_wide_beam_finds_the_best_endings_of_all(table: Table, limit: int, power: float) -> None:
    request = request_for(table, limit=limit)
    width = sum((table.vocabulary_size - 2) ** length for length in range(limit + 1))
    everything = run(table, table.start(), Exhaustive(count=width, length_power=power), request)
    found = to_the_end(endings(table, table.start(), Beam(width=width, length_power=power), request))
    for some, others in zip(found, everything, strict=True):
        wanted = sorted((one.score for one in others if one.finished), reverse=True)
        np.testing.assert_allclose([one.score for one in some if one.finished], wanted, rtol=1e-6)


@quick
@given(table=tables(sentences=2, symbols=5), least=st.integers(0, 3))
def test_no_output_ends_before_its_minimum_length(table: Table, least: int) -> None:
    section = Beam(width=3, length_power=0.0, minimum_length=least)
    for found in to_the_end(endings(table, table.start(), section, request_for(table, limit=6))):
        assert all(len(one.tokens) > least and BEGIN not in one.tokens for one in found)
