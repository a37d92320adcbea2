"""Factors of the learning rate by parts of a model."""

import pytest
import torch
from torch import nn

from seqloom.errors import RecipeError
from seqloom.recipe import sections
from seqloom.training.optimisation import build_optimiser, set_learning_rate
from seqloom.training.weights.parts import factors_of

NAMES = [
    "encoders.source.embedding.weight",
    "encoders.question.embedding.weight",
    "decoder.embedding.weight",
    "decoder.output.bias",
]


def test_the_longest_part_decides_and_encoder_means_all_of_them() -> None:
    rates = {"encoder": 0.1, "encoder.question": 0.2, "decoder": 0.5, "decoder.embedding": 0.0}
    assert list(factors_of(NAMES, rates).values()) == [0.1, 0.2, 0.0, 0.5]
    assert list(factors_of(NAMES, {"encoder.embedding": 3.0}).values()) == [3.0, 3.0, 1.0, 1.0]
    assert set(factors_of(NAMES, {}).values()) == {1.0}


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({"encodr": 0.1}, r"no part of this model is called 'encodr'\. Did you mean 'encoder'\?"),
        ({"decoder.embeding": 0.1}, r"Did you mean 'decoder\.embedding'\?"),
        ({"decod": 0.1}, "Did you mean 'decoder'"),
        ({"zzz": 0.1}, r"Its parts are encoder, encoder\.source"),
        ({"encoder": 0, "decoder": 0}, "nothing is left to learn"),
    ],
)
def test_parts_that_there_are_not_are_refused_with_the_nearest(rates: dict[str, float], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        factors_of(NAMES, rates)


@pytest.mark.parametrize("section", [sections.Adam(), sections.AdamW(weight_decay=0.5), sections.Sgd(momentum=0.9)])
def test_a_frozen_part_stays_to_the_bit_and_another_takes_its_share(section: sections.Optimiser) -> None:
    model = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Linear(2, 1), "c": nn.Linear(2, 1)})
    optimiser = build_optimiser(section, model, 0.1, {"a": 0.0, "b": 0.5})
    set_learning_rate(optimiser, 0.2)
    assert sorted(group["lr"] for group in optimiser.param_groups) == [0.1, 0.2]
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    sum(layer(torch.ones(1, 2)).sum() for layer in model.values()).backward()
    optimiser.step()
    assert {name[0] for name, value in model.named_parameters() if not torch.equal(value, before[name])} == {"b", "c"}
    assert model["a"].weight.grad is None
