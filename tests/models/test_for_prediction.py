"""Prediction in every precision: close to the model as it was trained, and a row's result is its own."""

import numpy as np
import pytest
import torch
from torch import Tensor

from seqloom.models.attention import AdditiveAttention, PremultipliedAttention
from seqloom.models.attention.additive import ExponentialAttention
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.models.products import Bfloat16Product, Product, build_product
from seqloom.search.contracts import FloatArray
from seqloom.symbols import BEGIN, END, SPECIALS, UNKNOWN
from seqloom.system.cpu import TorchPrecision

from .architectures import ARCHITECTURES, TARGET_SIZE, Architecture
from .harness import (
    CLOSE,
    EVERY,
    PLAIN_ONES,
    assert_same,
    batch_for,
    item,
    model_of,
    padded_further,
    said_of,
    steps_of,
)

BAHDANAU = ARCHITECTURES["lstm-bahdanau-1_layer"]
OFF: dict[TorchPrecision, float] = {"fp32": CLOSE, "bf16": 0.1}
"""How far log-probabilities may be off after a few steps of the tiny models, whose weights are large."""
PRECISIONS = pytest.mark.parametrize("precision", list(OFF))


def read(stepper: TorchStepper, architecture: Architecture) -> FloatArray:
    """What a stepper says while it reads the targets of a batch, [B, T, V]."""
    return np.concatenate([step.all() for step in steps_of(stepper, batch_for(architecture))], axis=1)


# --- products -------------------------------------------------------------------------------------------------------


@pytest.fixture
def matrix() -> Tensor:
    return torch.randn(48, 64, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def vectors() -> Tensor:
    """Rows of very different sizes, one of them zero."""
    sizes = torch.tensor([0.001, 1.0, 500.0, 0.0])
    return torch.randn(4, 64, generator=torch.Generator().manual_seed(2)) * sizes[:, None]


@PRECISIONS
def test_a_product_is_close_for_vectors_of_any_size(precision: TorchPrecision, matrix: Tensor, vectors: Tensor) -> None:
    bias = torch.arange(48.0)
    product = build_product(precision, matrix, bias)
    wanted = vectors @ matrix.t()
    off = (product(vectors) - bias - wanted).norm(dim=1)
    assert (off <= {"fp32": 1e-4, "bf16": 0.01}[precision] * wanted.norm(dim=1) + 1e-4).all()


@PRECISIONS
def test_a_row_does_not_depend_on_the_rows_beside_it(precision: TorchPrecision, matrix: Tensor, vectors: Tensor) -> None:
    product = build_product(precision, matrix, None)
    together = product(vectors)
    for row, alone in zip(together, vectors, strict=True):
        torch.testing.assert_close(product(alone[None])[0], row, rtol=1e-5, atol=1e-5 * float(row.abs().max()))


def test_emulated_bfloat16_gives_the_numbers_of_torch(matrix: Tensor, vectors: Tensor) -> None:
    found = Bfloat16Product(matrix, None)(vectors)
    wanted = (vectors.bfloat16() @ matrix.bfloat16().t()).float()
    torch.testing.assert_close(found, wanted, rtol=2**-7, atol=1e-3)


# --- models ---------------------------------------------------------------------------------------------------------


@EVERY
def test_the_prepared_form_says_what_the_model_says(architecture: Architecture) -> None:
    stepper = TorchStepper(model_of(architecture, torch.float32))
    assert_same(torch.from_numpy(read(stepper, architecture)), said_of(architecture, torch.float32).log_probs, CLOSE)


@PLAIN_ONES
def test_bfloat16_is_close(architecture: Architecture) -> None:
    stepper = TorchStepper(model_of(architecture, torch.float32), precision="bf16")
    assert_same(torch.from_numpy(read(stepper, architecture)), said_of(architecture).log_probs.float(), OFF["bf16"])


@PLAIN_ONES
@PRECISIONS
def test_a_sentence_does_not_depend_on_its_neighbours(architecture: Architecture, precision: TorchPrecision) -> None:
    stepper = TorchStepper(model_of(architecture, torch.float32), precision=precision)
    batch = batch_for(architecture)
    together = stepper.step(np.full((3, 1), BEGIN), stepper.start(padded_further(batch, 3).sources, 3)).all()
    for number in range(3):
        one = item(batch, number)
        alone = stepper.step(np.full((1, 1), BEGIN), stepper.start(one.sources, 1)).all()
        np.testing.assert_allclose(alone[0], together[number], atol=CLOSE)


@PRECISIONS
def test_what_is_predicted_is_what_is_scored(precision: TorchPrecision) -> None:
    stepper = TorchStepper(model_of(BAHDANAU, torch.float32), precision=precision)
    batch = batch_for(BAHDANAU)
    labels = np.asarray(batch.labels.values, dtype=np.int64)[..., None]
    said = np.take_along_axis(read(stepper, BAHDANAU), labels, axis=2)[..., 0]
    np.testing.assert_allclose(stepper.score(batch), np.where(batch.labels.mask, said, 0.0), atol=CLOSE)


def test_preparing_leaves_the_model_as_it_was() -> None:
    model = model_of(BAHDANAU)
    before = {name: (value.data_ptr(), value.clone()) for name, value in model.state_dict().items()}
    prepared = model.for_prediction("fp32")
    assert all(value.data_ptr() == before[name][0] for name, value in model.state_dict().items())
    assert all(torch.equal(value, before[name][1]) for name, value in model.state_dict().items())
    assert isinstance(prepared.decoder.get_submodule("cells.0.recurrent"), Product)
    assert isinstance(model.decoder.get_submodule("cells.0.recurrent"), Linear)


def test_a_long_source_is_read_like_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    stepper = TorchStepper(model_of(BAHDANAU, torch.float32))
    short = read(stepper, BAHDANAU)
    monkeypatch.setattr("seqloom.models.attention.premultiplied._MOST_POSITIONS", 1)
    np.testing.assert_allclose(read(stepper, BAHDANAU), short, atol=CLOSE)


# --- attention ------------------------------------------------------------------------------------------------------


def attention_of(model: EncoderDecoder) -> torch.nn.Module:
    ahead = model.decoder.bridge.get_submodule("attentions.source")
    assert isinstance(ahead, PremultipliedAttention)
    return ahead.inner


@pytest.mark.parametrize("size", [1.0, 10.0, 33.0])
def test_attention_without_tanh_looks_where_tanh_looks(size: float) -> None:
    """Sums up to what the kind can hold on the side of the keys, and far beyond it on the side of the queries."""
    model = EncoderDecoder(BAHDANAU.section, BAHDANAU.sizes)
    attention = model.decoder.bridge.get_submodule("attentions.source")
    assert isinstance(attention, AdditiveAttention)
    with torch.no_grad():
        for part, bound in ((attention.from_memory, size), (attention.from_query, 3 * size)):
            part.weight.mul_(bound / part.weight.abs().sum(dim=1, keepdim=True))
    ready = attention_of(model.for_prediction("fp32"))
    assert isinstance(ready, ExponentialAttention)
    states = torch.rand(2, 5, 8).mul_(2).sub_(1).sign_()
    memory = Memory(states, torch.ones(2, 5, dtype=torch.bool), states[:, 0], ())
    query = torch.rand(2, 3, 6).mul_(2).sub_(1).sign_()
    with torch.no_grad():
        wanted, found = (one(query, one.prepare(memory), ()).weights for one in (attention, ready))
    assert_same(found, wanted, CLOSE)


def test_weights_beyond_the_range_of_exponentials_keep_their_tanh() -> None:
    model = EncoderDecoder(BAHDANAU.section, BAHDANAU.sizes)
    attention = model.decoder.bridge.get_submodule("attentions.source")
    assert isinstance(attention, AdditiveAttention)
    with torch.no_grad():
        attention.from_memory.weight.fill_(40.0)
        attention.from_query.weight.fill_(40.0)
    assert isinstance(attention_of(model.for_prediction("fp32")), AdditiveAttention)


# --- a shortlist ----------------------------------------------------------------------------------------------------


@PRECISIONS
def test_a_shortlist_shares_all_probability_among_its_symbols(precision: TorchPrecision) -> None:
    model = model_of(BAHDANAU, torch.float32)
    whole, short = TorchStepper(model, precision=precision), TorchStepper(model, precision=precision, shortlist=2)
    size = len(SPECIALS) + 2
    assert (whole.vocabulary_size, short.vocabulary_size) == (TARGET_SIZE, size)
    every, few = read(whole, BAHDANAU), read(short, BAHDANAU)
    np.testing.assert_allclose(np.exp(few).sum(axis=-1), 1.0, rtol=1e-5)
    assert np.isneginf(few[..., [BEGIN, UNKNOWN]]).all()
    kept = [END, *range(len(SPECIALS), size)]
    wanted = every[..., kept] - np.log(np.exp(every[..., kept]).sum(axis=-1, keepdims=True))
    np.testing.assert_allclose(few[..., kept], wanted, atol=CLOSE)


def test_symbols_beyond_a_shortlist_may_be_forbidden() -> None:
    stepper = TorchStepper(model_of(BAHDANAU, torch.float32), shortlist=2)
    step = stepper.step(np.full((3, 1), BEGIN), stepper.start(batch_for(BAHDANAU).sources, 3))
    ids, _ = step.top(2, np.asarray([0, TARGET_SIZE - 1]))
    assert ids.max() < stepper.vocabulary_size
