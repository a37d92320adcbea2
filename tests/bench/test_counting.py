"""The operations counted by hand are those that torch counts while a model computes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from bench.tiny import TINY
from seqloom.bench.counting import BatchShape, count_operations
from seqloom.bench.textbook import IGNORED, Textbook, tensors
from seqloom.bench.workloads import TRANSLATION
from seqloom.data.arrays import Padded
from seqloom.data.kinds.contract import InputSize
from seqloom.data.preparing.batches import Batch
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.recipe import sections

SIZES = {"source": 40, "target": 50}
SENTENCES, SOURCE, TARGET = 8, 24, 21
"""Equally long sequences, so that padding does not matter; long, so that the first step does not either."""


def batch() -> Batch:
    generator = np.random.default_rng(1)

    def drawn(size: int, length: int) -> Padded:
        return Padded(generator.integers(3, size, (SENTENCES, length)), np.full(SENTENCES, length))

    weights = np.ones(SENTENCES, dtype=np.float32)
    return Batch({"source": drawn(SIZES["source"], SOURCE)}, drawn(SIZES["target"], TARGET - 1), weights, ())


@pytest.mark.filterwarnings("ignore:TF32")
def test_the_textbook_costs_what_is_counted() -> None:
    model = Textbook(TINY.model, SIZES)
    source, lengths, inputs, labels = tensors(batch())
    # The counter does not look into oneDNN's LSTM, which torch takes for equally long sequences.
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        logits = model(source, lengths, inputs)
        forward = counter.get_total_flops()
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
        torch.autograd.backward(loss)
    operations = count_operations(TINY.model, SIZES, BatchShape.padded(SENTENCES, SOURCE, TARGET))
    assert operations.forward == pytest.approx(forward, rel=0.01)
    assert operations.total == pytest.approx(counter.get_total_flops(), rel=0.03)


ENCODER = {"kind": "text", "size": 12, "embedding": 10}
DECODER = {"kind": "recurrent", "size": 24, "embedding": 14}
TRANSFORMER = {"kind": "transformer", "size": 12, "layers": 2, "heads": 2, "feed_forward": 20}
MODELS: dict[str, dict[str, Any]] = {
    "language model": {"encoder": None, "bridge": {"kind": "none"}},
    "initial": {"bridge": {"kind": "initial", "start": {"dense": 2}}},
    "every step": {"bridge": {"kind": "every_step"}, "decoder": {**DECODER, "cell": "lstm"}},
    "dot": {"bridge": {"kind": "attention", "into": ["output"], "attention": {"kind": "dot"}, "start": {"dense": 0}}},
    "bilinear, fed": {
        "bridge": {
            "kind": "attention",
            "query": "current",
            "into": ["combined"],
            "feed": True,
            "attention": {"kind": "bilinear"},
        },
        "decoder": {**DECODER, "cell": "rnn"},
    },
    "concat, layers": {
        "encoder": {**ENCODER, "layers": 2, "cell": "lstm"},
        "decoder": {**DECODER, "layers": 2},
        "bridge": {"kind": "attention", "attention": {"kind": "concat", "size": 9}},
    },
    "gated": {"bridge": {"kind": "attention", "attention": {"kind": "additive", "size": 9}, "gate": True}},
    "copying": {"bridge": {"kind": "attention", "attention": {"kind": "additive", "size": 9}, "copy": True}},
    "as the state": {"bridge": {"kind": "attention", "query": "current", "into": ["state"], "attention": {"kind": "bilinear"}}},
    "concatenated": {
        "encoder": {**ENCODER, "bidirectional": False},
        "bridge": {"kind": "attention", "into": ["concatenated"], "attention": {"kind": "additive", "size": 9}},
        "decoder": {**DECODER, "cell": "lstm"},
    },
    "distributions": {
        "bridge": {"kind": "attention", "query": "current", "into": ["output"], "attention": {"kind": "dot"}},
        "decoder": {**DECODER, "inputs": {"kind": "distribution"}},
    },
    "nothing given": {"bridge": {"kind": "every_step"}, "decoder": {**DECODER, "inputs": {"kind": "none"}}},
    "keys and queries of two layers": {
        "bridge": {"kind": "attention", "into": ["output"], "attention": {"kind": "projected", "size": 9, "layers": 2}},
    },
    "coverage": {"bridge": {"kind": "attention", "attention": {"kind": "additive", "size": 9, "coverage": True}}},
    "local": {
        "bridge": {"kind": "attention", "attention": {"kind": "local", "score": {"kind": "additive", "size": 9}}},
    },
    "transformers": {
        "encoder": TRANSFORMER,
        "decoder": {**TRANSFORMER, "size": 24, "layers": 3},
        "bridge": {"kind": "cross_attention", "weights_of": "mean"},
    },
    "transformer without a source": {"encoder": None, "decoder": TRANSFORMER, "bridge": {"kind": "none"}},
    "transformer after a summary": {"decoder": TRANSFORMER, "bridge": {"kind": "every_step", "start": {"dense": 2}}},
    "transformer to gru": {"encoder": TRANSFORMER, "bridge": {"kind": "initial"}},
    "heads": {
        "encoder": {**ENCODER, "bidirectional": False},
        "bridge": {
            "kind": "attention",
            "into": ["input", "output"],
            "attention": {"kind": "multi_head", "heads": 2, "size": 8},
        },
    },
}


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_costs_what_is_counted(name: str) -> None:
    section = sections.Model.model_validate({"encoder": ENCODER, "decoder": DECODER, **MODELS[name]})
    model = EncoderDecoder(section, SIZES)
    # Torch's counter does not look into its fused attention for the processor.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        total = model.log_probs(batch()).sum()
        forward = counter.get_total_flops()
        torch.autograd.backward(total)
    operations = count_operations(section, SIZES, BatchShape.padded(SENTENCES, SOURCE, TARGET))
    assert operations.forward == pytest.approx(forward, rel=0.01)
    assert operations.total == pytest.approx(counter.get_total_flops(), rel=0.04)


IMAGE_ENCODERS: dict[str, dict[str, Any]] = {
    "cnn": {"kind": "cnn", "channels": [8, 12], "summary": "dense"},
    "tuned": {"kind": "efficientnet_lite0", "size": 16, "tuned": True, "summary": "flatten"},
    "frozen": {"kind": "efficientnet_lite0", "size": 16, "features": "middle"},
}


@pytest.mark.parametrize("name", IMAGE_ENCODERS)
@pytest.mark.parametrize("bridge", ["initial", "every_step", "attention", "cross_attention"])
def test_an_encoder_of_images_costs_what_is_counted(name: str, bridge: str) -> None:
    encoder, decoder = IMAGE_ENCODERS[name], DECODER
    if bridge == "cross_attention":  # which reads no summary
        encoder, decoder = {**encoder, "summary": "pool"}, TRANSFORMER
    section = sections.Model.model_validate({"encoder": encoder, "decoder": decoder, "bridge": {"kind": bridge}})
    sizes: dict[str, InputSize] = {"source": (32, 32, 3), "target": SIZES["target"]}
    model = EncoderDecoder(section, sizes)
    places = 64 if name == "cnn" else 1 if name == "tuned" else 4
    values = np.zeros((SENTENCES, places, 112) if name == "frozen" else (SENTENCES, 1, 32, 32, 3), dtype=np.uint8)
    images = Padded(values, np.ones(SENTENCES, dtype=np.int64))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model.log_probs(replace(batch(), sources={"source": images}))
    operations = count_operations(section, sizes, BatchShape.padded(SENTENCES, places, TARGET))
    assert operations.forward == pytest.approx(counter.get_total_flops(), rel=0.01)


def test_padding_is_no_useful_work() -> None:
    real = BatchShape.real(np.array([2, 4]), np.array([3, 5]))
    assert real == BatchShape(2, source_positions=6, target_positions=8, pairs=26, source_pairs=20, target_pairs=34)
    padded = BatchShape(2, source_positions=8, target_positions=10, pairs=40, source_pairs=32, target_pairs=50)
    assert BatchShape.padded(2, 4, 5) == padded


def test_a_step_of_the_translation_model_costs_about_15_million_operations_a_row() -> None:
    step = BatchShape(0, source_positions=0, target_positions=1, pairs=13, source_pairs=0, target_pairs=1)
    operations = count_operations(TRANSLATION.model, {"source": 5_900, "target": 7_900}, step)
    assert operations.forward == pytest.approx(15e6, rel=0.01)


def test_a_dense_encoder_costs_what_is_counted() -> None:
    encoder = {"kind": "dense", "size": 24, "layers": 3}
    section = sections.Model.model_validate({"encoder": encoder, "decoder": DECODER, "bridge": {"kind": "every_step"}})
    vectors = Padded(np.ones((SENTENCES, 1, 40), dtype=np.float32), np.ones(SENTENCES, dtype=np.int64))
    with FlopCounterMode(display=False) as counter:
        EncoderDecoder(section, SIZES).log_probs(replace(batch(), sources={"source": vectors}))
    operations = count_operations(section, SIZES, BatchShape.padded(SENTENCES, 1, TARGET))
    assert operations.forward == pytest.approx(counter.get_total_flops(), rel=0.01)
