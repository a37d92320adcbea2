"""Models with fixed random weights and small batches to put through them."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seqloom.data.arrays import BoolArray, IntArray, Padded
from seqloom.data.examples import Origin
from seqloom.data.preparing.batches import Batch
from seqloom.models.decoders import DecoderState
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.prediction.stepper import TorchStep, TorchStepper
from seqloom.results.layouts import Sentences
from seqloom.results.predictions import FloatArray
from seqloom.symbols import END

from .architectures import ARCHITECTURES, PLAIN, TARGET_SIZE, Architecture
from .grids import COLUMNS, ROWS, GridEncoder

EXACT = 1e-12
"""How far float64 may be off."""
CLOSE = 1e-5
"""How far float32 may be off."""
ROUNDED = 1e-6
"""How far float64 may be off once the stepper has made it float32."""


def _of(architectures: Iterable[Architecture]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("architecture", [pytest.param(one, id=one.name) for one in architectures])


def _in_both_precisions() -> pytest.MarkDecorator:
    """All in float64, the plain ones, which have every cell, bridge and attention, in float32 too."""
    exact = [pytest.param(one, torch.float64, EXACT, id=f"{name}-float64") for name, one in ARCHITECTURES.items()]
    close = [pytest.param(ARCHITECTURES[name], torch.float32, CLOSE, id=f"{name}-float32") for name in PLAIN]
    return pytest.mark.parametrize(("architecture", "dtype", "tolerance"), exact + close)


EVERY = _of(ARCHITECTURES.values())
PLAIN_ONES = _of(ARCHITECTURES[name] for name in PLAIN)
PLAIN_AND_READING = _of(ARCHITECTURES[name] for name in PLAIN if ARCHITECTURES[name].reads)
ATTENDING = _of(one for one in ARCHITECTURES.values() if one.attends)
ATTENDING_WITH_ONE_HEAD = _of(one for one in ARCHITECTURES.values() if one.looks_once)
PLAIN_AND_ATTENDING = _of(ARCHITECTURES[name] for name in PLAIN if ARCHITECTURES[name].attends)
EVERY_IN_BOTH_PRECISIONS = _in_both_precisions()

SOURCE_LENGTHS = (3, 2, 4)
TARGET_LENGTHS = (2, 4, 0)


@cache
def model_of(architecture: Architecture, dtype: torch.dtype = torch.float64) -> EncoderDecoder:
    """A model in evaluation mode, all of whose weights, biases too, are random. Shared between tests: do not change it."""
    return deepcopy(model_of(architecture)).to(dtype) if dtype != torch.float64 else build_random(architecture)


def build_random(architecture: Architecture) -> EncoderDecoder:
    """The float64 model, built anew."""
    with torch.random.fork_rng(devices=[]):
        model = EncoderDecoder(architecture.section, architecture.sizes)
        for name, kind in architecture.sources:
            if kind == "grid":
                model.encoders[name] = GridEncoder(model.encoders[name].get_parameter("layers.0.bias").numel())
    randomise(model)
    return model.double().eval()


def randomise(module: nn.Module, *, seed: int = 7) -> None:
    """Fill all parameters with random numbers: zero biases would hide where a bias goes."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)


def sequences(lengths: Sequence[int], vocabulary_size: int, seed: int) -> list[IntArray]:
    random = np.random.default_rng(seed)
    return [random.integers(2, vocabulary_size, length) for length in lengths]


@cache
def batch_for(
    architecture: Architecture,
    source_lengths: tuple[int, ...] = SOURCE_LENGTHS,
    target_lengths: tuple[int, ...] = TARGET_LENGTHS,
) -> Batch:
    """Random sentences of the given lengths; without a source for a language model."""
    target = Padded.of(sequences(target_lengths, TARGET_SIZE, seed=2))
    sources = {
        name: random_source(kind, source_lengths, architecture.sizes[name], seed)
        for seed, (name, kind) in enumerate(architecture.sources, start=1)
    }
    return make_batch(sources if architecture.reads else {}, target)


def random_source(kind: str, lengths: Sequence[int], size: int, seed: int) -> Padded:
    """Texts of the given lengths, and about twice as many frames; where these are 0, no vector and no picture either."""
    random, there = np.random.default_rng(10 + seed), np.minimum(lengths, 1)
    if kind == "frames":
        counts = [2 * length + 1 if length else 0 for length in lengths]
        return Padded.of([random.normal(size=(count, size)).astype(np.float32) for count in counts])
    if kind == "vector":
        return Padded(random.normal(size=(len(lengths), 1, size)).astype(np.float32), there)
    if kind == "grid":
        return Padded(random.integers(0, 256, (len(lengths), 1, ROWS, COLUMNS, 3), dtype=np.uint8), there)
    if kind == "sentences":  # most of two sentences, the second of which nothing closes
        texts = sequences(lengths, size, seed)
        return Padded.of([np.where(np.arange(len(text)) == 1, END, text) for text in texts])
    return Padded.of(sequences(lengths, size, seed))


def make_batch(sources: Mapping[str, Padded], target: Padded) -> Batch:
    count = len(target.lengths)
    origins = tuple(Origin("test", line) for line in range(1, count + 1))
    return Batch(sources, target, np.ones(count, dtype=np.float32), origins)


def item(batch: Batch, index: int) -> Batch:
    """One sentence of a batch by itself, without padding."""

    def alone(padded: Padded) -> Padded:
        length = int(padded.lengths[index])
        return Padded(padded.values[index : index + 1, : max(1, length)], padded.lengths[index : index + 1])

    return make_batch({name: alone(source) for name, source in batch.sources.items()}, alone(batch.target))


def padded_further(batch: Batch, extra: int = 3) -> Batch:
    """The same batch with more padding, and other symbols or numbers in it. Vectors and pictures stay: there is one of each."""

    def longer(padded: Padded) -> Padded:
        if padded.values.ndim > 2 and padded.values.shape[1] == 1:
            return padded
        if padded.values.ndim > 2:
            values = np.pad(padded.values, ((0, 0), (0, extra), (0, 0)), constant_values=3)
            return Padded(
                np.where(np.arange(values.shape[1])[:, None] < padded.lengths[:, None, None], values, 4), padded.lengths
            )
        values = np.full((len(padded.lengths), padded.values.shape[1] + extra), 3, dtype=np.int64)
        values[:, :-extra] = np.where(padded.mask, np.asarray(padded.values, dtype=np.int64), 4)
        return Padded(values, padded.lengths)

    return replace(batch, sources={name: longer(source) for name, source in batch.sources.items()}, target=longer(batch.target))


def real_positions(architecture: Architecture, name: str) -> BoolArray:
    """[B, S] of a source; a picture has a position for every pixel, several frames may have one, and so has every sentence."""
    source = batch_for(architecture).sources[name]
    if source.values.ndim == 5:
        return np.repeat(source.mask, ROWS * COLUMNS, axis=1)
    counts = -(-source.lengths // architecture.stride(name))
    mask: BoolArray = np.arange(counts.max()) < counts[:, None]
    if dict(architecture.sources)[name] == "sentences":
        sentences = np.asarray([len(Sentences().sentences(row)) for row in ended_at(source)])
        return np.arange(sentences.max()) < sentences[:, None]
    return mask


def looking_steps(architecture: Architecture, name: str, steps: int) -> BoolArray:
    """[B, T]: which steps look at a source. All do, but those of `in_step` once there is no position left."""
    counts = real_positions(architecture, name).sum(axis=1)
    if architecture.looks_in_step:
        looking: BoolArray = np.arange(steps) < counts[:, None]
        return looking
    return np.ones((len(counts), steps), dtype=np.bool_)


def ended_at(source: Padded) -> list[list[bool]]:
    """Which symbols of each text close a sentence."""
    texts = zip(source.values, source.lengths, strict=True)
    return [(values[:length] == END).tolist() for values, length in texts]


@dataclass(frozen=True)
class Said:
    """What a model says about a batch: log-probabilities [B, T, V], weights [B, H, T, S] by source, the state at the end."""

    log_probs: Tensor
    weights: Mapping[str, Tensor]
    state: DecoderState


@torch.inference_mode()
def whole(model: EncoderDecoder, batch: Batch) -> Said:
    """What forward says, in the model's own precision."""
    decoded = model.decode(batch)
    return Said(model.decoder.log_probs(decoded), decoded.weights, decoded.state)


@torch.inference_mode()
def continued(model: EncoderDecoder, tokens: Tensor, state: DecoderState) -> Said:
    """What forward says about symbols [B, T] that go on from a state."""
    decoded = model.decoder(tokens, state)
    return Said(model.decoder.log_probs(decoded), decoded.weights, decoded.state)


@torch.inference_mode()
def first_state(model: EncoderDecoder, batch: Batch) -> DecoderState:
    return model.decoder.start(model.encode(batch.sources), len(batch.target.lengths))


def tokens_of(batch: Batch) -> Tensor:
    return torch.from_numpy(np.asarray(batch.inputs.values, dtype=np.int64))


def steps_of(stepper: TorchStepper, batch: Batch) -> list[TorchStep]:
    """What a stepper says while it reads the targets of a batch."""
    state, steps = stepper.start(batch.sources, len(batch.target.lengths)), []
    for tokens in tokens_of(batch).numpy().T:
        steps.append(stepper.step(tokens[:, None], state))
        state = steps[-1].state
    return steps


def scored_by(steps: Iterable[TorchStep], batch: Batch) -> FloatArray:
    """What steps say of the labels of a batch [B, T], zero on padding."""
    columns = np.asarray(batch.labels.values, dtype=np.int64).T
    said = [step.at(labels[:, None, None])[:, 0, 0] for step, labels in zip(steps, columns, strict=True)]
    return np.where(batch.labels.mask, np.stack(said, axis=1), np.float32(0.0))


@cache
def said_of(architecture: Architecture, dtype: torch.dtype = torch.float64) -> Said:
    """What forward says about the batch that most tests use."""
    return whole(model_of(architecture, dtype), batch_for(architecture))


def assert_same(actual: Tensor, expected: Tensor, tolerance: float = EXACT) -> None:
    # Not torch.testing.assert_close: a message as good as its, times ten thousand calls, is most of a minute.
    assert actual.shape == expected.shape
    assert not actual.numel() or float((actual - expected).detach().abs().max()) <= tolerance


def assert_same_weights(actual: Mapping[str, Tensor], expected: Mapping[str, Tensor], tolerance: float = EXACT) -> None:
    assert actual.keys() == expected.keys()
    for name in expected:
        assert_same(actual[name], expected[name], tolerance)


def assert_same_state(actual: DecoderState, expected: DecoderState, tolerance: float = EXACT) -> None:
    for layer, expected_layer in zip(actual.cells, expected.cells, strict=True):
        for leaf, expected_leaf in zip(layer, expected_layer, strict=True):
            assert_same(leaf, expected_leaf, tolerance)
    assert actual.carry.keys() == expected.carry.keys()
    for name, carry in expected.carry.items():
        for leaf, expected_leaf in zip(actual.carry[name], carry, strict=True):
            assert_same(leaf, expected_leaf, tolerance)
    for one, other in ((actual.feed, expected.feed), (actual.given, expected.given)):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert_same(one, other, tolerance)
