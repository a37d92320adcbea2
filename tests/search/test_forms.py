"""An input that is read in several forms: an output has to suit all of them."""

import numpy as np
import pytest
from transition_table import Table, assert_all_same, looked_up_weights, random_table, request_for, rescored

from seqloom.recipe.sections import Beam, Exhaustive, Greedy, Sample, Search
from seqloom.search import EnsembleState, run
from seqloom.search.contracts import FloatArray, IntArray, State, Step
from seqloom.search.forms import Forms

SEARCHES: list[Search] = [Greedy(), Beam(width=3), Sample(count=3), Exhaustive(count=4)]


class Reading:
    """One model, to which each form of an input is another table."""

    def __init__(self, *forms: Table) -> None:
        self.forms = forms
        self.vocabulary_size = forms[0].vocabulary_size

    def step(self, tokens: IntArray, state: State) -> Step:
        return state.table.step(tokens, state)  # type: ignore[attr-defined,no-any-return]

    def start(self) -> EnsembleState:
        return EnsembleState(tuple(form.start() for form in self.forms))


def two_forms() -> Reading:
    plain, other = random_table(1, sentences=2), random_table(2, sentences=2)
    other.source_lengths = plain.source_lengths + 2  # slower: it has more positions
    return Reading(plain, other)


def scores_of(reading: Reading) -> FloatArray:
    state = reading.start()
    return Forms(reading, 2).step(np.zeros((state.sentences, 1), np.int64), state).all()


def test_a_symbol_has_the_mean_of_its_scores() -> None:
    reading = two_forms()
    expected = np.mean([form.log_probs[:, 0] for form in reading.forms], axis=0)
    np.testing.assert_allclose(scores_of(reading)[:, 0], expected, rtol=1e-6)
    assert scores_of(reading).dtype == np.float32


def test_what_one_form_rules_out_is_impossible() -> None:
    reading = two_forms()
    reading.forms[1].log_probs[:, :, 3] = -np.inf
    assert np.all(scores_of(reading)[:, :, 3] == -np.inf)


@pytest.mark.parametrize("section", SEARCHES)
def test_twice_the_same_form_is_that_form(section: Search) -> None:
    table = random_table(3, sentences=3)
    reading, request = Reading(table, table), request_for(table, limit=4)
    assert_all_same(run(Forms(reading, 2), reading.start(), section, request), run(table, table.start(), section, request))


@pytest.mark.parametrize("section", SEARCHES)
def test_attention_and_log_probs_are_those_of_the_first_form(section: Search) -> None:
    reading = two_forms()
    plain = reading.forms[0]
    found = run(Forms(reading, 2), reading.start(), section, request_for(plain, limit=4))
    for sentence, hypotheses in enumerate(found):
        for one in hypotheses:
            np.testing.assert_array_equal(one.log_probs, rescored(plain, sentence, one.tokens))
            np.testing.assert_array_equal(one.weights["text"], looked_up_weights(plain, sentence, one.tokens))


def test_a_state_of_another_number_of_forms_is_no_state() -> None:
    reading = two_forms()
    with pytest.raises(TypeError, match="3 forms of an input need an EnsembleState of as many"):
        Forms(reading, 3).step(np.zeros((2, 1), np.int64), reading.start())
