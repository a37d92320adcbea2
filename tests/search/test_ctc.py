"""CTC beside attention: prefix scores against an enumeration of all spellings, and the joint search."""

from itertools import groupby, product

import numpy as np
import pytest
import torch
from transition_table import Table

from seqloom.errors import UsageError
from seqloom.models.ctc import CtcHead
from seqloom.models.memory import Memory
from seqloom.recipe.sections import Beam, Ctc, Exhaustive, Greedy
from seqloom.search.contracts import FloatArray
from seqloom.search.ctc import BLANK, Joint, JointState, PositionScores, PrefixState
from seqloom.search.dispatch import run
from seqloom.search.request import Request
from seqloom.symbols import BEGIN, END

SYMBOLS = 5  # begin (the blank), end, unknown, a, b


def positions(count: int, seed: int = 1) -> FloatArray:
    """Log-probabilities [S, V]."""
    logits = np.random.default_rng(seed).normal(size=(count, SYMBOLS)) * 2
    found: FloatArray = (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).astype(np.float32)
    return found


def spellings(log_probs: FloatArray) -> dict[tuple[int, ...], float]:
    """The probability of every output, by all paths through the positions."""
    found: dict[tuple[int, ...], float] = {}
    for path in product(range(SYMBOLS), repeat=len(log_probs)):
        output = tuple(symbol for symbol, _ in groupby(path) if symbol != BLANK)
        chance = float(np.exp(sum(log_probs[t, symbol] for t, symbol in enumerate(path))))
        found[output] = found.get(output, 0.0) + chance
    return found


def started(*arrays: FloatArray) -> PrefixState:
    longest = max(map(len, arrays))
    padded = np.stack([np.pad(one, ((0, longest - len(one)), (0, 0)), constant_values=0.7) for one in arrays])
    return PrefixState.start(PositionScores(padded, np.array([len(one) for one in arrays])))


def after(state: PrefixState, written: tuple[int, ...]) -> PrefixState:
    state = state.written(np.full((state.sentences, 1), BEGIN))
    for symbol in written:
        state = state.written(np.full((state.sentences, 1), symbol))
    return state


PREFIXES = [(), (3,), (4,), (3, 3), (3, 4), (4, 3, 3), (2, 3), (3, 4, 3, 4)]


@pytest.mark.parametrize("prefix", PREFIXES, ids=str)
def test_prefix_scores_are_sums_over_all_spellings(prefix: tuple[int, ...]) -> None:
    log_probs = positions(5)
    every = spellings(log_probs)

    def beginning(start: tuple[int, ...]) -> float:
        return sum(chance for output, chance in every.items() if output[: len(start)] == start)

    state = after(started(log_probs, positions(3, seed=2)), prefix)
    scores = np.exp(state.following()[0, 0])
    whole = beginning(prefix)
    for symbol in (2, 3, 4):
        assert scores[symbol] == pytest.approx(beginning((*prefix, symbol)) / whole, rel=1e-4, abs=1e-7)
    assert scores[END] == pytest.approx(every.get(prefix, 0.0) / whole, rel=1e-4, abs=1e-7)
    assert scores[BLANK] == 0.0


def test_a_sentence_does_not_depend_on_its_neighbours() -> None:
    short, long = positions(2, seed=3), positions(6, seed=4)
    together, alone = after(started(short, long), (3, 4)), after(started(short), (3, 4))
    np.testing.assert_allclose(together.following()[0], alone.following()[0], rtol=1e-5)


def test_what_no_spelling_has_room_for_is_impossible() -> None:
    state = after(started(positions(3)), (3, 3))  # a silence between the two takes the third
    scores = state.following()[0, 0]
    assert np.isneginf(scores[[2, 3, 4]]).all()
    assert np.isfinite(scores[END])


def test_the_loss_is_that_of_the_whole_target() -> None:
    torch.manual_seed(1)
    head = CtcHead(Ctc(weight=0.5), "source", 3, SYMBOLS)
    memory = Memory(torch.randn(2, 5, 3), torch.tensor([[True] * 5, [True] * 4 + [False]]), torch.zeros(2, 3), ())
    losses = head.loss(memory, torch.tensor([[3, 3, 4], [4, 0, 0]]), torch.tensor([3, 1])).detach()
    said = head(memory)[0].detach().numpy()
    expected = [-np.log(spellings(said[0])[3, 3, 4]), -np.log(spellings(said[1][:4])[(4,)])]
    np.testing.assert_allclose(losses.numpy(), expected, rtol=1e-4)


# --- the joint search -----------------------------------------------------------------------------------------------


def never_changing(sentences: int) -> Table:
    """A model that says the same after everything."""
    return Table(np.tile(np.array([1e-9, 0.2, 0.1, 0.4, 0.3]), (sentences, 1, 1)))


def joint_scores(model: FloatArray, log_probs: FloatArray, weight: float) -> dict[tuple[int, ...], float]:
    """The joint score of every output of at most three symbols. model: log-probabilities that never change."""
    return {
        output: (1 - weight) * float(sum(model[symbol] for symbol in output) + model[END]) + weight * float(np.log(chance))
        for output, chance in spellings(log_probs).items()
        if len(output) <= 3 and not {BEGIN, END} & set(output)
    }


@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_a_wide_beam_finds_the_best_joint_score(weight: float) -> None:
    log_probs, stepper = positions(4, seed=5), never_changing(1)
    model = stepper.log_probs[0, 0]
    state = JointState(stepper.start(), started(log_probs))
    request = Request(limits=np.array([4]), keys=np.array([0]))
    for section in (Beam(width=60, length_power=0.0), Exhaustive(count=1, length_power=0.0)):
        best = run(Joint(stepper, weight), state, section, request)[0][0]
        expected = joint_scores(model, log_probs, weight)
        wanted = max(expected, key=lambda one: expected[one])
        assert tuple(best.tokens[:-1]) == wanted
        assert best.score == pytest.approx(expected[wanted], rel=1e-4)
        assert best.log_prob == pytest.approx(sum(model[symbol] for symbol in best.tokens), rel=1e-4)


def test_without_weight_nothing_changes_and_rows_follow_their_parents() -> None:
    stepper = never_changing(2)
    request = Request(limits=np.array([4, 4]), keys=np.array([0, 1]))
    states = JointState(stepper.start(), started(positions(4, seed=6), positions(2, seed=7)))
    with_nothing = run(Joint(stepper, 0.0), states, Greedy(), request)
    plain = run(stepper, stepper.start(), Greedy(), request)
    assert [one[0].tokens.tolist() for one in with_nothing] == [one[0].tokens.tolist() for one in plain]
    together = run(Joint(stepper, 0.5), states, Beam(width=3), request)
    for sentence, log_probs in enumerate((positions(4, seed=6), positions(2, seed=7))):
        alone = JointState(stepper.start([sentence]), started(log_probs))
        found = run(Joint(stepper, 0.5), alone, Beam(width=3), request.only(sentence))[0]
        assert [one.tokens.tolist() for one in found] == [one.tokens.tolist() for one in together[sentence]]


def test_a_weight_beyond_one_is_refused() -> None:
    with pytest.raises(UsageError, match="a share from 0 to 1"):
        Joint(never_changing(1), 1.5)
