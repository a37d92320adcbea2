from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transition_table import (
    Table,
    assert_all_same,
    every_search,
    lecture_chain,
    looked_up_weights,
    quick,
    random_table,
    request_for,
    rescored,
    tables,
    words,
)

from seqloom.errors import UsageError
from seqloom.recipe.sections import Beam, Exhaustive, Greedy, Sample, Search
from seqloom.search import Ensemble, EnsembleState, Fused, FusedState, Hypotheses, Request, run
from seqloom.search.fusion import FusedStep
from seqloom.symbols import END


def language_table(model: Table, seed: int = 77) -> Table:
    """A table without attention that writes the same symbols as the given one."""
    table = random_table(seed, sentences=len(model.log_probs), symbols=model.vocabulary_size)
    table.heads = 0
    return table


def fused_run(
    model: Table,
    language_model: Table,
    weight: float,
    section: Search,
    request: Request,
    sentences: Sequence[int] | None = None,
) -> Hypotheses:
    state = FusedState(model.start(sentences), language_model.start(sentences))
    return run(Fused(model, language_model, weight), state, section, request)


def first_step(model: Table, language_model: Table, weight: float) -> FusedStep:
    state = FusedState(model.start(), language_model.start())
    return Fused(model, language_model, weight).step(np.zeros((state.sentences, 1), np.int64), state)


# --- one step -------------------------------------------------------------------------------------------------------


def test_logarithms_are_added_for_every_symbol() -> None:
    model = random_table(1, sentences=2)
    language_model = language_table(model)
    step = first_step(model, language_model, 0.4)
    expected = model.log_probs[:, :1] + 0.4 * language_model.log_probs[:, :1]
    np.testing.assert_allclose(step.all(), expected, rtol=1e-6)
    ids = np.array([[[3, 0, 3]], [[1, 2, 4]]])
    np.testing.assert_array_equal(step.at(ids), np.take_along_axis(step.all(), ids, axis=2))
    assert step.all().dtype == np.float32


@pytest.mark.parametrize("k", [1, 2, 4, 5, 7])
def test_the_best_are_the_best_of_all(k: int) -> None:
    model = random_table(1, sentences=2)
    step = first_step(model, language_table(model), 2.0)
    ids, scores = step.top(k, np.array([2, 99]))
    allowed = step.all().copy()
    allowed[:, :, 2] = -np.inf
    expected = -np.sort(-allowed, axis=2)[:, :, :k]
    assert ids.shape == scores.shape == (2, 1, k)
    np.testing.assert_array_equal(scores[:, :, : expected.shape[2]], expected)
    assert np.all(scores[:, :, expected.shape[2] :] == -np.inf)


def test_the_best_of_the_sum_may_be_nobodys_favourite() -> None:
    model, language_model = (np.full((1, 6, 6), 0.02) for _ in range(2))
    model[0, 0, [3, 5]] = 0.5, 0.4
    language_model[0, 0, [4, 5]] = 0.5, 0.4
    request = request_for(Table(model), limit=1)
    [[found]] = fused_run(Table(model), Table(language_model), 1.0, Greedy(), request)
    assert found.tokens.tolist() == [5]


# --- whole outputs --------------------------------------------------------------------------------------------------


@every_search
@pytest.mark.parametrize("impossible", [False, True], ids=["plain", "with impossible symbols"])
def test_without_weight_the_language_model_has_no_say(section: Search, impossible: bool) -> None:
    model = random_table(3, sentences=3)
    language_model = language_table(model)
    if impossible:
        language_model.log_probs[:, :, 3] = -np.inf
    request = request_for(model, limit=4)
    assert_all_same(fused_run(model, language_model, 0.0, section, request), run(model, model.start(), section, request))


@every_search
@quick
@given(table=tables(sentences=3), weight=st.sampled_from([0.1, 0.5, 2.0]))
def test_log_probs_are_the_models_own_and_scores_are_fused(section: Search, table: Table, weight: float) -> None:
    language_model = language_table(table)
    found = fused_run(table, language_model, weight, section, request_for(table, limit=4))
    power = section.length_power if isinstance(section, Beam | Exhaustive) else 0.0
    for sentence, hypotheses in enumerate(found):
        for one in hypotheses:
            own, other = (rescored(which, sentence, one.tokens) for which in (table, language_model))
            np.testing.assert_array_equal(one.log_probs, own)
            assert one.log_prob == pytest.approx(own.sum(dtype=np.float64))
            np.testing.assert_array_equal(one.weights["text"], looked_up_weights(table, sentence, one.tokens))
            fused = (own + weight * other).sum(dtype=np.float64) / len(one.tokens) ** power
            # Coverage only ever takes away.
            covered = isinstance(section, Beam) and section.coverage
            assert one.score <= fused + 1e-5 * abs(fused) if covered else one.score == pytest.approx(fused, rel=1e-5)
        scores = [one.score for one in hypotheses if one.finished]
        assert scores == sorted(scores, reverse=True)


@quick
@given(
    table=tables(sentences=2, symbols=5),
    limit=st.integers(1, 4),
    power=st.sampled_from([0.0, 1.0]),
    weight=st.sampled_from([0.2, 1.0, 5.0]),
)
def test_a_wide_beam_is_an_exhaustive_search(table: Table, limit: int, power: float, weight: float) -> None:
    request = request_for(table, limit=limit)
    language_model = language_table(table)
    width = sum((table.vocabulary_size - 2) ** length for length in range(limit + 1))
    everything = fused_run(table, language_model, weight, Exhaustive(count=width, length_power=power), request)
    beams = fused_run(table, language_model, weight, Beam(width=width, length_power=power), request)
    assert [[one.score for one in found] for found in beams] == [[one.score for one in found] for found in everything]
    assert [{tuple(one.tokens.tolist()) for one in found} for found in beams] == [
        {tuple(one.tokens.tolist()) for one in found} for found in everything
    ]


def test_exhaustive_search_finds_the_best_fused_sum() -> None:
    table = random_table(6)
    language_model = language_table(table)
    request = request_for(table, limit=3)
    [plain] = run(table, table.start(), Exhaustive(count=10_000, length_power=0.0), request)
    fused = {
        tuple(one.tokens.tolist()): one.log_prob + 0.7 * rescored(language_model, 0, one.tokens).sum(dtype=np.float64)
        for one in plain
        if one.finished
    }
    [[best, *_]] = fused_run(table, language_model, 0.7, Exhaustive(count=1, length_power=0.0), request)
    assert tuple(best.tokens.tolist()) == max(fused, key=lambda tokens: fused[tokens])
    assert best.score == pytest.approx(max(fused.values()), rel=1e-5)


def test_a_language_model_can_change_the_greedy_mind_of_the_lecture() -> None:
    model = lecture_chain()
    language_model = lecture_chain()
    language_model.log_probs[0, 0, :] = np.log(0.05)
    language_model.log_probs[0, 0, 4] = np.log(0.4)  # sentences begin with "I"
    request = request_for(model, limit=5)
    assert words(run(model, model.start(), Greedy(), request)[0][0]).startswith("it")
    assert words(fused_run(model, language_model, 0.3, Greedy(), request)[0][0]) == "I am going home end"


# --- what may be written --------------------------------------------------------------------------------------------


@every_search
def test_prefixes_forbidden_symbols_and_a_minimum_length_hold(section: Search) -> None:
    table = random_table(2, sentences=3)
    prefixes = [np.array([4, 2]), np.zeros(0, np.int64), np.array([3])]
    request = request_for(table, prefixes=prefixes, forbid=np.array([4]))
    longer = section.model_copy(update={"minimum_length": 3})
    for prefix, found in zip(prefixes, fused_run(table, language_table(table), 0.8, longer, request), strict=True):
        for one in found:
            assert one.tokens[: len(prefix)].tolist() == prefix.tolist()
            assert 4 not in one.tokens[len(prefix) :]
            assert END not in one.tokens[:3]
            np.testing.assert_allclose(one.log_prob, one.log_probs.sum(), rtol=1e-6)


@every_search
def test_what_the_language_model_rules_out_is_never_written(section: Search) -> None:
    table = random_table(4, sentences=2)
    language_model = language_table(table)
    language_model.log_probs[:, :, 3] = -np.inf
    for found in fused_run(table, language_model, 0.1, section, request_for(table)):
        assert all(3 not in one.tokens for one in found)


@every_search
def test_a_result_does_not_depend_on_its_neighbours(section: Search) -> None:
    table = random_table(5, sentences=4)
    language_model = language_table(table)
    whole = fused_run(table, language_model, 0.5, section, request_for(table))
    for sentence in range(4):
        request = request_for(table, sentences=[sentence])
        alone = fused_run(table, language_model, 0.5, section, request, sentences=[sentence])
        assert [one.tokens.tolist() for one in alone[0]] == [one.tokens.tolist() for one in whole[sentence]]


# --- sampling -------------------------------------------------------------------------------------------------------


def test_samples_follow_the_renormalised_product() -> None:
    table = random_table(8)
    language_model = language_table(table)
    drawn = fused_run(table, language_model, 0.5, Sample(count=4000, seed=1), request_for(table, limit=1))
    counts = np.bincount([int(one.tokens[0]) for one in drawn[0]], minlength=table.vocabulary_size)
    product = np.exp(table.log_probs[0, 0].astype(np.float64) + 0.5 * language_model.log_probs[0, 0])
    product[0] = 0.0  # `begin` is never written
    np.testing.assert_allclose(counts / 4000, product / product.sum(), atol=0.03)


# --- ensembles, and what is refused ---------------------------------------------------------------------------------


def test_an_ensemble_is_fused_as_one_model() -> None:
    table = random_table(9, sentences=2)
    language_model = language_table(table)
    request = request_for(table)
    state = FusedState(EnsembleState((table.start(), table.start())), language_model.start())
    both = run(Fused(Ensemble([table, table]), language_model, 0.6), state, Beam(width=3), request)
    alone = fused_run(table, language_model, 0.6, Beam(width=3), request)
    for ours, theirs in zip(both, alone, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.tokens.tolist() == other.tokens.tolist()
            assert (one.score, one.log_prob) == pytest.approx((other.score, other.log_prob), rel=1e-5)


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused(weight: float) -> None:
    table = random_table(1)
    with pytest.raises(UsageError, match=r"is a number from 0 up, such as 0\.3, not"):
        Fused(table, table, weight)


def test_other_vocabularies_are_refused() -> None:
    with pytest.raises(UsageError, match="the model writes 5 symbols, the language model 6"):
        Fused(random_table(1), random_table(1, symbols=6), 0.3)


def test_a_fused_model_needs_both_states() -> None:
    table = random_table(1)
    with pytest.raises(TypeError, match="needs a FusedState"):
        Fused(table, table, 0.3).step(np.zeros((1, 1), np.int64), table.start())
