"""Positions that never go back: what the contracts of all decoders do not ask of this one."""

import numpy as np
import pytest
import torch

from seqloom.data.arrays import Padded
from seqloom.models.decoders import MonotonicDecoder, monotonic
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.recipe import sections
from seqloom.symbols import BEGIN

from .architectures import ARCHITECTURES
from .harness import batch_for, build_random, make_batch

NAME = "lstm-monotonic-2_layers"


def test_a_long_target_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = build_random(ARCHITECTURES[NAME]), batch_for(ARCHITECTURES[NAME])
    with torch.inference_mode():
        whole = model.decode(batch)
        monkeypatch.setattr(monotonic, "_MOST_NUMBERS", 1)
        pieces = model.decode(batch)
    torch.testing.assert_close(pieces.features, whole.features)
    torch.testing.assert_close(pieces.weights["source"], whole.weights["source"])
    for one, other in zip(pieces.state.carry["source"], whole.state.carry["source"], strict=True):
        torch.testing.assert_close(one, other)


def test_padding_changes_nothing_however_sure_positions_are() -> None:
    """What padded positions would say can be far more probable than what real ones say: it must not count."""
    torch.manual_seed(1)
    section = sections.Model(decoder=sections.RecurrentDecoder(size=32), bridge=sections.MonotonicBridge())
    model = EncoderDecoder(section, {"source": 12, "target": 12}).eval()
    assert isinstance(model.decoder, MonotonicDecoder)
    with torch.inference_mode():
        model.decoder.get_parameter("from_source.weight").mul_(10)
        model.decoder.get_parameter("emission.weight").mul_(60)
        short, long = np.array([3, 4, 5]), np.arange(3, 12)
        targets = Padded.of([np.array([6, 7, 8])])
        alone = model.log_probs(make_batch({"source": Padded.of([short])}, targets))
        both = Padded.of([short, long])
        beside = model.log_probs(make_batch({"source": both}, Padded.of([np.array([6, 7, 8])] * 2)))
    assert alone.min() < -100
    torch.testing.assert_close(beside[:1], alone)


def test_a_step_leaves_nothing_out_in_training_either() -> None:
    section = sections.Model(decoder=sections.RecurrentDecoder(size=16, dropout=0.5), bridge=sections.MonotonicBridge())
    model = EncoderDecoder(section, {"source": 9, "target": 9}).train()
    state = model.decoder.start(model.encode({"source": Padded.of([np.array([3, 4])])}), 1)
    one, other = (model.decoder.step(torch.tensor([[BEGIN]]), state).features for _ in range(2))
    torch.testing.assert_close(one, other, rtol=0, atol=0)
