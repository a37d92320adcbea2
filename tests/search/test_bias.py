"""Some symbols are taken for more, or for less, probable than the model says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transition_table import Table, every_search, quick, random_table, request_for, rescored, tables

from seqloom.recipe.sections import Beam, Greedy, Search
from seqloom.search import Fused, FusedState, run
from seqloom.search.bias import Biased, biased


def with_biases(table: Table, biases: dict[int, float]) -> Table:
    """A table that has the biases in its probabilities."""
    probabilities = np.exp(table.log_probs.astype(np.float64))
    for symbol, bias in biases.items():
        probabilities[:, :, symbol] *= np.exp(bias)
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    return Table(probabilities, memory=table.memory, source_lengths=table.source_lengths.tolist())


@every_search
@quick
@given(table=tables(sentences=3), bias=st.floats(-3, 3))
def test_outputs_are_those_of_a_model_with_these_probabilities(section: Search, table: Table, bias: float) -> None:
    biases = {1: bias, 2: -bias}
    request = request_for(table)
    found = run(Biased(table, biases), table.start(), section, request)
    other = with_biases(table, biases)
    for ours, theirs in zip(found, run(other, other.start(), section, request), strict=True):
        assert [one.tokens.tolist() for one in ours] == [one.tokens.tolist() for one in theirs]
        assert [one.score for one in ours] == pytest.approx([one.score for one in theirs], abs=1e-4)


@every_search
def test_log_probs_are_the_models_own(section: Search) -> None:
    table = random_table(4, sentences=2)
    found = run(Biased(table, {3: 1.0}), table.start(), section, request_for(table))
    for sentence, hypotheses in enumerate(found):
        for one in hypotheses:
            np.testing.assert_allclose(one.log_probs, rescored(table, sentence, one.tokens), atol=1e-6)


def test_log_probs_are_the_models_own_under_fusion_too() -> None:
    table, language = random_table(4, sentences=1), random_table(9, sentences=1)
    language.heads = 0
    stepper = Fused(Biased(table, {3: 1.0}), language, 0.5)
    [[best, *_]] = run(stepper, FusedState(table.start(), language.start()), Beam(width=3), request_for(table))
    np.testing.assert_allclose(best.log_probs, rescored(table, 0, best.tokens), atol=1e-6)


def test_no_bias_is_the_model_itself() -> None:
    table = random_table(4)
    assert biased(table, {}) is table
    request = request_for(table)
    none = run(Biased(table, {3: 0.0}), table.start(), Greedy(), request)
    plain = run(table, table.start(), Greedy(), request)
    assert none[0][0].tokens.tolist() == plain[0][0].tokens.tolist()
