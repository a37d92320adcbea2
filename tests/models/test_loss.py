"""The loss of a batch."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from seqloom.data.preparing.batches import Batch
from seqloom.models.encoder_decoder import EncoderDecoder, Loss
from seqloom.models.training.loss import sampled_outputs

from .architectures import ARCHITECTURES, Architecture
from .harness import batch_for, item, model_of, padded_further, randomise, said_of

BAHDANAU = ARCHITECTURES["gru-bahdanau-1_layer"]
SOME = pytest.mark.parametrize(
    "architecture",
    [ARCHITECTURES[f"gru-{bridge}-1_layer"] for bridge in ("none", "initial", "bahdanau", "luong")],
    ids=lambda a: a.name,
)
NEAR = 1e-5
"""Logits become float32 before the loss, whatever the model computes in."""


def build(architecture: Architecture, *, label_smoothing: float) -> EncoderDecoder:
    model = EncoderDecoder(architecture.section, architecture.sizes, label_smoothing=label_smoothing)
    randomise(model)
    return model.double().eval()


@torch.no_grad()
def loss_of(model: EncoderDecoder, batch: Batch) -> tuple[float, float]:
    loss: Loss = model(batch)
    return float(loss.objective), float(loss.nll)


@SOME
def test_the_loss_sums_minus_log_p_over_all_symbols_and_end(architecture: Architecture) -> None:
    batch, log_probs = batch_for(architecture), said_of(architecture).log_probs
    total, terms = 0.0, 0
    for sentence, length in enumerate(batch.target.lengths):
        symbols = [*(int(one) for one in batch.target.values[sentence][:length]), 1]  # 1 is `end`
        for time, symbol in enumerate(symbols):
            total -= float(log_probs[sentence, time, symbol])
            terms += 1
    assert terms == batch.num_symbols == 2 + 4 + 0 + 3
    assert loss_of(model_of(architecture), batch) == pytest.approx((total, total), abs=NEAR)


@SOME
def test_the_loss_of_a_batch_is_the_sum_over_its_sequences(architecture: Architecture) -> None:
    model, batch = model_of(architecture), batch_for(architecture)
    apart = [loss_of(model, item(batch, index))[0] for index in range(3)]
    assert loss_of(model, batch)[0] == pytest.approx(sum(apart), abs=NEAR)


@SOME
def test_padding_adds_nothing_to_the_loss(architecture: Architecture) -> None:
    model, batch = model_of(architecture), batch_for(architecture)
    assert loss_of(model, padded_further(batch)) == pytest.approx(loss_of(model, batch), abs=NEAR)


def test_padding_adds_nothing_to_the_gradient() -> None:
    model, batch = model_of(BAHDANAU), batch_for(BAHDANAU)
    parameters = list(model.parameters())
    expected = torch.autograd.grad(model(batch).objective, parameters)
    for actual, wanted in zip(torch.autograd.grad(model(padded_further(batch)).objective, parameters), expected, strict=True):
        torch.testing.assert_close(actual, wanted, rtol=0, atol=NEAR)


def test_example_weights_multiply_what_training_minimises_and_leave_the_plain_loss() -> None:
    model, batch = model_of(BAHDANAU), batch_for(BAHDANAU)
    weighted = replace(batch, weights=np.asarray([2.0, 0.5, 0.0], dtype=np.float32))
    apart = [loss_of(model, item(batch, index))[0] for index in range(3)]
    objective, nll = loss_of(model, weighted)
    assert objective == pytest.approx(2.0 * apart[0] + 0.5 * apart[1], abs=NEAR)
    assert nll == pytest.approx(sum(apart), abs=NEAR)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_label_smoothing_equals_that_of_torch_and_leaves_the_plain_loss(smoothing: float) -> None:
    model, batch = build(BAHDANAU, label_smoothing=smoothing), batch_for(BAHDANAU)
    logits, labels = said_of(BAHDANAU).log_probs, torch.from_numpy(np.asarray(batch.labels.values, dtype=np.int64))
    real = torch.from_numpy(batch.labels.mask)
    labels = labels.masked_fill(~real, -100)
    expected = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=smoothing, reduction="sum")
    plain = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    assert loss_of(model, batch) == pytest.approx((float(expected), float(plain)), abs=NEAR)


def test_example_weights_and_label_smoothing_go_together() -> None:
    model, batch = build(BAHDANAU, label_smoothing=0.1), batch_for(BAHDANAU)
    weighted = replace(batch, weights=np.asarray([2.0, 0.5, 3.0], dtype=np.float32))
    apart = [loss_of(model, item(batch, index))[0] for index in range(3)]
    assert loss_of(model, weighted)[0] == pytest.approx(2.0 * apart[0] + 0.5 * apart[1] + 3.0 * apart[2], abs=NEAR)


def test_a_model_that_knows_nothing_loses_log_v_a_symbol() -> None:
    model, batch = build(BAHDANAU, label_smoothing=0.0), batch_for(BAHDANAU)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert loss_of(model, batch)[0] == pytest.approx(batch.num_symbols * np.log(7), abs=NEAR)


MATRIX = torch.randn(9, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
BIAS = MATRIX.sum(dim=1)
LABELS = torch.tensor([5, 2, 5, 7])


def denominators(features: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(features @ matrix.t() + bias, dim=1).exp()


def test_what_is_drawn_stands_for_the_vocabulary_on_average() -> None:
    features = torch.randn(3, 4, dtype=torch.float64)
    by_draw = {}
    for seed in range(200):
        torch.manual_seed(seed)
        matrix, bias, _ = sampled_outputs(MATRIX, BIAS, LABELS, 1)
        by_draw[tuple(matrix[-1].tolist())] = denominators(features, matrix, bias)
    assert len(by_draw) == 6, "each of the symbols that are no labels is drawn at times"
    mean = torch.stack(list(by_draw.values())).mean(dim=0)
    torch.testing.assert_close(mean, denominators(features, MATRIX, BIAS), rtol=1e-12, atol=0)


def test_labels_are_always_there_and_nothing_is_there_twice() -> None:
    matrix, bias, places = sampled_outputs(MATRIX, BIAS, LABELS, 3)
    assert torch.equal(matrix[places], MATRIX[LABELS])
    assert torch.equal(bias[places], BIAS[LABELS])
    assert len({tuple(row) for row in matrix.tolist()}) == len(matrix) == 3 + 3


def test_a_vocabulary_that_is_small_enough_is_taken_whole() -> None:
    matrix, bias, labels = sampled_outputs(MATRIX, BIAS, LABELS, 6)
    assert (matrix is MATRIX, bias is BIAS, labels is LABELS) == (True, True, True)


def test_only_rows_that_were_looked_at_learn() -> None:
    matrix = MATRIX.clone().requires_grad_()
    chosen, _, _ = sampled_outputs(matrix, BIAS, LABELS, 2)
    (slope,) = torch.autograd.grad(chosen.sum(), matrix)
    assert sorted(slope.sum(dim=1).tolist()) == [0.0] * 4 + [4.0] * 5
    assert slope[LABELS].bool().all()


def test_a_sampled_softmax_is_for_training_alone() -> None:
    whole = build(BAHDANAU, label_smoothing=0.0)
    model = EncoderDecoder(BAHDANAU.section, BAHDANAU.sizes, sampled_softmax=1).double().eval()
    model.load_state_dict(whole.state_dict())
    batch = item(batch_for(BAHDANAU), 0)
    assert loss_of(model, batch) == loss_of(whole, batch)
    assert loss_of(model.train(), batch) != pytest.approx(loss_of(whole, batch), abs=NEAR)
