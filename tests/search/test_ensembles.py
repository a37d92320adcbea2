import numpy as np
import pytest
from transition_table import Table, assert_all_same, random_table, request_for

from seqloom.errors import UsageError
from seqloom.recipe.sections import Beam, Exhaustive, Greedy, Sample, Search
from seqloom.search import Ensemble, EnsembleState, run
from seqloom.search.ensembles import EnsembleStep

NOTHING = np.zeros(0, np.int64)


def first_step(*members: Table) -> EnsembleStep:
    state = EnsembleState(tuple(member.start() for member in members))
    return Ensemble(members).step(np.zeros((state.sentences, 1), np.int64), state)


def pair() -> tuple[Table, Table]:
    one, other = random_table(1, sentences=2), random_table(2, sentences=2)
    other.source_lengths = one.source_lengths
    return one, other


def test_probabilities_are_averaged() -> None:
    one, other = pair()
    expected = (np.exp(one.log_probs[:, 0]) + np.exp(other.log_probs[:, 0])) / 2
    np.testing.assert_allclose(np.exp(first_step(one, other).all()[:, 0]), expected, rtol=1e-5)


def test_what_no_member_allows_stays_impossible() -> None:
    one, other = pair()
    one.log_probs[:, :, 3] = other.log_probs[:, :, 3] = -np.inf
    one.log_probs[:, :, 4] = -np.inf
    log_probs = first_step(one, other).all()
    assert np.all(log_probs[:, :, 3] == -np.inf)
    np.testing.assert_allclose(log_probs[:, 0, 4], other.log_probs[:, 0, 4] - np.log(2), rtol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 4, 5, 7])
def test_the_best_are_the_best_of_all(k: int) -> None:
    step = first_step(*pair())
    ids, log_probs = step.top(k, np.array([2, 99]))
    allowed = step.all().copy()
    allowed[:, :, 2] = -np.inf
    expected = -np.sort(-allowed, axis=2)[:, :, :k]
    assert ids.shape == log_probs.shape == (2, 1, k)
    np.testing.assert_array_equal(log_probs[:, :, : expected.shape[2]], expected)
    assert np.all(log_probs[:, :, expected.shape[2] :] == -np.inf)
    real = np.isfinite(log_probs)
    np.testing.assert_array_equal(step.at(ids % 5)[real], log_probs[real])


@pytest.mark.parametrize("section", [Greedy(), Beam(coverage=0.2), Sample(count=3), Exhaustive()])
def test_twice_the_same_model_is_that_model(section: Search) -> None:
    table = random_table(3, sentences=3)
    request = request_for(table)
    both = run(Ensemble([table, table]), EnsembleState((table.start(), table.start())), section, request)
    assert_all_same(both, run(table, table.start(), section, request))


def test_an_ensemble_finds_what_its_members_agree_on() -> None:
    first, second = np.full((2, 1, 6, 6), 0.02)
    first[0, 0, [3, 5]] = 0.5, 0.4
    second[0, 0, [4, 5]] = 0.5, 0.4
    tables = [Table(first), Table(second)]
    state = EnsembleState(tuple(table.start() for table in tables))
    [[found]] = run(Ensemble(tables), state, Greedy(), request_for(tables[0], limit=1))
    assert found.tokens.tolist() == [5]


def test_weights_are_averaged_over_members_that_attend() -> None:
    one, other = pair()
    silent = random_table(4, sentences=2)
    silent.heads = 0
    states = [table.start() for table in (one, other)]
    both = [
        table.step(np.zeros((2, 1), np.int64), state).weights["text"] for table, state in zip((one, other), states, strict=True)
    ]
    np.testing.assert_allclose(first_step(one, silent, other).weights["text"], (both[0] + both[1]) / 2, rtol=1e-6)


def test_weights_of_different_heads_are_averaged_over_heads_first() -> None:
    one, other = pair()
    other.heads = 5
    weights = first_step(one, other).weights["text"]
    alone = [first_step(table).weights["text"].mean(axis=2) for table in (one, other)]
    assert weights.shape[2] == 1
    np.testing.assert_allclose(weights[:, :, 0], (alone[0] + alone[1]) / 2, rtol=1e-6)


def test_members_must_share_vocabularies() -> None:
    with pytest.raises(UsageError, match=r"these write \[5, 6\]"):
        Ensemble([random_table(1), random_table(1, symbols=6)])
    with pytest.raises(UsageError, match="Give at least one model"):
        Ensemble([])


def test_members_must_read_the_source_alike() -> None:
    one, other = pair()
    other.source_lengths = one.source_lengths + 2
    with pytest.raises(UsageError, match="read the source 'text' as"):
        _ = first_step(one, other).weights


def test_an_ensemble_needs_a_state_for_every_member() -> None:
    one, other = pair()
    with pytest.raises(TypeError, match="needs an EnsembleState of as many"):
        Ensemble([one, other]).step(np.zeros((2, 1), np.int64), one.start())
