"""Steppers for text that goes on: other first symbols, and line ends that end nothing."""

import numpy as np
import pytest
from transition_table import Table

from seqloom.recipe.sections import Beam, Greedy, Sample, Search
from seqloom.search import Hypotheses, Request, run
from seqloom.search.contracts import IntArray
from seqloom.search.running_text import Continued, Endless
from seqloom.symbols import BEGIN, END

A, B = 3, 4
NOTHING: IntArray = np.zeros(0, np.int64)

# After `begin` A, after A `end`, after `end` B, after B mostly B; the unknown symbol (2) never comes.
CHANCES = np.asarray(
    [
        [0.0, 0.2, 0.0, 0.7, 0.1],
        [0.1, 0.1, 0.0, 0.1, 0.7],
        [0.2, 0.2, 0.2, 0.2, 0.2],
        [0.0, 0.8, 0.0, 0.1, 0.1],
        [0.0, 0.3, 0.0, 0.1, 0.6],
    ]
)


@pytest.fixture
def table() -> Table:
    return Table(CHANCES[None])


def searched(stepper: Continued | Endless, table: Table, section: Search, length: int) -> Hypotheses:
    request = Request(limits=np.asarray([length]), keys=np.zeros(1, np.int64), source_lengths={})
    return run(stepper, table.start(), section, request)


def test_the_first_step_reads_the_given_symbol_and_later_ones_what_was_written(table: Table) -> None:
    [[found]] = searched(Continued(table, END), table, Greedy(), 3)
    np.testing.assert_array_equal(found.tokens, [B, B, B])
    np.testing.assert_allclose(np.exp(found.log_probs), [0.7, 0.6, 0.6], rtol=1e-6)


def test_begin_as_the_first_symbol_changes_nothing(table: Table) -> None:
    [[found]] = searched(Continued(table, BEGIN), table, Greedy(), 9)
    np.testing.assert_array_equal(found.tokens, [A, END])
    assert found.finished


@pytest.mark.parametrize("section", [Greedy(), Beam(width=2), Sample(seed=4)], ids=lambda one: one.kind)
def test_running_text_goes_on_after_a_line_break(table: Table, section: Search) -> None:
    endless = Endless(Continued(table, BEGIN))
    [found] = searched(endless, table, section, 12)
    for one in found:
        ids = endless.ids(one.tokens)
        assert len(ids) == 12
        assert not one.finished
        before = np.append(BEGIN, ids[:-1])
        np.testing.assert_allclose(np.exp(one.log_probs), CHANCES[before, ids], rtol=1e-5)
        assert END in ids


def test_all_and_at_and_top_agree_on_the_line_break(table: Table) -> None:
    endless = Endless(table)
    step = endless.step(np.asarray([[A]]), table.start())
    every = np.exp(step.all()[0, 0])
    np.testing.assert_allclose(every, [0.0, 0.0, 0.0, 0.1, 0.1, 0.8], rtol=1e-6)
    ids = np.arange(6)[None, None]
    np.testing.assert_allclose(np.exp(step.at(ids))[0, 0], every, rtol=1e-6)
    best, log_probs = step.top(1, NOTHING)
    assert (best.item(), np.exp(log_probs).item()) == (endless.line_break, pytest.approx(0.8))


def test_a_line_break_can_be_forbidden_and_end_needs_not_be(table: Table) -> None:
    endless = Endless(table)
    step = endless.step(np.asarray([[A]]), table.start())
    assert step.top(1, np.asarray([END]))[0].item() == endless.line_break
    assert step.top(1, np.asarray([endless.line_break, A]))[0].item() == B


def test_a_line_break_is_read_as_end(table: Table) -> None:
    endless = Endless(table)
    step = endless.step(np.asarray([[endless.line_break]]), table.start())
    np.testing.assert_allclose(np.exp(step.all()[0, 0, A : B + 1]), CHANCES[END, A : B + 1], rtol=1e-6)
