"""What transformers have of their own: fused attention, positions, keys of all layers, and dropout that steps do not know."""

import pytest
import torch

from seqloom.models.attention import MultiHeadAttention
from seqloom.models.embeddings import sinusoids
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.memory import Memory
from seqloom.recipe import sections

from .architectures import ARCHITECTURES, DECODER_SIZE, TRANSFORMER_DECODER
from .harness import assert_same, batch_for, first_state, model_of, randomise, tokens_of

BOTH = ARCHITECTURES["transformer-weights_of_last"]


def test_fused_attention_reads_what_attention_with_weights_reads_also_where_there_is_nothing() -> None:
    attention = MultiHeadAttention(6, 8, heads=2, size=4).double()
    randomise(attention)
    states, query = torch.randn(3, 5, 8, dtype=torch.float64), torch.randn(3, 4, 6, dtype=torch.float64)
    mask = torch.arange(5) < torch.tensor([5, 2, 0])[:, None]
    keys = attention.prepare(Memory(states, mask, states[:, 0], ()))
    fused = attention.fused_context(query, keys.keys, keys.values, mask=mask[:, None, None])
    assert_same(fused, attention(query, keys, ()).context)


@pytest.mark.parametrize("size", [6, 7])
def test_positions_have_no_limit_and_are_told_apart(size: int) -> None:
    positions = sinusoids(0, 3000, like=torch.zeros(size, dtype=torch.float64))
    assert positions.shape == (3000, size)
    assert len(set(map(tuple, positions.tolist()))) == 3000
    assert_same(sinusoids(2990, 10, like=positions), positions[2990:])


def test_keys_of_all_layers_lie_side_by_side_with_one_row_per_sentence() -> None:
    state = first_state(model_of(BOTH), batch_for(BOTH))
    layers = TRANSFORMER_DECODER["layers"]
    assert state.link.keys["source"].keys.shape == (3, 4, layers * DECODER_SIZE)
    assert [tuple(leaf.shape) for leaf in state.cells[0]] == [(3, 1, DECODER_SIZE), *[(3, 1, 0, DECODER_SIZE)] * 2]


@torch.inference_mode()
def test_steps_leave_nothing_out_and_training_does() -> None:
    decoder = {**TRANSFORMER_DECODER, "dropout": 0.5}
    section = BOTH.section.model_copy(update={"decoder": sections.TransformerDecoder.model_validate(decoder)})
    model = EncoderDecoder(section, BOTH.sizes).train()
    state, tokens = first_state(model, batch_for(BOTH)), tokens_of(batch_for(BOTH))[:, :1]
    assert_same(model.decoder.step(tokens, state).features, model.decoder.step(tokens, state).features)
    assert not torch.equal(model.decoder(tokens, state).features, model.decoder(tokens, state).features)
