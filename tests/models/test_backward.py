"""The pass back through attention and time, written out as the lectures do (A8), against what training computes."""

import numpy as np
import pytest
import torch

from .architectures import Architecture, attention_bridge, build_section
from .equations import Matrix
from .equations.backward import Attending, gradients
from .harness import batch_for, build_random
from .letters import array

PARAMETERS = {
    "U_h": "encoders.source.forwards.0.inputs.0.weight",
    "W_h": "encoders.source.forwards.0.recurrent.weight",
    "b_h": "encoders.source.forwards.0.inputs.0.bias",
    "U_s": "decoder.cells.0.inputs.0.weight",
    "W_s": "decoder.cells.0.recurrent.weight",
    "b_s": "decoder.cells.0.inputs.0.bias",
    "W_q": "decoder.bridge.attentions.source.to_query.0.weight",
    "W_k": "decoder.bridge.attentions.source.to_key.0.weight",
    "W_out": "decoder.output.weight",
    "W_att": "decoder.output.attended",
    "b_out": "decoder.output.bias",
}


@pytest.mark.parametrize("query", ["current", "previous"])
def test_the_pass_back_of_the_lectures_finds_the_gradients_that_training_finds(query: str) -> None:
    use = {"query": query, "into": ("output",), "feed": False}
    section = build_section(attention_bridge("projected", use, dense=0), cell={"cell": "rnn"}, bidirectional=False)
    architecture = Architecture(query, section)
    model, batch = build_random(architecture), batch_for(architecture, source_lengths=(4,), target_lengths=(3,))
    source, inputs, labels = (one.values[0].tolist() for one in (batch.sources["source"], batch.inputs, batch.labels))
    embeddings = model.encoders["source"].get_parameter("embedding.weight"), model.decoder.embedding.weight
    letters = {letter: array(model.get_parameter(name)) for letter, name in PARAMETERS.items()}
    given = Attending(x=array(embeddings[0])[source], y=array(embeddings[1])[inputs], **letters)
    loss, found = gradients(given, labels, previous=query == "previous")
    objective = -model.log_probs(batch).sum()
    objective.backward()  # type: ignore[no-untyped-call]
    assert loss == pytest.approx(objective.item(), abs=1e-5)
    for letter, name in PARAMETERS.items():
        assert_near(getattr(found, letter), model.get_parameter(name).grad)
    for symbols, rows, embedding in ((source, found.x, embeddings[0]), (inputs, found.y, embeddings[1])):
        by_symbol = np.zeros(tuple(embedding.shape))
        np.add.at(by_symbol, symbols, rows)
        assert_near(by_symbol, embedding.grad)


def assert_near(written_out: Matrix, found: torch.Tensor | None) -> None:
    assert found is not None
    np.testing.assert_allclose(written_out, found.numpy(), rtol=0, atol=1e-5)
