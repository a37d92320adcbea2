"""Terms of the loss about where a decoder looks: numbers one can check by hand, and what holds for whole batches."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, tensor
from torch.testing import assert_close

from seqloom.data.preparing.batches import Batch
from seqloom.models.attention import Chance
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.training.objective import coverage_loss, doubly_stochastic_loss, reinforce_loss

from .architectures import Architecture, Settings, attention_bridge, build_section
from .harness import batch_for, build_random, item, padded_further

ALL = torch.ones(1, 3, dtype=torch.bool)

# --- coverage -------------------------------------------------------------------------------------------------------


def test_looking_again_costs_what_two_looks_share() -> None:
    weights = tensor([[[[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]]]])
    # Step 2 looks again at a quarter; step 3 at half of the first position, and at half of the second.
    assert_close(coverage_loss(weights, ALL), tensor([0.25 + 0.5 + 0.5]))


def test_looking_at_every_position_once_costs_nothing() -> None:
    weights = torch.eye(3)[None, None]
    assert_close(coverage_loss(weights, ALL), tensor([0.0]))
    assert_close(doubly_stochastic_loss(weights, ALL, ALL), tensor([0.0]))


def test_looking_unevenly_costs_the_squares_of_what_is_missing_or_too_much() -> None:
    weights = tensor([[[[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]]])
    assert_close(doubly_stochastic_loss(weights, ALL, torch.ones(1, 2, dtype=torch.bool)), tensor([1.5**2 + 0.5**2]))


def test_steps_and_positions_that_are_padding_cost_nothing() -> None:
    weights = tensor([[[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]]])
    first_only, one_position = tensor([[True, False, False]]), tensor([[True, False]])
    assert_close(coverage_loss(weights, first_only), tensor([0.0]))
    assert_close(doubly_stochastic_loss(weights, first_only, one_position), tensor([0.0]))


def test_heads_count_by_their_mean() -> None:
    weights = tensor([[[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]]])
    both = torch.ones(1, 2, dtype=torch.bool)
    assert_close(coverage_loss(weights, both), tensor([1.0]))
    assert_close(doubly_stochastic_loss(weights, both, both), tensor([0.0]))


# --- draws ----------------------------------------------------------------------------------------------------------


def test_the_expected_gradient_of_draws_is_that_of_the_expected_reward() -> None:
    """All draws of one sentence, each as often as it is probable, beside a sentence that gives a baseline."""
    scores = tensor([0.3, -1.0, 0.7], dtype=torch.float64, requires_grad=True)
    rewards = tensor([-2.0, -0.1, -1.0], dtype=torch.float64)
    log_weights = scores.log_softmax(dim=0)
    other = tensor([[0.0]], dtype=torch.float64)
    counted = torch.ones(2, 1, dtype=torch.bool)
    expected_term = sum(
        float(log_weights[j].detach().exp())
        * reinforce_loss(
            torch.cat([log_weights[j].view(1, 1), other]),
            torch.cat([rewards[j].view(1, 1), other - 5.0]),
            counted,
            discount=1.0,
        )[0]
        for j in range(3)
    )
    assert isinstance(expected_term, Tensor)
    (found,) = torch.autograd.grad(expected_term, scores, retain_graph=True)
    (wanted,) = torch.autograd.grad(-(log_weights.exp() @ rewards), scores)
    assert_close(found, wanted)


def test_a_draw_is_rewarded_for_later_symbols_by_the_discount() -> None:
    drawn, rewards = tensor([[-1.0, -2.0, -4.0]]), tensor([[-0.5, -0.25, -0.125]])
    # Alone in its batch, a sentence has no baseline.
    assert_close(reinforce_loss(drawn, rewards, ALL, discount=0.0), tensor([-0.5 - 0.5 - 0.5]))
    assert_close(reinforce_loss(drawn, rewards, ALL, discount=1.0), tensor([-0.875 - 0.75 - 0.5]))
    halved = (0.5 + 0.125 + 0.03125) * 1 + (0.25 + 0.0625) * 2 + 0.125 * 4
    assert_close(reinforce_loss(drawn, rewards, ALL, discount=0.5), tensor([-halved]))


def test_the_baseline_is_the_mean_of_the_others_at_the_same_step() -> None:
    drawn = tensor([[-1.0, -1.0], [0.0, 0.0], [0.0, 0.0]])
    rewards = tensor([[-2.0, -3.0], [-1.0, -5.0], [-2.0, -7.0]])
    found = reinforce_loss(drawn, rewards, torch.ones(3, 2, dtype=torch.bool), discount=0.0)
    assert_close(found, tensor([(-2.0 + 1.5) + (-3.0 + 6.0), 0.0, 0.0]))


def test_padding_is_neither_rewarded_nor_part_of_a_baseline() -> None:
    drawn, rewards = tensor([[-1.0, -9.0], [-1.0, -1.0]]), tensor([[-2.0, -9.0], [-1.0, -3.0]])
    counted = tensor([[True, False], [True, True]])
    # No other sentence has a second symbol, so there it is compared with all that the other one has.
    assert_close(reinforce_loss(drawn, rewards, counted, discount=0.0), tensor([-2.0 + 1.0, (-1.0 + 2.0) + (-3.0 + 2.0)]))


def test_chances_join_step_by_step() -> None:
    steps = [Chance(tensor([[float(step)]]), tensor([[10.0 * step]])) for step in range(3)]
    joined = Chance.joined(steps)
    assert_close(joined.log_probs, tensor([[0.0, 1.0, 2.0]]))
    assert_close(joined.entropies, tensor([[0.0, 10.0, 20.0]]))


# --- whole models ---------------------------------------------------------------------------------------------------


IN_A_LOOP: Settings = {"query": "previous", "into": ("input",), "feed": False}
AT_ONCE: Settings = {"query": "current", "into": ("output",), "feed": False}
TERMS: Settings = {"coverage_loss": 0.7, "doubly_stochastic": 0.3}


def architecture_of(kind: str, use: Settings, terms: Settings) -> Architecture:
    return Architecture("of a test", build_section({**attention_bridge(kind, use), **terms}))


PENALISED = pytest.mark.parametrize(("kind", "use"), [("additive", IN_A_LOOP), ("multi_head", AT_ONCE), ("coverage", AT_ONCE)])


def objective_of(model: EncoderDecoder, batch: Batch) -> float:
    return float(model(batch).objective.detach())


@PENALISED
def test_the_terms_come_on_top_of_cross_entropy(kind: str, use: Settings) -> None:
    architecture, plain = architecture_of(kind, use, TERMS), architecture_of(kind, use, {})
    batch = batch_for(plain)
    model = build_random(architecture)
    with torch.no_grad():
        decoded = model.decode(batch)
    counted, mask = torch.from_numpy(batch.counted), torch.from_numpy(batch.sources["source"].mask)
    weights = decoded.weights["source"]
    terms = 0.7 * coverage_loss(weights, counted) + 0.3 * doubly_stochastic_loss(weights, counted, mask)
    assert float(terms.min()) > 0.0
    assert objective_of(model, batch) == pytest.approx(objective_of(build_random(plain), batch) + float(terms.sum()), abs=1e-5)


@PENALISED
def test_the_objective_of_a_batch_is_the_sum_of_its_items_whatever_the_padding(kind: str, use: Settings) -> None:
    architecture = architecture_of(kind, use, TERMS)
    model, batch = build_random(architecture), batch_for(architecture)
    together = objective_of(model, batch)
    assert together == pytest.approx(sum(objective_of(model, item(batch, index)) for index in range(3)), abs=1e-5)
    assert together == pytest.approx(objective_of(model, padded_further(batch)), abs=1e-5)


@PENALISED
def test_the_terms_count_by_the_weight_of_an_example(kind: str, use: Settings) -> None:
    architecture = architecture_of(kind, use, TERMS)
    model, batch = build_random(architecture), batch_for(architecture)
    heavier = replace(batch, weights=np.asarray([1.0, 3.0, 1.0], dtype=np.float32))
    more = objective_of(model, heavier) - objective_of(model, batch)
    assert more == pytest.approx(2.0 * objective_of(model, item(batch, 1)), abs=1e-5)


def test_entropy_is_rewarded() -> None:
    hard = {"kind": "hard", "score": {"kind": "bilinear"}, "soft_share": 0.0}
    found = {}
    for entropy in (0.0, 1.0):
        bridge = {"kind": "attention", **AT_ONCE, "attention": {**hard, "entropy": entropy}}
        architecture = Architecture("of a test", build_section(bridge))
        model = build_random(architecture).train()
        torch.manual_seed(3)
        found[entropy] = objective_of(model, batch_for(architecture))
    assert found[1.0] < found[0.0]


def test_what_is_drawn_is_a_function_of_the_seed() -> None:
    architecture = architecture_of("hard", IN_A_LOOP, {})
    model, batch = build_random(architecture).train(), batch_for(architecture)
    found = []
    for seed in (1, 1, 2, 3, 4):
        torch.manual_seed(seed)
        found.append(objective_of(model, batch))
    assert found[0] == found[1]
    assert len(set(found)) > 1
