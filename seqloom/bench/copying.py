"""The same weights in both models: ours, laid out as torch's own modules want them."""

import torch
from torch import Tensor, nn

from seqloom.bench.textbook import Textbook
from seqloom.models.encoder_decoder import EncoderDecoder


def copy_weights(ours: EncoderDecoder, textbook: Textbook) -> None:
    """Make the textbook model compute what ours computes."""
    weights = {name: parameter.detach() for name, parameter in ours.named_parameters()}
    with torch.no_grad():
        _copy_encoder(weights, textbook)
        _copy_decoder(weights, textbook)


def _copy_encoder(weights: dict[str, Tensor], textbook: Textbook) -> None:
    encoder = textbook.encoder
    encoder.embedding.weight.copy_(weights["encoders.source.embedding.weight"])
    for direction, suffix in (("forwards", "l0"), ("backwards", "l0_reverse")):
        _copy_lstm(weights, f"encoders.source.{direction}.0", encoder.lstm, suffix)


def _copy_decoder(weights: dict[str, Tensor], textbook: Textbook) -> None:
    bridge = "decoder.bridge"
    pairs: list[tuple[nn.Module, str]] = [
        (textbook.start_hidden, f"{bridge}.first.leaves.0.0"),
        (textbook.start_cell, f"{bridge}.first.leaves.1.0"),
        (textbook.attention.query, f"{bridge}.attentions.source.from_query"),
        (textbook.attention.key, f"{bridge}.attentions.source.from_memory"),
        (textbook.attention.energy, f"{bridge}.attentions.source.energy"),
        (textbook.embedding, "decoder.embedding"),
        (textbook.combine, "decoder.combine"),
        (textbook.output, "decoder.output"),
    ]
    for module, name in pairs:
        for kind, parameter in module.named_parameters():
            parameter.copy_(weights[f"{name}.{kind}"])
    _copy_lstm(weights, "decoder.cells.0", textbook.cell, None)


def _copy_lstm(weights: dict[str, Tensor], name: str, module: nn.Module, suffix: str | None) -> None:
    """In torch there is one matrix for all parts of the input and two biases, of which one is enough."""
    ending = "" if suffix is None else f"_{suffix}"
    parts = [weights[key] for key in sorted(weights) if key.startswith(f"{name}.inputs.") and key.endswith(".weight")]
    module.get_parameter(f"weight_ih{ending}").copy_(_torch_order(torch.cat(parts, dim=1)))
    module.get_parameter(f"weight_hh{ending}").copy_(_torch_order(weights[f"{name}.recurrent.weight"]))
    module.get_parameter(f"bias_ih{ending}").copy_(_torch_order(weights[f"{name}.inputs.0.bias"]))
    module.get_parameter(f"bias_hh{ending}").zero_()


def _torch_order(gates: Tensor) -> Tensor:
    """From our order of gates (forget, write, output, candidate) to torch's (write, forget, candidate, output)."""
    forget, write, output, candidate = gates.chunk(4)
    return torch.cat([write, forget, candidate, output])
