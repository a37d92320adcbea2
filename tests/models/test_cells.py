"""The cells against torch's own, on the same weights."""

from collections.abc import Mapping, Sequence

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqloom.models.cells import Cell, build_cell
from seqloom.models.encoders import TextEncoder
from seqloom.models.memory import Memory
from seqloom.recipe import sections

from .harness import EXACT, assert_same, randomise

VOCABULARY, EMBEDDING, SIZE = 9, 4, 5
LENGTHS = torch.tensor([6, 1, 3, 6])

TORCH_NETWORKS: dict[str, type[nn.RNN | nn.GRU | nn.LSTM]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
ORDERS: dict[str, Sequence[int]] = {"rnn": (0,), "gru": (0, 1, 2), "lstm": (1, 0, 3, 2)}
"""Where torch's gates stand among ours. GRU: o, i, candidate are its r, z, n. LSTM: its i, f, g, o among f, i, o, candidate."""

SETTINGS = pytest.mark.parametrize("cell", TORCH_NETWORKS)
SHAPES = pytest.mark.parametrize("layers", [pytest.param(1, id="1_layer"), pytest.param(2, id="2_layers")])
DIRECTIONS = pytest.mark.parametrize(
    "bidirectional", [pytest.param(False, id="one_direction"), pytest.param(True, id="two_directions")]
)


def build_encoder(cell: str, *, layers: int, bidirectional: bool) -> TextEncoder:
    section = sections.TextEncoder.model_validate(
        {
            "cell": cell,
            "reset": "after" if cell == "gru" else None,
            "size": SIZE,
            "layers": layers,
            "embedding": EMBEDDING,
            "bidirectional": bidirectional,
        }
    )
    encoder = TextEncoder(section, VOCABULARY).double()
    randomise(encoder)
    return encoder


def torch_network(encoder: TextEncoder, cell: str) -> nn.Module:
    """torch's network with the encoder's weights."""
    layers, bidirectional = len(encoder.forwards), len(encoder.backwards) > 0
    network = TORCH_NETWORKS[cell](EMBEDDING, SIZE, num_layers=layers, bidirectional=bidirectional, batch_first=True).double()
    parameters = dict(network.named_parameters())
    for suffix, stack in (("", encoder.forwards), ("_reverse", encoder.backwards)):
        for layer, ours in enumerate(stack):
            theirs = {kind: parameters[f"{kind}_l{layer}{suffix}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
            copy_weights(ours, theirs, ORDERS[cell])
    return network


@torch.no_grad()
def copy_weights(ours: nn.Module, theirs: Mapping[str, Tensor], order: Sequence[int]) -> None:
    weights = dict(ours.named_parameters())

    def reordered(weight: Tensor) -> Tensor:
        blocks = weight.chunk(len(order))
        return torch.cat([blocks[index] for index in order])

    theirs["weight_ih"].copy_(reordered(weights["inputs.0.weight"]))
    theirs["weight_hh"].copy_(reordered(weights["recurrent.weight"]))
    theirs["bias_ih"].copy_(reordered(weights["inputs.0.bias"]))
    # torch has a second bias everywhere; ours has one only where it makes a difference, in the GRU that resets afterwards.
    second = weights.get("recurrent.bias")
    theirs["bias_hh"].zero_() if second is None else theirs["bias_hh"].copy_(reordered(second))


def read_both(cell: str, *, layers: int, bidirectional: bool) -> tuple[Memory, Tensor, Sequence[Tensor]]:
    """Our memory; torch's states [B, S, D]; torch's last states, leaves [layers * directions, B, SIZE]."""
    encoder = build_encoder(cell, layers=layers, bidirectional=bidirectional)
    symbols = torch.randint(VOCABULARY, (len(LENGTHS), int(LENGTHS.max())), generator=torch.Generator().manual_seed(3))
    packed = pack_padded_sequence(encoder.embedding(symbols), LENGTHS, batch_first=True, enforce_sorted=False)
    states, finals = torch_network(encoder, cell)(packed)
    return encoder(symbols, LENGTHS), pad_packed_sequence(states, batch_first=True)[0], finals if cell == "lstm" else (finals,)


@SETTINGS
@SHAPES
@DIRECTIONS
def test_states_equal_those_of_torch_on_packed_sequences(cell: str, layers: int, bidirectional: bool) -> None:
    memory, states, _ = read_both(cell, layers=layers, bidirectional=bidirectional)
    assert_same(memory.states[memory.mask], states[memory.mask], EXACT)


@SETTINGS
@SHAPES
@DIRECTIONS
def test_last_states_equal_those_of_torch_on_packed_sequences(cell: str, layers: int, bidirectional: bool) -> None:
    memory, _, finals = read_both(cell, layers=layers, bidirectional=bidirectional)
    directions = 2 if bidirectional else 1
    for layer, ours in enumerate(memory.finals):
        for leaf, theirs in zip(ours, finals, strict=True):
            ends = torch.cat([*theirs[layer * directions : (layer + 1) * directions]], dim=-1)
            assert_same(leaf, ends, EXACT)
    assert memory.summary is memory.finals[-1][0]


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_parts_of_an_input_act_as_one_input_side_by_side(cell: str) -> None:
    section = sections.RecurrentDecoder.model_validate({"cell": cell, "size": SIZE})
    parted, joined = build_cell(section, [3, 2, 4]).double(), build_cell(section, [9]).double()
    randomise(parted)
    give_joined_weights(parted, joined)
    parts = [torch.randn(2, width, dtype=torch.float64) for width in (3, 2, 4)]
    state = tuple(torch.randn(2, SIZE, dtype=torch.float64) for _ in range(parted.num_leaves))
    after = parted.step(parted.extend(parted.project(parts[0]), *parts[1:]), state, parted.products)
    expected = joined.step(joined.project(torch.cat(parts, dim=-1)), state, joined.products)
    for leaf, expected_leaf in zip(after, expected, strict=True):
        assert_same(leaf, expected_leaf)


@torch.no_grad()
def give_joined_weights(parted: Cell, joined: Cell) -> None:
    source, matrices = dict(parted.named_parameters()), [f"inputs.{index}.weight" for index in range(3)]
    for name, parameter in joined.named_parameters():
        parameter.copy_(torch.cat([source[matrix] for matrix in matrices], dim=1) if name == matrices[0] else source[name])


def test_a_fresh_lstm_remembers() -> None:
    cell = build_cell(sections.RecurrentDecoder(cell="lstm", size=SIZE), [3])
    assert torch.equal(cell.project(torch.zeros(3)), torch.tensor([1.0] * SIZE + [0.0] * 3 * SIZE))
