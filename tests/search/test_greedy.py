import numpy as np
from hypothesis import given
from transition_table import Table, assert_all_same, lecture_chain, quick, random_table, request_for, rescored, tables, words

from seqloom.recipe.sections import Beam, Greedy
from seqloom.search import run
from seqloom.symbols import BEGIN, END


def test_the_lecture_chain_leads_greedy_search_astray() -> None:
    table = lecture_chain()
    [[found]] = run(table, table.start(), Greedy(), request_for(table, limit=8))
    assert words(found) == "it was there end"
    np.testing.assert_allclose(np.exp(found.log_probs), [0.121, 0.3, 0.3, 0.5], rtol=1e-6)


@quick
@given(table=tables(sentences=4))
def test_every_symbol_is_the_most_probable_one(table: Table) -> None:
    for sentence, [found] in enumerate(run(table, table.start(), Greedy(), request_for(table))):
        for length in range(len(found.tokens)):
            choices = [np.array([*found.tokens[:length], v]) for v in range(table.vocabulary_size) if v != BEGIN]
            best = max(choices, key=lambda tokens: rescored(table, sentence, tokens)[-1])
            assert best[-1] == found.tokens[length]
        assert found.finished == (found.tokens[-1] == END)
        assert found.finished or len(found.tokens) == 5


@quick
@given(table=tables(sentences=4))
def test_a_beam_of_one_is_greedy_search(table: Table) -> None:
    request = request_for(table, limit=6)
    one = run(table, table.start(), Beam(width=1, length_power=0.0), request)
    assert_all_same(run(table, table.start(), Greedy(), request), one)


def test_the_score_is_the_log_probability() -> None:
    table = random_table(1)
    [[found]] = run(table, table.start(), Greedy(), request_for(table))
    assert found.score == found.log_prob


def test_the_state_is_not_copied_while_nothing_changes() -> None:
    table = random_table(2, sentences=3)
    run(table, table.start(), Greedy(minimum_length=4), request_for(table, limit=4))
    assert table.selections == 0
