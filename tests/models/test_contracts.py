"""What holds for every model: one harness over all cells, bridges, attentions and ways to use a context."""

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch

from seqloom.data.arrays import Padded
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.recipe.sections import (
    AttentionBridge,
    CrossAttentionBridge,
    EveryStepBridge,
    InitialBridge,
    NoBridge,
    RecurrentDecoder,
    TransformerDecoder,
)
from seqloom.symbols import BEGIN

from . import equations
from .architectures import (
    ARCHITECTURES,
    CELLS,
    DIFFERING_USES,
    FURTHER_ATTENTIONS,
    SIMPLE_ATTENTIONS,
    USES,
    Architecture,
)
from .harness import (
    ATTENDING,
    EVERY,
    EVERY_IN_BOTH_PRECISIONS,
    PLAIN_AND_READING,
    PLAIN_ONES,
    ROUNDED,
    assert_same,
    assert_same_state,
    assert_same_weights,
    batch_for,
    build_random,
    continued,
    first_state,
    item,
    looking_steps,
    model_of,
    padded_further,
    real_positions,
    said_of,
    steps_of,
    tokens_of,
    whole,
)
from .letters import decoder_of, source_of

# --- one step and many ----------------------------------------------------------------------------------------------


@EVERY
def test_forward_over_a_whole_target_equals_unrolled_steps_of_the_stepper(architecture: Architecture) -> None:
    batch, expected = batch_for(architecture), said_of(architecture)
    steps = steps_of(TorchStepper(model_of(architecture)), batch)
    assert_same(torch.from_numpy(np.concatenate([step.all() for step in steps], axis=1)), expected.log_probs, ROUNDED)
    weights = {
        name: torch.from_numpy(np.concatenate([step.weights[name] for step in steps], axis=1)).transpose(1, 2)
        for name in steps[0].weights
    }
    assert_same_weights(weights, expected.weights, ROUNDED)
    assert_same_state(steps[-1].state.inner, expected.state)


@EVERY
def test_two_halves_with_the_state_handed_over_equal_the_whole(architecture: Architecture) -> None:
    model, batch = model_of(architecture), batch_for(architecture)
    expected = said_of(architecture)
    left, right = tokens_of(batch).tensor_split(2, dim=1)
    first = continued(model, left, first_state(model, batch))
    second = continued(model, right, first.state)
    assert_same(torch.cat([first.log_probs, second.log_probs], dim=1), expected.log_probs)
    assert_same_weights(
        {name: torch.cat([first.weights[name], second.weights[name]], dim=2) for name in first.weights}, expected.weights
    )
    assert_same_state(second.state, expected.state)


@PLAIN_ONES
def test_a_score_is_the_log_probability_of_each_label_and_zero_on_padding(architecture: Architecture) -> None:
    batch, every = batch_for(architecture), said_of(architecture).log_probs
    scores = torch.from_numpy(TorchStepper(model_of(architecture)).score(batch))
    labels, real = torch.from_numpy(np.asarray(batch.labels.values, dtype=np.int64)), torch.from_numpy(batch.labels.mask)
    assert_same(scores[real], every.gather(-1, labels[..., None])[..., 0][real], ROUNDED)
    assert not scores[~real].any()


# --- neighbours and padding -----------------------------------------------------------------------------------------


@EVERY_IN_BOTH_PRECISIONS
def test_extra_padding_changes_nothing(architecture: Architecture, dtype: torch.dtype, tolerance: float) -> None:
    model, batch = model_of(architecture, dtype), batch_for(architecture)
    expected, actual = said_of(architecture, dtype), whole(model, padded_further(batch))
    real = torch.from_numpy(batch.inputs.mask)
    times = real.shape[1]
    assert_same(actual.log_probs[:, :times][real], expected.log_probs[real], tolerance)
    for name, weights in expected.weights.items():
        positions = weights.shape[-1]
        longer = actual.weights[name][:, :, :times, :positions]
        assert_same(longer.transpose(1, 2)[real], weights.transpose(1, 2)[real], tolerance)
        assert not actual.weights[name][..., positions:].any()


@EVERY_IN_BOTH_PRECISIONS
def test_a_batch_equals_its_items(architecture: Architecture, dtype: torch.dtype, tolerance: float) -> None:
    model, batch = model_of(architecture, dtype), batch_for(architecture)
    together = said_of(architecture, dtype)
    for index, length in enumerate(batch.inputs.lengths):
        alone = whole(model, item(batch, index))
        assert_same(together.log_probs[index, :length], alone.log_probs[0, :length], tolerance)
        for name, weights in alone.weights.items():
            positions = weights.shape[-1]
            assert_same(together.weights[name][index, :, :length, :positions], weights[0, :, :length], tolerance)


@PLAIN_AND_READING
def test_a_source_without_symbols_is_read_as_nothing_whatever_its_neighbours(architecture: Architecture) -> None:
    model, batch = model_of(architecture), batch_for(architecture, source_lengths=(3, 0, 4))
    together, alone = whole(model, batch), whole(model, item(batch, 1))
    assert torch.isfinite(together.log_probs).all()
    length = batch.inputs.lengths[1]
    assert_same(together.log_probs[1, :length], alone.log_probs[0, :length])
    for weights in together.weights.values():
        assert not weights[1].any()


# --- beams ----------------------------------------------------------------------------------------------------------


class Beams:
    """A grid of rows in the stepper and, beside it, the sentence that each row belongs to and the symbols it has read."""

    def __init__(self, architecture: Architecture) -> None:
        self.model, self.batch = model_of(architecture), batch_for(architecture)
        self.stepper = TorchStepper(self.model)
        self.state = self.stepper.start(self.batch.sources, 3)
        self.sentences = [0, 1, 2]
        self.read: list[list[list[int]]] = [[[]], [[]], [[]]]

    def select(self, sentences: Sequence[int], parents: Sequence[Sequence[int]]) -> None:
        self.state = self.state.select(np.asarray(sentences), np.asarray(parents))
        self.read = [[list(self.read[one][row]) for row in rows] for one, rows in zip(sentences, parents, strict=True)]
        self.sentences = [self.sentences[one] for one in sentences]

    def step(self, tokens: Sequence[Sequence[int]]) -> None:
        """Advance every row, and compare each with a sentence of its own that has read the same symbols."""
        step = self.stepper.step(np.asarray(tokens), self.state)
        self.state = step.state
        self.read = [
            [[*seen, token] for seen, token in zip(rows, chosen, strict=True)]
            for rows, chosen in zip(self.read, tokens, strict=True)
        ]
        owners = [one for one, rows in zip(self.sentences, self.read, strict=True) for _ in rows]
        repeated = {name: Padded(source.values[owners], source.lengths[owners]) for name, source in self.batch.sources.items()}
        apart = torch.tensor([seen for rows in self.read for seen in rows])
        with torch.inference_mode():
            start = self.model.decoder.start(self.model.encode(repeated), len(owners))
        said = continued(self.model, apart, start)
        assert_same(torch.from_numpy(step.all()).flatten(0, 1), said.log_probs[:, -1], ROUNDED)
        weights = {name: torch.from_numpy(one).flatten(0, 1) for name, one in step.weights.items()}
        assert_same_weights(weights, {name: one[:, :, -1] for name, one in said.weights.items()}, ROUNDED)


@EVERY
def test_a_step_of_a_grid_equals_as_many_separate_sentences(architecture: Architecture) -> None:
    beams = Beams(architecture)
    beams.select([0, 1, 2], [[0, 0, 0, 0]] * 3)
    beams.step([[BEGIN] * 4] * 3)
    beams.step([[2, 3, 4, 5], [5, 5, 2, 6], [3, 4, 6, 2]])


@EVERY
def test_select_follows_rows_and_lets_sentences_go(architecture: Architecture) -> None:
    beams = Beams(architecture)
    beams.step([[BEGIN]] * 3)
    beams.select([0, 1, 2], [[0, 0, 0]] * 3)
    beams.step([[2, 3, 4], [5, 6, 2], [3, 3, 6]])
    beams.select([0, 1, 2], [[2, 0, 0], [1, 1, 1], [0, 2, 1]])
    beams.step([[4, 2, 3], [2, 3, 4], [6, 6, 5]])
    beams.select([0, 2], [[1, 2], [2, 0]])
    beams.step([[4, 2], [3, 5]])
    beams.select([1], [[0, 1, 0]])
    beams.step([[6, 2, 3]])


@PLAIN_AND_READING
def test_a_beam_does_not_copy_memories_while_the_sentences_stay(architecture: Architecture) -> None:
    batch = batch_for(architecture)
    state = TorchStepper(model_of(architecture)).start(batch.sources, 3)
    assert state.select(np.arange(3), np.zeros((3, 5), dtype=np.int64)).inner.link is state.inner.link
    fewer = state.select(np.asarray([0, 2]), np.zeros((2, 5), dtype=np.int64)).inner.link
    for name, keys in state.inner.link.keys.items():
        for part in ("keys", "values", "mask"):
            assert torch.equal(getattr(fewer.keys[name], part), getattr(keys, part)[[0, 2]])


# --- attention ------------------------------------------------------------------------------------------------------


@ATTENDING
def test_attention_weights_sum_to_one_and_vanish_on_padding(architecture: Architecture) -> None:
    for name, weights in said_of(architecture).weights.items():
        looks = torch.from_numpy(looking_steps(architecture, name, weights.shape[2]))
        assert_same(weights.sum(dim=-1), looks[:, None].expand(weights.shape[:-1]).to(weights))
        padding = torch.from_numpy(~real_positions(architecture, name))
        assert not weights.permute(0, 3, 1, 2)[padding].any()
        if architecture.looks_everywhere:
            assert (weights.permute(0, 3, 1, 2)[~padding] > 0).all()


# --- learning -------------------------------------------------------------------------------------------------------


@EVERY
def test_gradients_reach_every_parameter(architecture: Architecture) -> None:
    model = build_random(architecture).train()  # without dropout: nothing but what is drawn in training differs
    names, parameters = zip(*model.named_parameters(), strict=True)
    torch.manual_seed(1)
    gradients = torch.autograd.grad(model(batch_for(architecture)).objective, parameters, materialize_grads=True)
    # A key's bias adds the same to all scores of a query, which no softmax can see: its gradient is nothing but rounding. Nor
    # does it matter how a vector is scored, which has one position.
    unseen = re.compile(r"to_key\.bias$|attentions\.vector|\.vector_\d\.to_(query|key)\.")
    unreached = [
        name for name, gradient in zip(names, gradients, strict=True) if gradient.abs().max() < 1e-9 and not unseen.search(name)
    ]
    assert unreached == []


# --- the lectures ---------------------------------------------------------------------------------------------------


@EVERY
def test_the_equations_of_the_lectures_give_the_same_log_probabilities(architecture: Architecture) -> None:
    model, batch = model_of(architecture), batch_for(architecture)
    said = said_of(architecture)
    for sentence, length in enumerate(batch.inputs.lengths):
        symbols = [symbols_at(architecture, name, sentence) for name in batch.sources]
        decoder = decoder_of(model, architecture.section, [len(one) for one in symbols])
        source = source_of(architecture, model, batch, sentence)
        inputs = [int(y) for y in batch.inputs.values[sentence][:length]]
        match decoder:
            case equations.TransformerDecoder():
                written = equations.decode_looking_back(source, decoder, inputs)
            case equations.MonotonicDecoder():
                assert source is not None
                written = equations.decode_walking(source, decoder, inputs)
            case _:
                written = equations.decode(source, decoder, list(chain.from_iterable(symbols)), inputs)
        assert_same(said.log_probs[sentence, :length], torch.from_numpy(written.log_probs), 1e-8)
        looked = [
            weights[sentence, :, :length][..., real_positions(architecture, name)[sentence]]
            for name, weights in said.weights.items()
        ]
        if looked:
            assert_same(torch.cat(looked, dim=-1), torch.from_numpy(written.weights), 1e-8)


def symbols_at(architecture: Architecture, name: str, sentence: int) -> list[int | None]:
    """The symbols at a source's positions, None where it has no symbols, or another source is named to be copied from."""
    source, bridge = batch_for(architecture).sources[name], architecture.section.bridge
    named = bridge.copy if isinstance(bridge, AttentionBridge) and isinstance(bridge.copy, str) else name
    if source.values.ndim == 2 and dict(architecture.sources)[name] == "text" and name == named:
        return [int(x) for x in source.values[sentence][: source.lengths[sentence]]]
    return [None] * int(real_positions(architecture, name)[sentence].sum())


# --- the set itself -------------------------------------------------------------------------------------------------


def test_the_covering_set_covers() -> None:
    seen = list(ARCHITECTURES.values())
    recurrent = [(one.section.bridge, one.section.decoder) for one in seen if isinstance(one.section.decoder, RecurrentDecoder)]
    assert len({(type(bridge), decoder.cell, decoder.reset) for bridge, decoder in recurrent}) == 5 * len(CELLS)
    transformers = {type(one.section.bridge) for one in seen if isinstance(one.section.decoder, TransformerDecoder)}
    assert transformers == {NoBridge, InitialBridge, EveryStepBridge, CrossAttentionBridge}
    ways = [one.section.bridge for one in seen if isinstance(one.section.bridge, AttentionBridge)]
    further = {AttentionBridge.model_validate({"attention": kind}).attention for kind in FURTHER_ATTENTIONS.values()}
    uses = {
        (type(b.attention), getattr(b.attention, "scaled", None), b.query, b.into, b.feed)
        for b in ways
        if b.attention not in further
    }
    assert len(uses) == len(SIMPLE_ATTENTIONS) * len(USES) == 6 * 13
    further_uses = {(b.attention, b.query, b.into, b.feed) for b in ways if b.attention in further}
    assert len(further_uses) == len(FURTHER_ATTENTIONS) * len(DIFFERING_USES)
