"""Optimisers, and the learning rate as a function of the step, so that nothing but the optimiser needs saving."""

import math
from collections.abc import Mapping
from typing import Any, assert_never

import numpy.typing as npt
import torch
from torch import nn

from seqloom.recipe import sections


def build_optimiser(section: sections.Optimiser, model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """The optimiser that a recipe names, over all parameters of a model."""
    parameters = list(model.parameters())
    match section:
        case sections.Adam(betas=betas, epsilon=epsilon):
            return torch.optim.Adam(parameters, lr=learning_rate, betas=betas, eps=epsilon, fused=True)
        case sections.AdamW(betas=betas, epsilon=epsilon, weight_decay=decay):
            return torch.optim.AdamW(parameters, lr=learning_rate, betas=betas, eps=epsilon, weight_decay=decay, fused=True)
        case sections.Sgd(momentum=momentum, weight_decay=decay):
            return torch.optim.SGD(parameters, lr=learning_rate, momentum=momentum, weight_decay=decay, fused=True)
        case _:
            assert_never(section)


def learning_rate_factor(section: sections.Schedule, step: int, total: int, reductions: int) -> float:
    """What the learning rate is multiplied with at a step (0 is the first) of `total`; reductions: of a plateau so far."""
    warmup = section.warmup
    if step < warmup:
        return (step + 1) / warmup
    progress = min(1.0, (step - warmup) / max(1, total - warmup))
    match section:
        case sections.Constant():
            return 1.0
        case sections.Linear(final=final):
            return 1.0 - (1.0 - final) * progress
        case sections.Cosine(final=final):
            return final + (1.0 - final) * 0.5 * (1.0 + math.cos(math.pi * progress))
        case sections.InverseSqrt():
            return math.sqrt(warmup / (step + 1))
        case sections.Plateau(factor=factor):
            return float(factor**reductions)
        case _:
            assert_never(section)


def set_learning_rate(optimiser: torch.optim.Optimizer, value: float) -> None:
    """Use a learning rate from now on."""
    for group in optimiser.param_groups:
        group["lr"] = value


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
