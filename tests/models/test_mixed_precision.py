"""bfloat16 products in training: near those of full precision."""

import pytest
import torch
from torch import Tensor, nn

from seqloom.models import mixed_precision as module
from seqloom.models.cells import build_cell, unroll
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.mixed_precision import Bfloat16Multiplier, Linear, Multiplier, current_multiplier, multiplying
from seqloom.recipe import sections

from .architectures import ARCHITECTURES, PLAIN, Architecture
from .harness import batch_for, build_random

ROUNDED = 2**-8
"""How far apart two neighbouring bfloat16 numbers are, relative to their size."""


@pytest.fixture(params=[False, True], ids=["rounded", "native"])
def native(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to multiply, whatever this processor has: torch emulates what the hardware lacks."""
    monkeypatch.setattr(module, "_is_native", lambda device: request.param)


def gradients_of(model: EncoderDecoder, architecture: Architecture, precision: str) -> tuple[Tensor, dict[str, Tensor]]:
    with multiplying("bf16" if precision == "bf16" else "fp32"):
        loss = model(batch_for(architecture))
    names, parameters = zip(*model.named_parameters(), strict=True)
    return loss.objective.detach(), dict(
        zip(names, torch.autograd.grad(loss.objective, parameters, materialize_grads=True), strict=True)
    )


@pytest.mark.usefixtures("native")
def test_products_round_their_factors() -> None:
    exact, rounded = Multiplier(), Bfloat16Multiplier()
    left, right, base = torch.randn(5, 7), torch.randn(7, 3), torch.randn(5, 3)
    wanted = left.bfloat16().float() @ right.bfloat16().float()
    for out in (None, torch.empty(5, 3)):
        torch.testing.assert_close(rounded.mm(left, rounded.operand(right), out=out), wanted, rtol=ROUNDED, atol=1e-6)
        sums = rounded.addmm(base, left, rounded.operand(right), out=out)
        torch.testing.assert_close(sums, base + wanted, rtol=ROUNDED, atol=ROUNDED * float(wanted.abs().max()))
        assert sums.dtype == torch.float32
    steps = torch.randn(4, 5, 2), torch.randn(4, 5, 3)
    torch.testing.assert_close(rounded.gradient(*steps), exact.gradient(*steps), rtol=0, atol=0.1)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("bias", [False, True])
def test_a_layer_and_its_gradients_are_near_those_of_full_precision(bias: bool) -> None:
    torch.manual_seed(1)
    layer = Linear(6, 4, bias=bias)
    vectors = torch.randn(2, 3, 6, requires_grad=True)
    wanted = [vectors, *layer.parameters()]
    uneven = torch.randn(2, 3, 4)
    expected = torch.autograd.grad((nn.functional.linear(vectors, layer.weight, layer.bias) * uneven).sum(), wanted)
    with multiplying("bf16"):
        results = layer(vectors)
    actual = torch.autograd.grad((results * uneven).sum(), wanted)
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == torch.float32
        torch.testing.assert_close(one, other, rtol=0, atol=4 * ROUNDED * float(other.abs().max()))


def test_a_matrix_is_rounded_once_for_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    rounded = []

    def noted(_: Bfloat16Multiplier, matrix: Tensor) -> Tensor:
        rounded.append(matrix.shape)
        return matrix.bfloat16().float()

    monkeypatch.setattr(Bfloat16Multiplier, "operand", noted)
    cell = build_cell(sections.RecurrentDecoder(cell="lstm", size=6), [3])
    with multiplying("bf16"):
        unroll(cell, cell.project(torch.zeros(2, 9, 3)), cell.zeros(2, like=torch.zeros(1)))
    assert rounded.count(cell.get_parameter("recurrent.weight").shape) == 1


def test_a_matrix_that_has_changed_is_rounded_again() -> None:
    layer = Linear(3, 2, bias=False)
    vectors = torch.ones(1, 3)
    with multiplying("bf16"):
        before = layer(vectors)
        with torch.no_grad():
            layer.weight += 1.0
        torch.testing.assert_close(layer(vectors), before + 3.0, rtol=0.02, atol=0.02)


def test_the_precision_ends_with_its_context() -> None:
    with multiplying("bf16"):
        with multiplying("fp32"):
            assert type(current_multiplier()) is Multiplier
        assert type(current_multiplier()) is Bfloat16Multiplier
    with pytest.raises(ZeroDivisionError), multiplying("bf16"):
        _ = 1 / 0
    assert type(current_multiplier()) is Multiplier


# Of the largest of several numbers, rounding may choose another one, whose gradient is not near.
@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("name", [name for name in PLAIN if "pooled" not in name])
def test_losses_and_gradients_are_near_those_of_full_precision(name: str) -> None:
    architecture = ARCHITECTURES[name]
    model = build_random(architecture).float()
    expected_loss, expected = gradients_of(model, architecture, "fp32")
    loss, actual = gradients_of(model, architecture, "bf16")
    assert float(loss) != float(expected_loss)
    assert float(loss) == pytest.approx(float(expected_loss), rel=0.02)
    largest = max(float(gradient.abs().max()) for gradient in expected.values())
    for part, gradient in expected.items():
        assert actual[part].dtype == torch.float32
        torch.testing.assert_close(actual[part], gradient, rtol=0.1, atol=0.05 * largest, msg=part)


@pytest.mark.usefixtures("native")
def test_bfloat16_gives_the_same_bits_again() -> None:
    architecture = ARCHITECTURES["lstm-bahdanau-1_layer"]
    model = build_random(architecture).float()
    (loss, first), (again, second) = (gradients_of(model, architecture, "bf16") for _ in range(2))
    assert torch.equal(loss, again)
    assert all(torch.equal(second[name], gradient) for name, gradient in first.items())
