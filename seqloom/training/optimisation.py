"""Optimisers, and the learning rate as a function of the step, so that nothing but the optimiser needs saving."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, assert_never

import numpy.typing as npt
import torch
from torch import nn

from seqloom.recipe import sections
from seqloom.training.weights.parts import factors_of


def build_optimiser(
    section: sections.Optimiser, model: nn.Module, learning_rate: float, rates: Mapping[str, float] | None = None
) -> torch.optim.Optimizer:
    """The optimiser that a recipe names, over all parameters of a model.

    rates: factors of the learning rate by parts of the model; a part whose factor is 0 asks for no gradients from now on.
    """
    groups = _groups(model, rates or {})
    match section:
        case sections.Adam(betas=betas, epsilon=epsilon):
            return torch.optim.Adam(groups, lr=learning_rate, betas=betas, eps=epsilon, fused=True)
        case sections.AdamW(betas=betas, epsilon=epsilon, weight_decay=decay):
            return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, eps=epsilon, weight_decay=decay, fused=True)
        case sections.Sgd(momentum=momentum, weight_decay=decay):
            return torch.optim.SGD(groups, lr=learning_rate, momentum=momentum, weight_decay=decay, fused=True)
        case _:
            assert_never(section)


def _groups(model: nn.Module, rates: Mapping[str, float]) -> list[dict[str, Any]]:
    """The parameters that learn, those of one factor together."""
    parameters = dict(model.named_parameters())
    groups: dict[float, list[nn.Parameter]] = {}
    for name, factor in factors_of(parameters, rates).items():
        # Without gradients a frozen part costs nothing, and has no share in what is clipped.
        parameters[name].requires_grad_(factor > 0)
        if factor > 0:
            groups.setdefault(factor, []).append(parameters[name])
    return [{"params": learning, "factor": factor} for factor, learning in groups.items()]


class Average:
    """A moving average of a model's weights; while it is young, more of it is made up of the latest ones."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._decay = decay
        self._live = dict(model.named_parameters())
        self._values = {name: parameter.detach().clone() for name, parameter in self._live.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take the weights in as they are after update number `step` (1 is the first)."""
        decay = min(self._decay, (1 + step) / (10 + step))
        for name, parameter in self._live.items():
            self._values[name].lerp_(parameter, 1.0 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the model have the average for a while."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for name, parameter in self._live.items():
            parameter.data, self._values[name] = self._values[name], parameter.data

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The average by name, for a checkpoint."""
        return {name: values.cpu().numpy().copy() for name, values in self._values.items()}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        for name, array in arrays.items():
            self._values[name].copy_(torch.from_numpy(array))


def learning_rate_factor(section: sections.Schedule, step: int, total: int, reductions: int) -> float:
    """What the learning rate is multiplied with at a step (0 is the first) of `total`; reductions: of a plateau so far.

    A schedule that falls begins to at the first step after the warm-up, and the last step has its final value.
    """
    warmup = section.warmup
    if step < warmup:
        return (step + 1) / warmup
    progress = min(1.0, (step - warmup) / max(1, total - 1 - warmup))
    match section:
        case sections.Constant():
            return 1.0
        case sections.Linear(final=final):
            return final + (1.0 - final) * (1.0 - progress)
        case sections.Cosine(final=final):
            return final + (1.0 - final) * 0.5 * (1.0 + math.cos(math.pi * progress))
        case sections.InverseSqrt():
            return math.sqrt(warmup / (step + 1))
        case sections.Plateau(factor=factor):
            return float(factor**reductions)
        case _:
            assert_never(section)


def dropout_share(epochs: float | None, epoch: float) -> float:
    """How much of the model's dropout applies after so many epochs (0 is the start), if it rises over `epochs`."""
    return 1.0 if epochs is None else min(1.0, epoch / epochs)


def set_learning_rate(optimiser: torch.optim.Optimizer, value: float) -> None:
    """Use a learning rate from now on, in each part of the model times its factor."""
    for group in optimiser.param_groups:
        group["lr"] = value * group["factor"]


def optimiser_arrays(optimiser: torch.optim.Optimizer, model: nn.Module) -> dict[str, npt.NDArray[Any]]:
    """The optimiser's memory of each parameter, by `<what>/<parameter>`."""
    arrays = {}
    for name, parameter in model.named_parameters():
        for what, value in optimiser.state.get(parameter, {}).items():
            if isinstance(value, torch.Tensor):
                arrays[f"{what}/{name}"] = value.detach().cpu().numpy().copy()
    return arrays


def restore_optimiser(optimiser: torch.optim.Optimizer, model: nn.Module, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Put back what `optimiser_arrays` took."""
    parameters = dict(model.named_parameters())
    for key, array in arrays.items():
        what, _, name = key.partition("/")
        optimiser.state[parameters[name]][what] = torch.from_numpy(array.copy()).to(parameters[name].device)
