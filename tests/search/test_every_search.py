"""What holds for every search alike."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transition_table import Table, assert_all_same, looked_up_weights, quick, random_table, request_for, rescored, tables

from seqloom.errors import UsageError
from seqloom.recipe.sections import Beam, Exhaustive, Greedy, Sample, Search
from seqloom.search import Request, longest_outputs, run, search
from seqloom.symbols import BEGIN, END

EVERY = {
    "greedy": Greedy(),
    "beam": Beam(width=3),
    "beam_with_coverage": Beam(width=4, coverage=0.3, length_power=0.7),
    "sample": Sample(count=3),
    "cut_sample": Sample(count=2, top_k=3, top_p=0.9, temperature=1.3),
    "exhaustive": Exhaustive(count=4),
}
every_search = pytest.mark.parametrize("section", EVERY.values(), ids=EVERY.keys())


def varied(section: Search, **changes: object) -> Search:
    return section.model_copy(update=changes)


def in_turn(request: Request) -> Sequence[Request]:
    return [request.only(sentence) for sentence in range(request.sentences)]


@every_search
@quick
@given(table=tables(sentences=4), random=st.randoms(use_true_random=False))
def test_a_batch_gives_what_its_sentences_give_alone(section: Search, table: Table, random: Random) -> None:
    sentences = range(len(table.log_probs))
    prefixes = [np.array([2, 2, END][: random.choice([0, 0, 1, 2, 3])], np.int64) for _ in sentences]
    limits = np.array([random.choice([3, 4, 5]) for _ in sentences])
    request = request_for(table, limits=limits, prefixes=prefixes)
    together = run(table, table.start(), section, request)
    alone = [run(table, table.start([n]), section, one)[0] for n, one in zip(sentences, in_turn(request), strict=True)]
    assert_all_same(together, alone)


@every_search
@quick
@given(table=tables(sentences=3))
def test_log_probabilities_and_weights_are_those_of_the_path(section: Search, table: Table) -> None:
    for sentence, found in enumerate(run(table, table.start(), section, request_for(table, limit=5))):
        for one in found:
            np.testing.assert_array_equal(one.log_probs, rescored(table, sentence, one.tokens))
            np.testing.assert_allclose(one.log_prob, one.log_probs.sum(dtype=np.float64), rtol=1e-9)
            np.testing.assert_array_equal(one.weights["text"], looked_up_weights(table, sentence, one.tokens))


@every_search
def test_no_output_is_longer_than_its_limit(section: Search) -> None:
    table = random_table(1, sentences=4)
    limits = np.array([1, 2, 3, 4])
    for limit, found in zip(limits, run(table, table.start(), section, request_for(table, limits=limits)), strict=True):
        assert max(len(one.tokens) for one in found) <= limit
        assert all(one.finished or len(one.tokens) == limit for one in found)


@every_search
def test_a_prefix_is_followed_and_counts(section: Search) -> None:
    table = random_table(2, sentences=3)
    prefixes = [np.array([4, 2]), np.zeros(0, np.int64), np.array([3])]
    request = request_for(table, prefixes=prefixes, forbid=np.array([4]))
    for prefix, found in zip(prefixes, run(table, table.start(), section, request), strict=True):
        for one in found:
            assert one.tokens[: len(prefix)].tolist() == prefix.tolist()
            assert 4 not in one.tokens[len(prefix) :]
            np.testing.assert_allclose(one.log_prob, one.log_probs.sum(), rtol=1e-6)


@every_search
def test_a_prefix_may_be_the_whole_output(section: Search) -> None:
    table = random_table(3)
    request = request_for(table, prefixes=[np.array([3, 2, END])])
    [all_found] = run(table, table.start(), varied(section, minimum_length=4), request)
    for found in all_found:
        assert (found.tokens.tolist(), found.finished) == ([3, 2, END], True)
        np.testing.assert_array_equal(found.log_probs, rescored(table, 0, found.tokens))


@every_search
def test_no_output_ends_before_the_minimum_length(section: Search) -> None:
    table = random_table(4, sentences=3)
    for found in run(table, table.start(), varied(section, minimum_length=3), request_for(table)):
        assert all(END not in one.tokens[:3] for one in found)


@every_search
def test_forbidden_symbols_and_begin_are_never_written(section: Search) -> None:
    table = random_table(5, sentences=3)
    for found in run(table, table.start(), section, request_for(table, forbid=np.array([3]))):
        assert all(not {BEGIN, 3} & set(one.tokens.tolist()) for one in found)


@every_search
def test_where_nothing_may_be_written_the_output_is_cut_off(section: Search) -> None:
    table = random_table(6, sentences=2)
    forbid = np.arange(table.vocabulary_size)
    request = request_for(table, prefixes=[np.array([2, 3]), np.zeros(0, np.int64)], forbid=forbid)
    [[first, *_], [second, *_]] = run(table, table.start(), section, request)
    assert (first.tokens.tolist(), first.finished) == ([2, 3], False)
    assert (second.tokens.tolist(), second.log_prob, second.finished) == ([], 0.0, False)
    assert second.weights["text"].shape == (2, 0, table.source_lengths[1])


@every_search
def test_an_impossible_prefix_cuts_the_output_off(section: Search) -> None:
    table = random_table(7)
    table.log_probs[:, :, 3] = -np.inf
    [[found, *_]] = run(table, table.start(), section, request_for(table, prefixes=[np.array([2, 3, 2])]))
    assert (found.tokens.tolist(), found.finished) == ([2], False)


@every_search
def test_a_model_that_says_nothing_sensible_is_survived(section: Search) -> None:
    table = random_table(7)
    table.log_probs[:] = np.nan
    [[found]] = run(table, table.start(), section, request_for(table))
    assert (found.tokens.tolist(), found.finished) == ([], False)


@every_search
def test_an_empty_batch_gives_nothing(section: Search) -> None:
    table = random_table(8)
    assert run(table, table.start([]), section, request_for(table, sentences=[])) == []


@every_search
@quick
@given(table=tables(sentences=3))
def test_traces_tell_how_each_output_came_about(section: Search, table: Table) -> None:
    steps = search(table, table.start(), section, request_for(table, limit=4))
    told: dict[tuple[int, tuple[int, ...]], float] = {}
    before: dict[int, list[list[int]]] = {}
    while True:
        try:
            trace = next(steps)
        except StopIteration as stop:
            hypotheses = stop.value
            break
        for place, sentence in enumerate(trace.sentences.tolist()):
            beginnings = before.get(sentence, [[]])
            parents, tokens = trace.parents[place].tolist(), trace.tokens[place].tolist()
            before[sentence] = [[*beginnings[parent], token] for parent, token in zip(parents, tokens, strict=True)]
            assert all(len(one) == trace.step for one in before[sentence])
            for column in np.flatnonzero(trace.finished[place]):
                told[sentence, tuple(before[sentence][column])] = float(trace.log_probs[place, column])
    finished = [(sentence, one) for sentence, found in enumerate(hypotheses) for one in found if one.finished]
    ended = {(sentence, tuple(one.tokens.tolist())): one.log_prob for sentence, one in finished}
    assert {output: told[output] for output in ended} == ended


def test_a_request_for_another_batch_is_refused() -> None:
    table = random_table(9, sentences=2)
    with pytest.raises(UsageError, match="is for 2 sentences, but the model was started with 1"):
        search(table, table.start([0]), Greedy(), request_for(table))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"keys": np.arange(3)}, "`limits` is for 2 sentences, `keys` for 3"),
        ({"prefixes": [np.array([3])]}, "`limits` is for 2 sentences, `prefixes` for 1"),
        ({"source_lengths": {"text": np.array([3])}}, r"`source_lengths\['text'\]` for 1"),
        ({"limits": np.array([3, 0])}, "the smallest limit is 0"),
        ({"prefixes": [np.array([3] * 6), np.array([3])]}, "sentence 0: its prefix has 6 symbols, but its longest output 5"),
        ({"prefixes": [np.array([3]), np.array([END, 3])]}, r"sentence 1: its prefix is \[1, 3\]"),
        ({"prefixes": [np.array([BEGIN, 3]), np.array([3])]}, r"sentence 0: its prefix is \[0, 3\]"),
    ],
)
def test_a_request_that_cannot_be_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        request_for(random_table(9, sentences=2), **wrong)


def test_the_longest_output_follows_the_source() -> None:
    section = Greedy(length_factor=1.5, length_extra=2)
    assert longest_outputs(section, np.array([0, 1, 10])).tolist() == [2, 3, 17]
    assert longest_outputs(Greedy(length_factor=0.0, length_extra=0), np.array([4])).tolist() == [1]
