"""What dropout of every kind leaves out, and that both ways through a model leave out the same."""

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from seqloom.models.cells import Cell, LstmCell, build_cell, unroll
from seqloom.models.decoders import RecurrentDecoder
from seqloom.models.dropout import InputDropout, SequenceDropout, set_dropout_share
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.recipe import sections

from .architectures import BRIDGES, CELLS, Architecture, build_section
from .harness import assert_same, batch_for, build_random, whole

KINDS: Mapping[str, Mapping[str, Any]] = {
    "dropout": {"dropout": 0.4},
    "locked": {"dropout": 0.4, "locked": True},
    "weights": {"weight_dropout": 0.4},
    "embeddings": {"embedding_dropout": 0.4},
    "all": {"dropout": 0.2, "input_dropout": 0.3, "locked": True, "weight_dropout": 0.4, "embedding_dropout": 0.1},
}
RATE = 0.25


def dropping(architecture: Architecture, kind: Mapping[str, Any]) -> Architecture:
    """The architecture with dropout in encoder and decoder."""
    section = architecture.section
    decoder = section.decoder.model_copy(update=dict(kind))
    encoder = None if section.encoder is None else section.encoder.model_copy(update=dict(kind))
    return Architecture(architecture.name, section.model_copy(update={"encoder": encoder, "decoder": decoder}))


def architecture_of(cell: str, bridge: str, layers: int = 2, tied: str = "none") -> Architecture:
    return Architecture(bridge, build_section(BRIDGES[bridge], cell=CELLS[cell], layers=(layers, layers), tied=tied))


def gradients_of(model: EncoderDecoder, architecture: Architecture, seed: int) -> dict[str, Tensor]:
    torch.manual_seed(seed)
    parameters = dict(model.named_parameters())
    objective = model.train()(batch_for(architecture)).objective
    return dict(zip(parameters, torch.autograd.grad(objective, list(parameters.values())), strict=True))


# --- both ways through a model --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bridge", ["none", "initial", "004"])
def test_torchs_kernel_leaves_out_what_plain_steps_leave_out(bridge: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    architecture = dropping(architecture_of("lstm", bridge), KINDS[kind])
    actual = gradients_of(build_random(architecture), architecture, seed=5)
    monkeypatch.setattr(LstmCell, "run", Cell.run)
    expected = gradients_of(build_random(architecture), architecture, seed=5)
    for name, gradient in expected.items():
        assert_same(actual[name], gradient, 1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_decide_what_is_left_out(kind: str) -> None:
    architecture = dropping(architecture_of("lstm", "bahdanau"), KINDS[kind])
    model = build_random(architecture)
    first, again, other = (gradients_of(model, architecture, seed) for seed in (5, 5, 6))
    assert all(torch.equal(again[name], gradient) for name, gradient in first.items())
    assert not all(torch.equal(other[name], gradient) for name, gradient in first.items())


@pytest.mark.parametrize("cell", CELLS)
def test_evaluation_leaves_nothing_out(cell: str) -> None:
    plain = architecture_of(cell, "luong")
    dropped = dropping(plain, KINDS["all"])
    assert_same(
        whole(build_random(dropped), batch_for(plain)).log_probs, whole(build_random(plain), batch_for(plain)).log_probs
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_share_of_dropout_leaves_out_as_much_as_lower_rates(kind: str) -> None:
    full = dropping(architecture_of("lstm", "bahdanau"), KINDS[kind])
    half = dropping(full, {name: value if value is True else value / 2 for name, value in KINDS[kind].items()})
    model = build_random(full)
    set_dropout_share(model, 0.5)
    actual, expected = gradients_of(model, full, seed=5), gradients_of(build_random(half), half, seed=5)
    assert all(torch.equal(actual[name], gradient) for name, gradient in expected.items())


def test_no_share_of_dropout_leaves_nothing_out() -> None:
    plain = architecture_of("gru", "bahdanau")
    dropped = dropping(plain, KINDS["all"])
    model = build_random(dropped)
    set_dropout_share(model, 0.0)
    actual, expected = gradients_of(model, dropped, seed=5), gradients_of(build_random(plain), plain, seed=5)
    for name, gradient in expected.items():
        assert_same(actual[name], gradient)


# --- each kind ------------------------------------------------------------------------------------------------------


def test_unlocked_dropout_differs_between_steps_and_locked_dropout_does_not() -> None:
    torch.manual_seed(1)
    vectors = torch.ones(2, 5, 40)
    free, locked = (SequenceDropout(RATE, locked=locked)(vectors) for locked in (False, True))
    assert not torch.equal(free, free[:, :1].expand_as(free))
    assert torch.equal(locked, locked[:, :1].expand_as(locked))
    assert not torch.equal(locked[0], locked[1])


@pytest.mark.parametrize("locked", [False, True])
def test_masks_for_steps_keep_the_mean(locked: bool) -> None:
    torch.manual_seed(1)
    dropout = SequenceDropout(RATE, locked=locked)
    masks = dropout.masks(7, torch.zeros(30, 100))
    assert masks is not None
    assert masks.shape == (7, 30, 100)
    assert torch.equal(masks, torch.where(masks > 0, 1 / (1 - RATE), 0.0))
    assert float(masks.mean()) == pytest.approx(1.0, abs=0.05)
    assert torch.equal(masks[0], masks[3]) == locked
    assert dropout.eval().masks(7, torch.zeros(30, 100)) is None


def test_a_symbol_without_its_embedding_lacks_it_wherever_it_stands() -> None:
    torch.manual_seed(1)
    embedding = nn.Embedding(50, 3)
    dropout = InputDropout(sections.TextEncoder(embedding_dropout=0.5))
    symbols = torch.randint(50, (20, 30))
    found = dropout(embedding, symbols)
    lacking, kept = (set(symbols[found.any(dim=-1) == keeps].tolist()) for keeps in (False, True))
    assert lacking
    assert not lacking & kept
    assert_same(found[found.any(dim=-1)], 2 * embedding(symbols)[found.any(dim=-1)])


def test_a_tied_output_layer_keeps_the_rows_that_inputs_lack() -> None:
    architecture = dropping(architecture_of("gru", "none", tied="output"), {"embedding_dropout": 0.999999})
    model = build_random(architecture).train()
    torch.manual_seed(1)
    features = model.decode(batch_for(architecture)).features
    assert_same(features[0, 0], features[1, 0])
    assert model.decoder.output.weight is model.decoder.embedding.weight
    gradients = torch.autograd.grad(model(batch_for(architecture)).objective, model.decoder.embedding.weight)
    assert (gradients[0].abs().sum(dim=1) > 0).all()  # as rows of the output layer


@pytest.mark.parametrize("cell", CELLS)
def test_weight_dropout_thins_the_matrices_between_states_for_all_steps(cell: str) -> None:
    torch.manual_seed(1)
    section = sections.TextEncoder.model_validate({**CELLS[cell], "size": 20, "weight_dropout": RATE})
    layer = build_cell(section, [3])
    for product, full in zip(layer.drawn_products(), layer.from_state, strict=True):
        thinned = (product(torch.eye(20)) - full(torch.zeros(20))).t()
        left = thinned != 0
        torch.testing.assert_close(thinned, torch.where(left, full.weight / (1 - RATE), 0.0))
        assert 0.6 < float(left.float().mean()) < 0.9
    projected, state = torch.randn(2, 4, layer.project(torch.zeros(3)).shape[-1]), layer.zeros(2, like=torch.zeros(1))
    torch.manual_seed(2)
    states = unroll(layer, projected, state)[0]
    torch.manual_seed(2)
    drawn = layer.drawn_products()
    for time in range(4):
        state = layer.step(projected[:, time], state, drawn)
        torch.testing.assert_close(states[:, time], state[0])
    assert layer.eval().drawn_products() == layer.products


def test_each_place_has_its_own_rate() -> None:
    architecture = dropping(
        architecture_of("lstm", "luong"), {"dropout": 0.1, "input_dropout": 0.2, "output_dropout": 0.3, "locked": True}
    )
    decoder = build_random(architecture).decoder
    assert isinstance(decoder, RecurrentDecoder)
    found = decoder.input_dropout.vectors, decoder.dropout, decoder.output_dropout
    assert [(one.full_rate, one.locked) for one in found] == [(0.2, True), (0.1, True), (0.3, True)]
    assert sections.RecurrentDecoder(dropout=0.1).output_rate == sections.RecurrentDecoder(dropout=0.1).input_rate == 0.1
    assert sections.RecurrentDecoder(dropout=0.1, output_dropout=0.0).output_rate == 0.0
