"""Outputs that lack what they are expected to have rank lower."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transition_table import Table, assert_all_same, quick, random_table, request_for, tables

from seqloom.recipe.sections import Beam
from seqloom.search import run
from seqloom.search.contracts import IntArray
from seqloom.search.phrases import Carry, Phrases


def lacking(tokens: list[int], phrases: list[list[int]]) -> int:
    """How many phrases are not there, as one would write it down."""
    runs = {tuple(tokens[start:end]) for start in range(len(tokens)) for end in range(start, len(tokens) + 1)}
    return sum(tuple(phrase) not in runs for phrase in phrases)


def arrays(phrases: list[list[list[int]]]) -> list[list[IntArray]]:
    return [[np.asarray(one) for one in sentence] for sentence in phrases]


phrases_of = st.lists(st.lists(st.integers(2, 4), min_size=1, max_size=3), max_size=3)


@quick
@given(table=tables(sentences=3, symbols=5), data=st.data())
def test_each_phrase_that_an_output_lacks_costs_the_weight(table: Table, data: st.DataObject) -> None:
    phrases = [data.draw(phrases_of) for _ in table.log_probs]
    request = request_for(table, phrases=arrays(phrases))
    for hypotheses, wanted in zip(run(table, table.start(), Beam(width=4, values=0.7), request), phrases, strict=True):
        for one in hypotheses:
            plain = one.log_prob / len(one.tokens)
            assert one.score == pytest.approx(plain - 0.7 * lacking(one.tokens.tolist(), wanted), abs=1e-6)
        scores = [one.score for one in hypotheses if one.finished]
        assert scores == sorted(scores, reverse=True)


def test_an_output_that_has_them_wins() -> None:
    probabilities = np.array(
        [[[0, 0.1, 0.5, 0.4, 0], [0, 1, 0, 0, 0], [0, 0.9, 0.1, 0, 0], [0, 0.6, 0, 0, 0.4], [0, 1, 0, 0, 0]]]
    )
    table, section = Table(probabilities), Beam(width=3, values=5.0, length_power=0.0)
    for phrases, best in (([], [2, 1]), ([[3]], [3, 1]), ([[3, 4]], [3, 4, 1]), ([[4, 3]], [2, 1])):
        [[first, *_]] = run(table, table.start(), section, request_for(table, phrases=arrays([phrases])))
        assert first.tokens.tolist() == best


@quick
@given(table=tables(sentences=3))
def test_nothing_changes_without_weight_or_phrases(table: Table) -> None:
    plain = run(table, table.start(), Beam(width=3), request_for(table))
    given = arrays([[[3, 2]]] * len(table.log_probs))
    assert_all_same(run(table, table.start(), Beam(width=3), request_for(table, phrases=given)), plain)
    assert_all_same(run(table, table.start(), Beam(width=3, values=1.0), request_for(table)), plain)


def test_sentences_do_not_hear_of_each_others_phrases() -> None:
    table = random_table(5, sentences=3)
    phrases = arrays([[[3, 2, 4]], [], [[2], [4]]])
    section = Beam(width=4, values=0.4, coverage=0.1)
    together = run(table, table.start(), section, request_for(table, phrases=phrases))
    for one in range(3):
        alone = run(table, table.start([one]), section, request_for(table, sentences=[one], phrases=phrases[one : one + 1]))
        assert [h.tokens.tolist() for h in alone[0]] == [h.tokens.tolist() for h in together[one]]
        assert [h.score for h in alone[0]] == pytest.approx([h.score for h in together[one]])


def test_a_phrase_that_begins_anew_within_itself_is_found() -> None:
    request = request_for(random_table(1), phrases=arrays([[[2, 2, 3]]]))
    phrases = Phrases(1.0, request)
    carry: Carry = {}
    for token in (2, 2, 2, 3):
        carry = phrases.carry(carry, np.zeros(1, np.int64), np.zeros((1, 1), np.int64), np.array([[token]]))
    assert phrases.penalties(carry["said"], np.zeros(1, np.int64)).tolist() == [[0.0]]
