"""The dense encoder: one position from a vector, which every bridge and every attention can read."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch.testing import assert_close

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.encoders import DenseEncoder
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.recipe import sections

from .harness import CLOSE, EXACT, item, make_batch, randomise, scored_by, sequences, steps_of

WIDTH, TARGETS = 5, 7
BRIDGES = {
    "initial": sections.InitialBridge(),
    "identity": sections.InitialBridge(start=sections.Start(dense=0)),
    "every_step": sections.EveryStepBridge(),
    "additive": sections.AttentionBridge(attention=sections.Additive(size=6)),
    "multi_head": sections.AttentionBridge(attention=sections.MultiHead(heads=2, size=8)),
}
SQUASHING: dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "tanh": np.tanh,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
}
every_bridge = pytest.mark.parametrize("bridge", BRIDGES.values(), ids=BRIDGES.keys())


def build(bridge: sections.Bridge, *, cell: str = "gru") -> EncoderDecoder:
    section = sections.Model(
        encoder=sections.DenseEncoder(size=8, layers=2),
        decoder=sections.RecurrentDecoder.model_validate({"cell": cell, "size": 8, "embedding": 4, "layers": 2}),
        bridge=bridge,
    )
    model = EncoderDecoder(section, {"source": WIDTH, "target": TARGETS})
    randomise(model)
    return model.double().eval()


@pytest.fixture
def batch() -> Batch:
    vectors = np.random.default_rng(1).normal(size=(3, 1, WIDTH)).astype(np.float32)
    return make_batch({"source": Padded(vectors, np.ones(3, dtype=np.int64))}, Padded.of(sequences((2, 4, 0), TARGETS, seed=2)))


@pytest.mark.parametrize("activation", ["tanh", "logistic", "relu"])
def test_layers_are_what_the_equation_says(activation: str) -> None:
    encoder = DenseEncoder(sections.DenseEncoder.model_validate({"size": 4, "layers": 2, "activation": activation}), WIDTH)
    randomise(encoder)
    vector = np.linspace(-1, 1, WIDTH, dtype=np.float32)
    expected = vector.astype(np.float64)
    parameters = {name: parameter.detach().numpy() for name, parameter in encoder.double().named_parameters()}
    for index in range(2):
        expected = SQUASHING[activation](parameters[f"layers.{index}.weight"] @ expected + parameters[f"layers.{index}.bias"])
    memory = encoder(torch.from_numpy(vector)[None, None], torch.ones(1, dtype=torch.int64))
    assert_close(memory.states[0, 0].detach().numpy(), expected, atol=1e-7, rtol=0)
    assert memory.mask.tolist() == [[True]]
    assert_close(memory.summary, memory.states[:, 0])
    assert_close(memory.finals[-1][0], memory.summary)


@every_bridge
@torch.inference_mode()
def test_a_batch_equals_its_items(bridge: sections.Bridge, batch: Batch) -> None:
    model = build(bridge)
    together = model.log_probs(batch)
    for index in range(3):
        alone = model.log_probs(item(batch, index))
        assert_close(together[index : index + 1, : alone.shape[1]], alone, atol=EXACT, rtol=0)


@pytest.mark.parametrize(
    ("bridge", "cell"),
    # An lstm has two states: the recipe refuses to start it from one.
    [(bridge, cell) for name, bridge in BRIDGES.items() for cell in ("gru", "lstm") if (name, cell) != ("identity", "lstm")],
)
def test_the_stepper_says_what_the_whole_target_says(bridge: sections.Bridge, batch: Batch, cell: str) -> None:
    stepper = TorchStepper(build(bridge, cell=cell))
    np.testing.assert_allclose(scored_by(steps_of(stepper, batch), batch), stepper.score(batch), atol=CLOSE)


@every_bridge
def test_gradients_reach_every_parameter(bridge: sections.Bridge, batch: Batch) -> None:
    model = build(bridge).train()
    model(batch).objective.backward()
    # With one position there is nothing to choose from, so what scores it learns nothing.
    scoring = ("attentions.source.from", "attentions.source.energy", "attentions.source.to_query", "attentions.source.to_key")
    for name, parameter in model.named_parameters():
        if not any(part in name for part in scoring):
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name
