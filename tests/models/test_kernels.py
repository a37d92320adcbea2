"""torch's own LSTM kernel in the place of plain steps: where it runs, that it says the same, and that gradients stay right."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from seqloom.models.cells import Cell, LstmCell, build_cell
from seqloom.models.memory import CellState
from seqloom.models.mixed_precision import multiplying
from seqloom.recipe import sections

from .architectures import BRIDGES, CELLS, Architecture, build_section
from .harness import batch_for, build_random

ROWS, STEPS, WIDTH, SIZE = 3, 5, 4, 6
PRECISIONS = pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The inputs that torch's kernel has been given."""
    seen: list[Tensor] = []
    kernel: Callable[..., object] = torch.lstm

    def watched(inputs: Tensor, *others: object) -> object:
        seen.append(inputs)
        return kernel(inputs, *others)

    monkeypatch.setattr(torch, "lstm", watched)
    return seen


def architecture_of(bridge: str, **cell: str) -> Architecture:
    settings = {**CELLS["lstm"], **cell}
    return Architecture(bridge, build_section(BRIDGES[bridge], cell=settings, encoder_cell=CELLS["gru"], layers=(1, 2)))


@pytest.mark.parametrize("bridge", ["none", "initial", "004"])
def test_it_runs_once_for_each_layer_where_nothing_flows_back(bridge: str, runs: list[Tensor]) -> None:
    architecture = architecture_of(bridge)
    build_random(architecture).train()(batch_for(architecture))
    assert [len(inputs.shape) for inputs in runs] == [3, 3]


@pytest.mark.parametrize("bridge", ["bahdanau", "luong", "state", "concatenated"])
def test_it_does_not_run_where_steps_wait_for_what_is_read(bridge: str, runs: list[Tensor]) -> None:
    architecture = architecture_of(bridge)
    build_random(architecture).train()(batch_for(architecture))
    assert runs == []


def test_a_context_for_all_steps_leaves_the_first_layer_to_plain_steps(runs: list[Tensor]) -> None:
    architecture = architecture_of("every_step")
    build_random(architecture).train()(batch_for(architecture))
    assert [inputs.shape[-1] for inputs in runs] == [architecture.section.decoder.size]


def test_it_does_not_run_where_it_would_compute_something_else(runs: list[Tensor]) -> None:
    logistic, tanh = architecture_of("none", activation="logistic"), architecture_of("none")
    build_random(logistic).train()(batch_for(logistic))
    with multiplying("bf16"):
        build_random(tanh).float().train()(batch_for(tanh))
    assert runs == []


# --- the same -------------------------------------------------------------------------------------------------------


def drawn(dtype: torch.dtype) -> tuple[Cell, list[Tensor]]:
    """A cell, and what goes into it: inputs and both leaves of a state."""
    torch.manual_seed(1)
    cell = build_cell(sections.RecurrentDecoder(cell="lstm", size=SIZE), [WIDTH]).to(dtype)
    given = [torch.randn(ROWS, STEPS, WIDTH), torch.randn(ROWS, SIZE), torch.randn(ROWS, SIZE)]
    return cell, [one.to(dtype).requires_grad_() for one in given]


def total(shown: Tensor, after: CellState) -> Tensor:
    """A number in which every step and both leaves count differently."""
    uneven = torch.linspace(-1.0, 1.0, shown.numel(), dtype=shown.dtype).view_as(shown)
    return (shown * uneven).sum() + after[0].square().sum() + after[1].sin().sum()


@PRECISIONS
def test_it_says_what_plain_steps_say_and_has_their_gradients(dtype: torch.dtype, tolerance: float) -> None:
    cell, given = drawn(dtype)
    wanted = [*given, *cell.parameters()]
    found = []
    for run in (LstmCell.run, Cell.run):
        shown, after = run(cell, tuple(given[1:]), given[0])  # type: ignore[arg-type]
        found.append([shown, *after, *torch.autograd.grad(total(shown, after), wanted)])
    for actual, expected in zip(*found, strict=True):
        assert_close(actual, expected, rtol=0, atol=tolerance * 10)


# --- twice ----------------------------------------------------------------------------------------------------------


@PRECISIONS
@pytest.mark.parametrize("bridge", ["none", "004", "bahdanau"])
def test_a_second_pass_back_gives_the_same_gradients_or_is_refused(bridge: str, dtype: torch.dtype, tolerance: float) -> None:
    architecture = architecture_of(bridge)
    model = build_random(architecture).to(dtype)
    objective = model(batch_for(architecture)).objective
    parameters = list(model.parameters())
    first, second = (torch.autograd.grad(objective, parameters, retain_graph=again) for again in (True, False))
    for one, other in zip(first, second, strict=True):
        assert_close(one, other, rtol=0, atol=tolerance)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(objective, parameters)
