"""A cell and an attention that nobody has heard of: prediction and counting follow from their classes alone."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from seqloom.models.attention import KeyValues, ScoredAttention
from seqloom.models.cells import Cell, StateProducts
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.memory import CellState, Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.models.products import Product

from .architectures import ARCHITECTURES, DECODER_SIZE
from .harness import CLOSE, batch_for, randomise, scored_by, steps_of, whole

PLAIN = ARCHITECTURES["gru-bahdanau-1_layer"]


class LeakyCell(Cell):
    """`s_t = s_{t-1} / 2 + tanh(W s_{t-1} + U x_t + b) / 2`."""

    num_gates = 1
    state_layers: ClassVar[Mapping[str, int]] = {"recurrent": 1}

    def step(self, projected: Tensor, state: CellState, products: StateProducts) -> CellState:
        return ((state[0] + self.activation(projected + products[0](state[0]))) / 2,)


class CosineAttention(ScoredAttention):
    """`cos(W s, h_j)`."""

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__()
        self.context_size = memory_size
        self.matrix = Linear(query_size, memory_size, bias=False)

    def prepare(self, memory: Memory) -> KeyValues:
        return KeyValues(nn.functional.normalize(memory.states, dim=-1), memory.states, memory.mask)

    def scores(self, query: Tensor, keys: KeyValues) -> Tensor:
        return (nn.functional.normalize(self.matrix(query), dim=-1) @ keys.keys.transpose(1, 2))[:, None]

    @property
    def multiplications(self) -> Multiplications:
        return Multiplications(target=matrix_entries(self.matrix), pair=2 * self.context_size)


def model_with_new_parts() -> EncoderDecoder:
    model = EncoderDecoder(PLAIN.section, PLAIN.sizes)
    decoder = model.decoder
    [cell] = decoder.get_submodule("cells").children()
    memory_size = model.encoder("source").memory_size
    widths = [layer.in_features for layer in cell.get_submodule("inputs").children() if isinstance(layer, Linear)]
    decoder.set_submodule("cells.0", LeakyCell(widths, DECODER_SIZE))
    decoder.bridge.set_submodule("attentions.source", CosineAttention(DECODER_SIZE, memory_size))
    randomise(model)
    return model.eval()


def test_prediction_says_what_the_model_says() -> None:
    model, batch = model_with_new_parts(), batch_for(PLAIN)
    stepper = TorchStepper(model)
    labels = np.asarray(batch.labels.values, dtype=np.int64)[..., None]
    said = np.take_along_axis(whole(model, batch).log_probs.numpy(), labels, axis=2)[..., 0]
    np.testing.assert_allclose(scored_by(steps_of(stepper, batch), batch), np.where(batch.labels.mask, said, 0.0), atol=CLOSE)


def test_matrices_are_laid_out_in_the_precision_of_a_prediction() -> None:
    prepared = model_with_new_parts().for_prediction("bf16").decoder
    assert isinstance(prepared.get_submodule("cells.0.recurrent"), Product)
    assert isinstance(prepared.bridge.get_submodule("attentions.source.matrix"), Product)


def test_operations_are_counted() -> None:
    model = model_with_new_parts()
    usual = EncoderDecoder(PLAIN.section, PLAIN.sizes)
    cells = [matrix_entries(one.decoder.get_submodule("cells.0")) for one in (model, usual)]
    attentions = [one.decoder.bridge.multiplications for one in (model, usual)]
    assert model.multiplications.target - attentions[0].target - cells[0] == (
        usual.multiplications.target - attentions[1].target - cells[1]
    )
    assert model.multiplications.pair == attentions[0].pair
