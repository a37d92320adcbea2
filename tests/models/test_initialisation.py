"""How weights start: signals keep their scale through every architecture, and what a source says is heard at once."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.models.bridges.cross_attention import CrossAttentionBridge
from seqloom.models.cells import LstmCell
from seqloom.models.decoders import LogProbabilities, RecurrentDecoder
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.initialisation import FORGET_BIAS, TIED_LENGTH
from seqloom.models.transformer_layers import Layer
from seqloom.recipe import sections

from .architectures import ARCHITECTURES, Architecture
from .harness import make_batch, random_source

WIDER = 16
"""Times the widths of the contracts' tiny models, 4 and more: a share of a scale is meant for widths of 64 and more."""
WIDTHS = ("size", "embedding", "feed_forward")
SYMBOLS = 300
KEPT = 0.8
"""No matrix writes less than this share of the scale that it is given."""
HEARD = 0.1
"""By so large a share of their own scale, at least, the decoder's features differ for another source."""
LOGISTIC = 0.2
"""The logistic function is at most a quarter as steep as tanh: cells that squash by it hear less."""


def widened(body: Any) -> Any:
    if isinstance(body, dict):
        return {
            key: WIDER * value if key in WIDTHS and isinstance(value, int) else widened(value) for key, value in body.items()
        }
    return body


def fresh(architecture: Architecture) -> EncoderDecoder:
    """A wide model of that architecture, with weights as they start. A grid is read as a vector is, one position each."""
    section = sections.Model.model_validate(widened(architecture.section.model_dump()))
    sizes = {name: WIDER * 4 if kind != "text" else SYMBOLS for name, kind in architecture.sources}
    torch.manual_seed(1)
    return EncoderDecoder(section, {**(sizes if architecture.reads else {}), "target": SYMBOLS})


def batch_of(architecture: Architecture, *, seed: int) -> Batch:
    sources = {
        name: random_source("vector" if kind == "grid" else kind, [6] * 8, SYMBOLS if kind == "text" else WIDER * 4, seed)
        for name, kind in architecture.sources
    }
    target = Padded.of([np.random.default_rng(9).integers(3, SYMBOLS, 5) for _ in range(8)])
    return make_batch(sources if architecture.reads else {}, target)


def scale(values: Tensor) -> float:
    return float(values.detach().square().mean().sqrt())


# Of every kind of cell, bridge, attention, start, tie and encoder one or more; all of them would take a minute.
EVERY_FEW = [pytest.param(one, id=name) for name, one in list(ARCHITECTURES.items())[::3]]


@pytest.mark.parametrize("architecture", EVERY_FEW)
def test_every_matrix_keeps_the_scale_of_what_it_is_given(architecture: Architecture) -> None:
    model = fresh(architecture)
    small = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    added = added_matrices(model)
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2 and id(parameter) not in small and name not in added:
            gain = scale(parameter) * math.sqrt(parameter.shape[1])
            assert gain >= KEPT, f"{name} makes entries around 1 into entries around {gain:.2f}"


def added_matrices(model: EncoderDecoder) -> list[str]:
    """Names of the matrices that write what is added to the states of a transformer."""
    stacks = {name for name, module in model.named_modules() if isinstance(module, Layer)}
    sources = {name for name, module in model.named_modules() if isinstance(module, CrossAttentionBridge)}
    return [
        name
        for name, _ in model.named_parameters()
        if name.endswith(("to_context.weight", "outer.weight")) and any(name.startswith(f"{one}.") for one in stacks | sources)
    ]


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if "transformer" in name])
def test_parts_of_a_transformer_add_together_as_much_as_is_there(name: str) -> None:
    model = fresh(ARCHITECTURES[name])
    added = added_matrices(model)
    stacks = [f"encoders.{source}." for source, _ in ARCHITECTURES[name].sources]
    for stack in (*stacks, "decoder."):
        written = [model.get_parameter(one) for one in added if one.startswith(stack)]
        gains = [scale(matrix) * math.sqrt(matrix.shape[1]) for matrix in written]
        # A decoder that reads no source in its layers adds two thirds of it, one that reads two adds more.
        assert not gains or KEPT <= math.sqrt(sum(gain**2 for gain in gains)) <= 1.2


@pytest.mark.parametrize("architecture", EVERY_FEW)
def test_rows_of_embeddings_have_length_one_unless_they_are_the_output_layer_too(architecture: Architecture) -> None:
    model = fresh(architecture)
    section = architecture.section.decoder
    tied = isinstance(section, sections.RecurrentDecoder) and section.tied == "output"
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding):
            wanted = TIED_LENGTH if tied and name == "decoder.embedding" else 1.0
            chance = 2 / math.sqrt(module.weight.numel())  # few rows are longer or shorter by chance
            found = scale(module.weight) * math.sqrt(module.embedding_dim)
            assert found == pytest.approx(wanted, abs=wanted * max(0.05, chance)), name


def test_tied_symbols_are_read_as_loudly_as_others() -> None:
    def gates(tied: str) -> float:
        architecture = ARCHITECTURES["lstm-bahdanau-1_layer"]
        body = architecture.section.model_dump()
        body["decoder"] |= {"tied": tied, "embedding": body["decoder"]["size"]}
        section = sections.Model.model_validate(widened(body))
        torch.manual_seed(1)
        decoder = EncoderDecoder(section, {"source": SYMBOLS, "target": SYMBOLS}).decoder
        assert isinstance(decoder, RecurrentDecoder)
        return scale(decoder.embedding.weight @ decoder.get_parameter("cells.0.inputs.0.weight").T)

    assert gates("output") == pytest.approx(gates("none"), rel=0.1)


@pytest.mark.parametrize("architecture", [one for one in EVERY_FEW if one.values[0].reads])  # type: ignore[union-attr]
def test_another_source_is_heard_before_the_first_update(architecture: Architecture) -> None:
    model = fresh(architecture).eval()
    with torch.inference_mode():
        one, other = (model.decode(batch_of(architecture, seed=seed)).features for seed in (1, 2))
    if isinstance(model.decoder.output, LogProbabilities):  # what all symbols have in common says nothing
        one, other = (features - features.mean(dim=-1, keepdim=True) for features in (one, other))
    squashed = LOGISTIC if "logistic" in repr(architecture.section) else 1.0
    assert scale(one - other) >= HEARD * squashed * scale(one)


def test_the_forget_gate_of_an_lstm_starts_open_and_nothing_else_has_a_bias() -> None:
    model = fresh(ARCHITECTURES["lstm-bahdanau-1_layer"])
    cells = [module for module in model.modules() if isinstance(module, LstmCell)]
    assert len(cells) == 3
    for cell in cells:
        forget, others = cell.get_parameter("inputs.0.bias").tensor_split([cell.size])
        assert bool((forget == FORGET_BIAS).all())
        assert not bool(others.any())
    biases = [parameter for name, parameter in model.named_parameters() if name.endswith("bias") and "inputs.0" not in name]
    assert not any(bool(bias.any()) for bias in biases)
