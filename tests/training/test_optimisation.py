import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from seqloom.recipe import sections
from seqloom.runs import Checkpoint, RunFolder
from seqloom.training.loop import TrainingState
from seqloom.training.optimisation import (
    build_optimiser,
    dropout_share,
    learning_rate_factor,
    optimiser_arrays,
    restore_optimiser,
    set_learning_rate,
)

SCHEDULES: list[sections.Schedule] = [
    sections.Constant(warmup=10),
    sections.Linear(warmup=10),
    sections.Cosine(warmup=10),
    sections.InverseSqrt(warmup=10),
    sections.Plateau(warmup=10),
]
OPTIMISERS: list[sections.Optimiser] = [
    sections.Adam(betas=(0.8, 0.9)),
    sections.AdamW(weight_decay=0.1),
    sections.Sgd(momentum=0.9, weight_decay=0.01),
    sections.Sgd(),
]


def factors(section: sections.Schedule, total: int = 110) -> list[float]:
    return [learning_rate_factor(section, step, total, 0) for step in range(total + 1)]


# --- schedules ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("section", SCHEDULES, ids=lambda one: one.kind)
def test_every_schedule_rises_linearly_to_one_and_never_above(section: sections.Schedule) -> None:
    found = factors(section)
    np.testing.assert_allclose(found[:10], np.arange(1, 11) / 10)
    assert max(found) == 1.0
    assert min(found) >= 0.0
    assert all(later <= earlier for earlier, later in itertools.pairwise(found[9:]))


def test_constant_stays() -> None:
    assert set(factors(sections.Constant())) == {1.0}


def test_linear_falls_evenly_to_its_final_share() -> None:
    found = factors(sections.Linear(warmup=10, final=0.2), total=111)
    np.testing.assert_allclose(np.diff(found[10:111]), -0.008)


def test_cosine_is_half_way_in_the_middle() -> None:
    found = factors(sections.Cosine(warmup=10, final=0.2), total=111)
    assert (found[10], found[60], found[-1]) == pytest.approx((1.0, 0.6, 0.2))
    assert found[35] == pytest.approx(0.2 + 0.8 * 0.5 * (1 + math.cos(math.pi / 4)))


@pytest.mark.parametrize("kind", [sections.Linear, sections.Cosine])
@pytest.mark.parametrize("final", [0.0, 0.1, 0.2, 0.7, 1.0])
def test_the_last_update_has_the_final_share_exactly(kind: type[sections.Linear | sections.Cosine], final: float) -> None:
    section = kind(warmup=3, final=final)
    assert learning_rate_factor(section, 3, 12, 0) == 1.0
    assert learning_rate_factor(section, 11, 12, 0) == final
    assert learning_rate_factor(section, 10, 12, 0) >= final + 0.01 * (1 - final)
    assert learning_rate_factor(kind(final=final), 0, 1, 0) == 1.0, "a single update is not thrown away"


def test_inverse_square_root_halves_at_four_times_the_warmup() -> None:
    found = factors(sections.InverseSqrt(warmup=25))
    assert (found[24], found[99]) == pytest.approx((1.0, 0.5))


def test_plateau_multiplies_with_every_reduction() -> None:
    section = sections.Plateau(factor=0.5)
    assert [learning_rate_factor(section, 9, 10, reductions) for reductions in range(3)] == [1.0, 0.5, 0.25]


def test_a_warmup_longer_than_training_is_no_problem() -> None:
    assert factors(sections.Linear(warmup=1000), total=5) == pytest.approx([0.001, 0.002, 0.003, 0.004, 0.005, 0.006])


def test_dropout_rises_evenly_within_its_epochs() -> None:
    assert [dropout_share(4.0, epoch) for epoch in (0.0, 1.0, 3.0, 4.0, 9.0)] == [0.0, 0.25, 0.75, 1.0, 1.0]
    assert dropout_share(None, 0.0) == 1.0


# --- optimisers -----------------------------------------------------------------------------------------------------


def model_of(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def steps(model: nn.Module, optimiser: torch.optim.Optimizer, numbers: range) -> None:
    for number in numbers:
        set_learning_rate(optimiser, 0.1 / (number + 1))
        torch.manual_seed(number)
        optimiser.zero_grad()
        model(torch.randn(5, 3)).square().mean().backward()
        optimiser.step()


def shapes_of(memory: dict[str, Any]) -> dict[str, torch.Size]:
    return {what: value.shape for what, value in memory.items() if isinstance(value, torch.Tensor)}


@pytest.mark.parametrize("section", OPTIMISERS, ids=["adam", "adamw", "sgd with momentum", "sgd"])
def test_an_optimiser_goes_on_from_a_checkpoint_to_the_bit(section: sections.Optimiser, tiny_run_copy: Path) -> None:
    straight = model_of(1)
    steps(straight, build_optimiser(section, straight, 0.1), range(6))

    first = model_of(1)
    optimiser = build_optimiser(section, first, 0.1)
    steps(first, optimiser, range(3))
    weights = {name: value.detach().numpy().copy() for name, value in first.named_parameters()}
    run = RunFolder.open(tiny_run_copy)
    run.save_checkpoint(Checkpoint(weights, optimiser_arrays(optimiser, first), TrainingState(step=3).counters))
    loaded = run.load_checkpoint()
    assert loaded is not None

    second = model_of(2)
    with torch.no_grad():
        for name, parameter in second.named_parameters():
            parameter.copy_(torch.from_numpy(loaded.weights[name]))
    resumed = build_optimiser(section, second, 0.1)
    restore_optimiser(resumed, second, loaded.optimiser)
    for before, after in zip(first.parameters(), second.parameters(), strict=True):
        assert shapes_of(resumed.state.get(after, {})) == shapes_of(optimiser.state.get(before, {}))
    steps(second, resumed, range(3, 6))
    for one, other in zip(straight.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


def test_options_reach_the_optimiser() -> None:
    model = model_of(1)
    adam = build_optimiser(sections.Adam(betas=(0.5, 0.6), epsilon=1e-3), model, 0.2).param_groups[0]
    assert (adam["lr"], adam["betas"], adam["eps"]) == (0.2, (0.5, 0.6), 1e-3)
    assert build_optimiser(sections.AdamW(weight_decay=0.3), model, 0.2).param_groups[0]["weight_decay"] == 0.3
    sgd = build_optimiser(sections.Sgd(momentum=0.7, weight_decay=0.1), model, 0.2).param_groups[0]
    assert (sgd["momentum"], sgd["weight_decay"]) == (0.7, 0.1)
