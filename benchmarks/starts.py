"""Other ways for weights to start, to measure ours against: as torch's own modules come, and small and alike."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from seqloom.models.attention import CoverageAttention
from seqloom.models.cells import Cell
from seqloom.models.decoders import LinearOutput
from seqloom.models.encoder_decoder import EncoderDecoder

Start = Callable[[EncoderDecoder], None]


def ours(model: EncoderDecoder) -> None:
    """As the model is built."""


def uniform(model: EncoderDecoder) -> None:
    """Everything from U(-0.1, 0.1), as older toolkits draw it; norms stay as they are."""
    kept = {id(one) for norm in model.modules() if isinstance(norm, nn.LayerNorm) for one in norm.parameters()}
    for parameter in model.parameters():
        if id(parameter) not in kept:
            nn.init.uniform_(parameter, -0.1, 0.1)


def torchs(model: EncoderDecoder) -> None:
    """As nn.Embedding, nn.LSTM and its like, and nn.Linear come: N(0, 1), U(+-1/sqrt(size)), U(+-1/sqrt(inputs)).

    A transformer's embeddings are an exception: its positions are added to `sqrt(D) e`, so that N(0, 1) means N(0, 1 / D) here.
    """
    for module in model.modules():
        match module:
            case nn.Embedding():
                nn.init.normal_(module.weight, std=module.embedding_dim**-0.5 if _is_transformer(model) else 1.0)
            case CoverageAttention():
                _within(module.from_coverage, len(module.from_coverage))
            case nn.Linear():
                _within(module.weight, module.in_features)
                if module.bias is not None:
                    _within(module.bias, module.in_features)
            case _:
                pass
    for module in model.modules():
        match module:
            case Cell():
                _redraw_cell(module)
            case LinearOutput():
                _redraw_output(module, model)
            case _:
                pass


def _redraw_cell(cell: Cell) -> None:
    for parameter in cell.parameters():
        _within(parameter, cell.size)
    bias = cell.get_parameter("inputs.0.bias")  # torch has two biases, which are added
    with torch.no_grad():
        bias.add_(torch.empty_like(bias).uniform_(-(cell.size**-0.5), cell.size**-0.5))


def _redraw_output(output: LinearOutput, model: EncoderDecoder) -> None:
    inputs = output.size + (0 if output.attended is None else output.attended.shape[1])
    tied = any(output.weight is one.weight for one in model.modules() if isinstance(one, nn.Embedding))
    for parameter in (None if tied else output.weight, output.attended, output.bias):
        if parameter is not None:
            _within(parameter, inputs)


def _within(parameter: Tensor, inputs: int) -> None:
    nn.init.uniform_(parameter, -(inputs**-0.5), inputs**-0.5)


def _is_transformer(model: EncoderDecoder) -> bool:
    return any(isinstance(module, nn.LayerNorm) for module in model.modules())


STARTS: Mapping[str, Start] = {"ours": ours, "torch": torchs, "uniform": uniform}
