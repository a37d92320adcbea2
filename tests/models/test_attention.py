"""Attention: numbers one can check by hand, and torch's multi-head attention on the same weights."""

import math

import pytest
import torch
from torch import Tensor, nn, tensor
from torch.testing import assert_close

from seqloom.models.attention import (
    AdditiveAttention,
    Attention,
    BilinearAttention,
    ConcatAttention,
    CoverageAttention,
    DotAttention,
    HardAttention,
    MultiHeadAttention,
    ProjectedAttention,
    Read,
    build_attention,
)
from seqloom.models.attention.local import InStepAttention, MonotonicAttention, PredictiveAttention
from seqloom.models.memory import Memory
from seqloom.recipe import sections

from .architectures import ATTENTIONS
from .harness import assert_same, randomise

THREE = math.log(3.0)
"""A score that is this much higher weighs three times as much."""


def memory_of(states: Tensor, mask: Tensor | None = None) -> Memory:
    real = torch.ones(states.shape[:2], dtype=torch.bool) if mask is None else mask
    return Memory(states, real, states[:, -1], ((states[:, -1],),))


def ask(attention: Attention, query: Tensor, memory: Memory) -> Read:
    keys = attention.prepare(memory)
    read: Read = attention(query, keys, attention.start(keys))
    return read


def build(kind: str, query_size: int, memory_size: int) -> Attention:
    section = sections.AttentionBridge.model_validate({"attention": ATTENTIONS[kind]}).attention
    attention = build_attention(section, query_size, memory_size).double()
    randomise(attention)
    return attention.eval()


# --- by hand --------------------------------------------------------------------------------------------------------


def test_a_position_that_scores_log_three_higher_weighs_three_times_as_much() -> None:
    memory = memory_of(tensor([[[0.0, 4.0], [1.0, 0.0], [9.0, 9.0]]]), tensor([[True, True, False]]))
    read = ask(DotAttention(2, scaled=False), tensor([[[THREE, 0.0]]]), memory)
    assert_close(read.weights, tensor([[[[0.25, 0.75, 0.0]]]]))
    assert_close(read.context, tensor([[[0.75, 1.0]]]))


def test_a_scaled_score_is_divided_by_the_root_of_the_width() -> None:
    memory = memory_of(tensor([[[0.0, 0.0, 0.0, 4.0], [1.0, 0.0, 0.0, 0.0]]]))
    read = ask(DotAttention(4, scaled=True), tensor([[[2.0 * THREE, 0.0, 0.0, 0.0]]]), memory)
    assert_close(read.weights, tensor([[[[0.25, 0.75]]]]))


def test_every_query_has_weights_of_its_own() -> None:
    memory = memory_of(tensor([[[0.0], [1.0]]]))
    read = ask(DotAttention(1, scaled=False), tensor([[[THREE], [0.0], [-THREE]]]), memory)
    assert_close(read.weights, tensor([[[[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]]]]))
    assert_close(read.context, tensor([[[0.75], [0.5], [0.25]]]))


def test_scores_far_apart_do_not_overflow() -> None:
    memory = memory_of(tensor([[[-1e4], [0.0], [1e4]]]))
    read = ask(DotAttention(1, scaled=False), tensor([[[1e4]]]), memory)
    assert_close(read.weights, tensor([[[[0.0, 0.0, 1.0]]]]))


def test_a_source_without_positions_has_no_weights_no_context_and_no_gradient_that_is_not_a_number() -> None:
    states = torch.ones(1, 2, 3, requires_grad=True)
    read = ask(DotAttention(3, scaled=False), torch.ones(1, 1, 3), memory_of(states, tensor([[False, False]])))
    assert_close(read.weights, torch.zeros(1, 1, 1, 2))
    assert_close(read.context, torch.zeros(1, 1, 3))
    (gradient,) = torch.autograd.grad(read.context.sum(), states)
    assert_close(gradient, torch.zeros(1, 2, 3))


def test_bilinear_attention_with_the_identity_is_dot_attention() -> None:
    bilinear = BilinearAttention(3, 3)
    nn.init.eye_(bilinear.matrix.weight)
    memory, query = memory_of(torch.randn(2, 4, 3)), torch.randn(2, 5, 3)
    assert_close(ask(bilinear, query, memory).weights, ask(DotAttention(3, scaled=False), query, memory).weights)


def test_concat_attention_is_additive_attention_with_its_two_matrices_side_by_side() -> None:
    additive, concat = AdditiveAttention(3, 4, 5), ConcatAttention(3, 4, 5)
    with torch.no_grad():
        concat.hidden.weight.copy_(torch.cat([additive.from_query.weight, additive.from_memory.weight], dim=1))
        concat.energy.weight.copy_(additive.energy.weight)
    memory, query = memory_of(torch.randn(2, 6, 4)), torch.randn(2, 5, 3)
    assert_close(ask(concat, query, memory).weights, ask(additive, query, memory).weights)


def test_projected_attention_without_a_nonlinearity_and_with_identities_is_dot_attention() -> None:
    projected = ProjectedAttention(3, 3, 3, layers=1, activation="none", scaled=False)
    for stack in (projected.to_query, projected.to_key):
        nn.init.eye_(stack.get_parameter("0.weight"))
    memory, query = memory_of(torch.randn(2, 4, 3)), torch.randn(2, 5, 3)
    assert_close(ask(projected, query, memory).weights, ask(DotAttention(3, scaled=False), query, memory).weights)


# --- coverage -------------------------------------------------------------------------------------------------------


def test_the_coverage_is_the_sum_of_the_weights_before_and_changes_the_scores() -> None:
    attention = CoverageAttention(3, 4, 5)
    randomise(attention)
    keys = attention.prepare(memory_of(torch.randn(2, 6, 4), tensor([[True] * 6, [True] * 2 + [False] * 4])))
    query = torch.randn(2, 1, 3)
    first = attention(query, keys, attention.start(keys))
    second = attention(query, keys, first.carry)
    assert_close(first.carry[0], first.weights[:, 0])
    assert_close(second.carry[0], (first.weights + second.weights)[:, 0])
    assert not torch.allclose(first.weights, second.weights)


def test_without_a_vector_for_the_coverage_it_is_additive_attention() -> None:
    additive, covering = AdditiveAttention(3, 4, 5), CoverageAttention(3, 4, 5)
    covering.load_state_dict({**additive.state_dict(), "from_coverage": torch.zeros(5)})
    memory, query = memory_of(torch.randn(2, 6, 4)), torch.randn(2, 1, 3)
    keys = covering.prepare(memory)
    later = covering(query, keys, covering(query, keys, covering.start(keys)).carry)
    assert_close(later.weights, ask(additive, query, memory).weights)


# --- local ----------------------------------------------------------------------------------------------------------


def test_a_monotonic_window_moves_a_position_each_step_and_stays_at_the_last() -> None:
    attention = MonotonicAttention(DotAttention(1, scaled=False), window=1)
    keys = attention.prepare(memory_of(torch.ones(1, 6, 1), tensor([[True] * 5 + [False]])))
    carry, seen = attention.start(keys), []
    for _ in range(7):
        read = attention(torch.ones(1, 1, 1), keys, carry)
        carry = read.carry
        seen.append(read.weights[0, 0, 0].nonzero()[:, 0].tolist())
    assert seen == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4], [3, 4], [3, 4]]


def test_in_step_looks_at_a_position_of_its_own_each_step_and_nowhere_beyond_the_last() -> None:
    attention = InStepAttention(1)
    keys = attention.prepare(memory_of(tensor([[[1.0], [2.0], [3.0]]]), tensor([[True, True, False]])))
    carry, contexts = attention.start(keys), []
    for _ in range(4):
        read = attention(torch.ones(1, 1, 1), keys, carry)
        carry = read.carry
        contexts.append(float(read.context))
    assert contexts == [1.0, 2.0, 0.0, 0.0]


def test_a_predictive_window_lies_where_the_query_says_under_a_gaussian() -> None:
    attention = PredictiveAttention(DotAttention(1, scaled=False), 1, window=2)
    nn.init.zeros_(attention.to_place.weight)  # sigmoid(0): in the middle
    mask = tensor([[True] * 6 + [False]])
    weights = ask(attention, torch.zeros(1, 1, 1), memory_of(torch.ones(1, 7, 1), mask)).weights[0, 0, 0]
    around = torch.exp(-(tensor([2.0, 1.0, 0.0, 1.0, 2.0]) ** 2) / 2.0)  # positions 1 to 5 around p = 3, deviation 1
    assert_close(weights, torch.cat([around / around.sum(), torch.zeros(2)]))


@pytest.mark.parametrize("place", [-1e4, 1e4])
def test_a_window_always_has_a_position(place: float) -> None:
    attention = PredictiveAttention(DotAttention(1, scaled=False), 1, window=1)
    nn.init.ones_(attention.to_hidden.weight)
    nn.init.constant_(attention.to_place.weight, place)
    weights = ask(attention, torch.ones(1, 1, 1), memory_of(torch.ones(1, 4, 1))).weights
    assert_close(weights.sum(), tensor(1.0))


# --- hard -----------------------------------------------------------------------------------------------------------


def test_hard_attention_looks_at_the_best_position_alone() -> None:
    memory = memory_of(tensor([[[0.0, 4.0], [1.0, 0.0], [9.0, 9.0]]]), tensor([[True, True, False]]))
    attention = HardAttention(DotAttention(2, scaled=False), soft_share=0.5).eval()
    read = ask(attention, tensor([[[THREE, 0.0], [0.0, 1.0]]]), memory)
    assert_close(read.weights, tensor([[[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]]]))
    assert_close(read.context, tensor([[[1.0, 0.0], [0.0, 4.0]]]))
    assert read.chance is None


def test_in_training_positions_are_drawn_by_their_weights() -> None:
    torch.manual_seed(1)
    memory = memory_of(tensor([[[0.0], [1.0], [9.0]]]).expand(4000, 3, 1), tensor([[True, True, False]]).expand(4000, 3))
    read = ask(HardAttention(DotAttention(1, scaled=False), soft_share=0.0), tensor([[[THREE]]]).expand(4000, 1, 1), memory)
    assert_close(read.weights.sum(dim=-1), torch.ones(4000, 1, 1))
    assert_close(read.weights.mean(dim=0)[0, 0], tensor([0.25, 0.75, 0.0]), atol=0.03, rtol=0.0)
    assert read.chance is not None
    chosen = read.weights[:, 0, :, 1] == 1.0
    assert_close(read.chance.log_probs.exp(), torch.where(chosen, 0.75, 0.25))
    entropy = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    assert_close(read.chance.entropies, torch.full((4000, 1), entropy))


def test_in_training_a_share_of_the_sentences_is_read_softly_from_begin_to_end() -> None:
    torch.manual_seed(1)
    memory = memory_of(tensor([[[0.0], [1.0]]]).expand(1000, 2, 1))
    attention = HardAttention(DotAttention(1, scaled=False), soft_share=0.25)
    keys = attention.prepare(memory)
    carry = attention.start(keys)
    first, second = (attention(tensor([[[THREE]]]).expand(1000, 1, 1), keys, carry) for _ in range(2))
    soft = first.weights.amax(dim=-1)[:, 0, 0] < 1.0
    assert abs(float(soft.float().mean()) - 0.25) < 0.05
    assert_close(second.weights[soft], tensor([[[0.25, 0.75]]]).expand(int(soft.sum()), 1, 1, 2))
    assert first.chance is not None
    assert not first.chance.log_probs[soft].any()


def test_a_source_without_positions_has_no_weights_when_positions_are_drawn() -> None:
    memory = memory_of(torch.ones(1, 2, 3), tensor([[False, False]]))
    attention = HardAttention(BilinearAttention(3, 3), soft_share=0.0)
    read = ask(attention, torch.ones(1, 1, 3), memory)
    assert_close(read.weights, torch.zeros(1, 1, 1, 2))
    assert read.chance is not None
    gradients = torch.autograd.grad((read.chance.log_probs + read.chance.entropies).sum(), list(attention.parameters()))
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


# --- what holds for every kind --------------------------------------------------------------------------------------


ORDERED = ("local_monotonic", "local_predictive", "local_previous", "location_window", "in_step")
"""The kinds to which it matters where a position stands."""


@pytest.mark.parametrize("kind", [kind for kind in ATTENTIONS if kind not in ORDERED])
def test_the_order_of_positions_does_not_matter(kind: str) -> None:
    attention = build(kind, 6, 6)
    states, query = torch.randn(2, 5, 6, dtype=torch.float64), torch.randn(2, 3, 6, dtype=torch.float64)
    mask = tensor([[True, True, True, False, False], [True] * 5])
    shuffled = tensor([3, 0, 4, 2, 1])
    read = ask(attention, query, memory_of(states, mask))
    other = ask(attention, query, memory_of(states[:, shuffled], mask[:, shuffled]))
    assert_same(other.context, read.context)
    assert_same(other.weights, read.weights[..., shuffled])


@pytest.mark.parametrize("kind", ATTENTIONS)
def test_preparing_keys_leaves_nothing_on_the_module(kind: str) -> None:
    attention = build(kind, 6, 6)
    before = dict(vars(attention))
    query = torch.randn(1, 1, 6, dtype=torch.float64)
    here, there = (memory_of(torch.randn(1, 4, 6, dtype=torch.float64)) for _ in range(2))
    keys = attention.prepare(here)
    carry = attention.start(keys)
    expected = attention(query, keys, carry).context
    attention.prepare(there)  # another request comes in between
    assert_same(attention(query, keys, carry).context, expected)
    assert vars(attention) == before


# --- torch ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_multi_head_attention_equals_that_of_torch(heads: int) -> None:
    size, memory_size = 8, 5
    ours = MultiHeadAttention(size, memory_size, heads=heads, size=size).double()
    randomise(ours)
    theirs = nn.MultiheadAttention(size, heads, kdim=memory_size, vdim=memory_size, batch_first=True).double()
    copy_into(ours, theirs)
    mask = tensor([[True] * 6, [True, True, False, False, False, False], [False, True, True, False, True, False]])
    states, query = torch.randn(3, 6, memory_size, dtype=torch.float64), torch.randn(3, 4, size, dtype=torch.float64)
    read = ask(ours, query, memory_of(states, mask))
    context, weights = theirs(query, states, states, key_padding_mask=~mask, average_attn_weights=False)
    assert_same(read.context, context)
    assert_same(read.weights, weights)


@torch.no_grad()
def copy_into(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    weights = dict(theirs.named_parameters())
    weights["q_proj_weight"].copy_(ours.to_query.weight)
    weights["k_proj_weight"].copy_(ours.to_key.weight)
    weights["v_proj_weight"].copy_(ours.to_value.weight)
    weights["in_proj_bias"].copy_(torch.cat([ours.to_query.bias, ours.to_key.bias, ours.to_value.bias]))
    weights["out_proj.weight"].copy_(ours.to_context.weight)
    weights["out_proj.bias"].copy_(ours.to_context.bias)


def test_the_bias_of_keys_cancels_in_the_softmax() -> None:
    attention = MultiHeadAttention(4, 4, heads=2, size=4).double()
    randomise(attention)
    memory, query = memory_of(torch.randn(1, 5, 4, dtype=torch.float64)), torch.randn(1, 3, 4, dtype=torch.float64)
    expected = ask(attention, query, memory).weights
    with torch.no_grad():
        attention.to_key.bias.add_(1.0)
    assert_same(ask(attention, query, memory).weights, expected)
