"""Weights as named arrays, and devices."""

from fnmatch import fnmatch

import numpy as np
import pytest

from seqloom.errors import RecipeError, RunError
from seqloom.models.encoder_decoder import build_model
from seqloom.models.weights import choose_device, load_weight_arrays, restored_model, weight_arrays
from seqloom.recipe.sections import Data, Recipe

from .architectures import ARCHITECTURES, Architecture
from .harness import batch_for, model_of, said_of, whole

SOME = pytest.mark.parametrize(
    "architecture",
    [ARCHITECTURES[name] for name in ("tied_all-luong", "tied_output-none", "lstm-bahdanau-2_layers")],
    ids=lambda a: a.name,
)


def recipe_of(architecture: Architecture, seed: int = 1) -> Recipe:
    pairs, text = {"builtin": "dates", "vocabularies": {"shared": True}}, {"train": "book.txt", "text": "lines"}
    data = Data.model_validate(pairs if architecture.reads else text)
    return Recipe(data=data, model=architecture.section, seed=seed, device="cpu")


@SOME
def test_a_model_restored_from_its_arrays_says_the_same(architecture: Architecture) -> None:
    arrays = weight_arrays(model_of(architecture))
    restored = restored_model(recipe_of(architecture), architecture.sizes, arrays, where="weights").double()
    said = whole(restored.eval(), batch_for(architecture)).log_probs
    np.testing.assert_allclose(said, said_of(architecture).log_probs, rtol=0, atol=1e-12)


@SOME
def test_weights_are_a_function_of_the_seed(architecture: Architecture) -> None:
    one, same, other = (weight_arrays(build_model(recipe_of(architecture, seed), architecture.sizes)) for seed in (1, 1, 2))
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not any(np.array_equal(one[name], other[name]) for name in one if not name.endswith("bias"))


def test_tied_weights_are_stored_once_and_stay_tied() -> None:
    architecture = ARCHITECTURES["tied_all-luong"]
    model = build_model(recipe_of(architecture), architecture.sizes)
    arrays = weight_arrays(model)
    assert [name for name in arrays if "embedding" in name or name.endswith("output.weight")] == [
        "encoders.source.embedding.weight"
    ]
    assert sum(array.size for array in arrays.values()) == model.num_parameters
    load_weight_arrays(model, weight_arrays(model_of(architecture)), where="weights")
    assert (
        model.decoder.output.weight
        is model.decoder.embedding.weight
        is dict(model.named_parameters())["encoders.source.embedding.weight"]
    )


def test_arrays_are_copies() -> None:
    architecture = ARCHITECTURES["lstm-bahdanau-2_layers"]
    model = build_model(recipe_of(architecture), architecture.sizes)
    for array in weight_arrays(model).values():
        array[...] = 7.0
    assert not any((parameter == 7.0).all() for parameter in model.parameters())


def test_weights_of_another_model_are_refused_by_name() -> None:
    architecture = ARCHITECTURES["gru-initial-1_layer"]
    model = build_model(recipe_of(architecture), architecture.sizes)
    foreign = weight_arrays(model_of(ARCHITECTURES["rnn-initial-1_layer"]))
    with pytest.raises(RunError, match=r"^weights\.safetensors: .*differing: .*decoder\.cells\.0\.gates\.weight"):
        load_weight_arrays(model, foreign, where="weights.safetensors")


def test_weights_of_another_size_are_refused_with_both_sizes() -> None:
    architecture = ARCHITECTURES["gru-initial-1_layer"]
    model = build_model(recipe_of(architecture), {"source": 9, "target": 8})
    with pytest.raises(RunError, match=r"^weights\.safetensors: decoder\.embedding\.weight .*\(7, 5\).*\(8, 5\)"):
        load_weight_arrays(model, weight_arrays(model_of(architecture)), where="weights.safetensors")


def test_a_device_that_is_not_there_is_refused_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(RecipeError, match=r"cuda is not available here\. Available: cpu"):
        choose_device("cuda")
    assert choose_device("auto").type == choose_device("cpu").type == "cpu"


DOCUMENTED = (
    *(f"encoders.*.{part}" for part in ("embedding.weight", "forwards.*", "backwards.*", "layers.*", "norm.*", "network.*")),
    *(f"encoders.*.{part}" for part in ("project.*", "rows", "columns", "dense.*", "telling.*", "compare.*")),
    *(f"encoders.*.{part}" for part in ("question.*", "ages.weight", "places", "rounds", "attention.*", "feed_forward.*")),
    *(f"decoder.{part}" for part in ("embedding.weight", "cells.*", "combine.weight", "layers.*", "norm.*", "from_context.*")),
    *(f"decoder.output.{part}" for part in ("weight", "attended", "bias")),
    *(f"decoder.bridge.{part}" for part in ("first.leaves.*", "attentions.*", "again.*", "gate.*", "norms.*", "layers.*")),
    *(f"decoder.{part}" for part in ("bridge.score.*", "bridge.distances", "from_state.*", "from_source.weight", "emission.*")),
    "decoder.copying.gate.*",
    "ctc.output.*",
)
"""How the names of docs/weights.md begin."""


def test_all_names_are_documented() -> None:
    every = {name for architecture in ARCHITECTURES.values() for name in weight_arrays(model_of(architecture))}
    names = {name for name in every if ".look." not in name}  # but for the grids that only these tests have
    assert [name for name in names if not any(fnmatch(name, one) for one in DOCUMENTED)] == []


def test_the_gates_of_an_lstm_are_forget_write_output_candidate() -> None:
    arrays = weight_arrays(model_of(ARCHITECTURES["lstm-bahdanau-2_layers"]))
    bias, matrix = arrays["decoder.cells.0.inputs.0.bias"], arrays["decoder.cells.0.recurrent.weight"]
    assert matrix.shape == (4 * matrix.shape[1], matrix.shape[1])
    assert bias.shape == (len(matrix),)
    assert "decoder.bridge.first.leaves.3.0.weight" in arrays
