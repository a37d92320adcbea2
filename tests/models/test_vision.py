"""Encoders of images: a grid of states, a summary, and what is learnt from drawings."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.encoders import build_encoder
from seqloom.models.encoders.vision import ConvolutionalNetwork, ImageEncoder
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.recipe import sections
from seqloom.results.layouts import Grid

from .harness import CLOSE, EXACT, item, make_batch, randomise, scored_by, sequences, steps_of
from .test_learning import write_greedily

HEIGHT, WIDTH, TARGETS = 20, 12, 7
LAYOUT = Grid(5, 3)
CNN = {"kind": "cnn", "channels": [4, 6], "size": 8}
FROZEN = {"kind": "efficientnet_lite0", "features": "middle", "size": 8}
ENCODERS: dict[str, dict[str, Any]] = {
    "cnn": CNN,
    "cnn-flatten-no_blocks": {**CNN, "summary": "flatten", "blocks": 0},
    "cnn-attend": {**CNN, "summary": "attend", "blocks": 0},
    "cnn-dense-unprojected": {**CNN, "summary": "dense", "size": None, "blocks": [0, 1]},
    "frozen": FROZEN,
    "frozen-flatten": {**FROZEN, "summary": "flatten"},
    "frozen-nothing_to_learn": {**FROZEN, "size": None, "positions": False},
}
BRIDGES: dict[str, dict[str, Any]] = {
    "initial": {"kind": "initial"},
    "every_step": {"kind": "every_step"},
    "additive": {"kind": "attention", "attention": {"kind": "additive", "size": 6}, "gate": True},
    "multi_head": {"kind": "attention", "attention": {"kind": "multi_head", "heads": 2, "size": 8}},
    "hard": {"kind": "attention", "attention": {"kind": "hard"}, "query": "current", "into": ["output"]},
    "cross_attention": {"kind": "cross_attention"},
}
RECURRENT = {"kind": "recurrent", "size": 8, "embedding": 4}
TRANSFORMER = {"kind": "transformer", "size": 8, "heads": 2}
every_encoder = pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS.keys())
MODELS = {
    f"{bridge}-{encoder}": (ENCODERS[encoder], BRIDGES[bridge])
    for bridge, encoder in product(BRIDGES, ENCODERS)
    if bridge != "cross_attention" or "summary" not in ENCODERS[encoder]  # which it would not read
}
every_model = pytest.mark.parametrize(("encoder", "bridge"), MODELS.values(), ids=MODELS.keys())


def build(encoder: dict[str, Any], bridge: dict[str, Any]) -> EncoderDecoder:
    decoder = TRANSFORMER if bridge["kind"] == "cross_attention" else RECURRENT
    section = sections.Model.model_validate({"encoder": encoder, "decoder": decoder, "bridge": bridge})
    model = EncoderDecoder(section, {"source": (HEIGHT, WIDTH, 3), "target": TARGETS})
    randomise(model)
    return model.double().eval()


def sources(encoder: dict[str, Any], count: int = 3) -> Padded:
    """What an encoder reads: pixels, or what a frozen network saw of them."""
    random = np.random.default_rng(1)
    if encoder["kind"] == "cnn":
        pixels = random.integers(0, 256, (count, 1, HEIGHT, WIDTH, 3), dtype=np.uint8)
        return Padded(pixels, np.ones(count, dtype=np.int64))
    features = random.normal(size=(count, 2 * 1, 112)).astype(np.float16)  # 20 x 12 pixels, 16 x 16 to a place
    return Padded(features, np.full(count, 2, dtype=np.int64))


def batch_of(encoder: dict[str, Any]) -> Batch:
    return make_batch({"source": sources(encoder)}, Padded.of(sequences((2, 4, 0), TARGETS, seed=2)))


def encoder_of(settings: dict[str, Any]) -> ImageEncoder:
    section = sections.Model.model_validate({"encoder": settings, "bridge": {"kind": "initial"}}).encoder
    assert section is not None
    encoder = build_encoder(section, (HEIGHT, WIDTH, 3))
    assert isinstance(encoder, ImageEncoder)
    randomise(encoder)
    return encoder.double().eval()


# --- what is written ------------------------------------------------------------------------------------------------


@every_encoder
def test_states_lie_in_a_grid_and_the_summary_is_as_wide_as_it_says(encoder: dict[str, Any]) -> None:
    built, read = encoder_of(encoder), sources(encoder)
    memory = built(torch.from_numpy(read.values), torch.from_numpy(read.lengths))
    assert built.layout == (LAYOUT if encoder["kind"] == "cnn" else Grid(2, 1))
    assert memory.states.shape == (3, built.layout.places, built.memory_size)
    assert memory.mask.all()
    assert memory.summary.shape == (3, built.summary_size)
    assert_close(memory.finals[-1][0], memory.summary)


def test_a_summary_is_the_mean_of_all_states_or_all_of_them_side_by_side_or_a_dense_layer_on_these() -> None:
    pixels = torch.from_numpy(sources(CNN).values)
    lengths = torch.ones(3, dtype=torch.int64)
    pooled, flat, dense = (encoder_of({**CNN, "summary": kind}) for kind in ("pool", "flatten", "dense"))
    memory = pooled(pixels, lengths)
    assert_close(memory.summary, memory.states.mean(dim=1))
    memory = flat(pixels, lengths)
    assert_close(memory.summary, memory.states.reshape(3, -1))
    memory = dense(pixels, lengths)
    assert dense.dense is not None
    whole = memory.states.reshape(3, -1)
    expected = torch.tanh(whole @ dense.dense.weight.T / whole.shape[1] ** 0.5 + dense.dense.bias)
    assert_close(memory.summary, expected)


def test_a_summary_that_attends_is_a_mean_in_which_a_learnt_score_says_what_counts() -> None:
    encoder = encoder_of({**CNN, "summary": "attend"})
    memory = encoder(torch.from_numpy(sources(CNN).values), torch.ones(3, dtype=torch.int64))
    assert encoder.telling is not None
    shares = torch.exp(memory.states @ encoder.telling.weight[0])
    expected = (shares[..., None] * memory.states).sum(dim=1) / shares.sum(dim=1, keepdim=True)
    assert_close(memory.summary, expected)


def test_rows_and_columns_are_told_apart() -> None:
    encoder = encoder_of(FROZEN)
    same = torch.ones(1, encoder.layout.places, 112, dtype=torch.float16)
    states = encoder(same, torch.tensor([2])).states[0]
    assert encoder.rows is not None
    assert encoder.columns is not None
    assert_close(states[1] - states[0], encoder.rows[1] - encoder.rows[0])
    unmarked = encoder_of({**FROZEN, "positions": False})(same, torch.tensor([2])).states[0]
    assert_close(unmarked[0], unmarked[1])


@every_encoder
def test_without_an_image_there_is_nothing_to_look_at(encoder: dict[str, Any]) -> None:
    read = sources(encoder, count=2)
    lengths = torch.from_numpy(read.lengths * [1, 0])
    memory = encoder_of(encoder)(torch.from_numpy(read.values), lengths)
    assert memory.mask[0].all()
    assert not memory.mask[1].any()
    assert not memory.summary[1].any()


def test_dropout_acts_in_training_alone() -> None:
    encoder = encoder_of({**FROZEN, "dropout": 0.5})
    read = sources(FROZEN)
    values, lengths = torch.from_numpy(read.values), torch.from_numpy(read.lengths)
    assert_close(encoder(values, lengths).states, encoder(values, lengths).states)
    encoder.train()
    assert not torch.equal(encoder(values, lengths).states, encoder(values, lengths).states)


# --- contracts ------------------------------------------------------------------------------------------------------


@every_model
@torch.inference_mode()
def test_a_batch_equals_its_items_in_training_too(encoder: dict[str, Any], bridge: dict[str, Any]) -> None:
    model, batch = build(encoder, bridge), batch_of(encoder)
    if bridge["kind"] != "attention" or bridge["attention"]["kind"] != "hard":
        model.train()  # nothing is drawn here, so nothing but normalisation could make a difference
    together = model.log_probs(batch)
    for index in range(3):
        alone = model.log_probs(item(batch, index))
        assert_close(together[index : index + 1, : alone.shape[1]], alone, atol=1e3 * EXACT, rtol=0)


@every_model
def test_the_stepper_says_what_the_whole_target_says(encoder: dict[str, Any], bridge: dict[str, Any]) -> None:
    batch = batch_of(encoder)
    stepper = TorchStepper(build(encoder, bridge))
    steps = steps_of(stepper, batch)
    np.testing.assert_allclose(scored_by(steps, batch), stepper.score(batch), atol=CLOSE)
    if bridge["kind"].endswith("attention"):
        places = LAYOUT.places if encoder["kind"] == "cnn" else 2
        assert steps[-1].weights["source"].shape[-1] == places
        np.testing.assert_allclose(steps[-1].weights["source"].sum(axis=-1), 1.0, atol=1e-6)


@every_model
def test_gradients_reach_every_parameter(encoder: dict[str, Any], bridge: dict[str, Any]) -> None:
    model = build(encoder, bridge).train()
    torch.manual_seed(1)
    model(batch_of(encoder)).objective.backward()
    for name, parameter in model.named_parameters():
        # A key's bias adds the same to all scores of a query, which no softmax can see.
        if not name.endswith("to_key.bias"):
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name


# --- learning -------------------------------------------------------------------------------------------------------

SIDE, SHAPES = 16, 4
"""Drawings of a bar that lies or stands, in one half or the other: shape and place both have to be seen."""


def drawings(random: np.random.Generator, count: int) -> Batch:
    """So many drawings, each with two symbols: which way the bar lies, and in which half it is."""
    pixels = random.integers(0, 60, (count, 1, SIDE, SIDE, 3), dtype=np.uint8)
    targets = random.integers(0, 2, (count, 2))
    for picture, (upright, second) in zip(pixels[:, 0], targets, strict=True):
        along, across = random.integers(0, SIDE - 8), second * SIDE // 2 + random.integers(1, SIDE // 2 - 3)
        bar = (slice(along, along + 8), slice(across, across + 2))
        picture[bar if upright else bar[::-1]] = random.integers(150, 256, 3)
    symbols = 3 + targets + [0, 2]
    return make_batch({"source": Padded(pixels, np.ones(count, dtype=np.int64))}, Padded.of(list(symbols)))


@pytest.mark.parametrize("bridge", ["attention", "initial"])
def test_drawings_are_learnt(bridge: str) -> None:
    torch.manual_seed(1)
    encoder = {"kind": "cnn", "channels": [8, 16], "size": 24, "summary": "pool" if bridge == "attention" else "dense"}
    section = sections.Model.model_validate(
        {"encoder": encoder, "decoder": {**RECURRENT, "size": 24, "embedding": 8}, "bridge": {"kind": bridge}}
    )
    network = EncoderDecoder(section, {"source": (SIDE, SIDE, 3), "target": 3 + SHAPES})
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    random = np.random.default_rng(1)
    for _ in range(120):
        batch = drawings(random, 32)
        optimiser.zero_grad()
        (network(batch).objective / batch.num_symbols).backward()
        optimiser.step()
    unseen = drawings(np.random.default_rng(2), 100)
    written = write_greedily(network, unseen, longest=2)
    exact = np.mean([one == list(other) for one, other in zip(written, unseen.target.values, strict=True)])
    assert exact >= 0.95


def test_a_state_sees_as_far_to_either_side_of_its_place_and_no_farther() -> None:
    network = ConvolutionalNetwork(sections.ConvolutionalEncoder(channels=(2, 2, 2), blocks=(0, 0, 1)))
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.uniform_(module.weight)
    pixels = torch.rand(1, 3, 128, 128, requires_grad=True)
    network(pixels)[0, :, 8, 8].sum().backward()
    assert pixels.grad is not None
    seen = pixels.grad[0].abs().sum(dim=(0, 1)).nonzero().flatten()
    # The place covers the pixels 64 .. 71.
    assert 0 < 64 - int(seen.min()) == int(seen.max()) - 71 < 56
