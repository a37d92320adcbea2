"""Which of a model's parameters is which letter of equations.py."""

from itertools import zip_longest

import numpy as np
from torch import Tensor, nn

from seqloom.models import attention as attentions
from seqloom.models import bridges, cells
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.encoders import TextEncoder
from seqloom.recipe import sections

from . import equations
from .equations import Dense, Gate, Head, Matrix


def array(parameter: Tensor) -> Matrix:
    found: Matrix = parameter.detach().numpy().astype(np.float64)
    return found


def encoder_of(model: EncoderDecoder, section: sections.Model) -> equations.Encoder | None:
    if section.encoder is None:
        return None
    encoder = model.encoders["source"]
    assert isinstance(encoder, TextEncoder)
    forwards = [cell_of(cell, section.encoder) for cell in encoder.forwards]
    backwards = [cell_of(cell, section.encoder) for cell in encoder.backwards]
    layers = [equations.EncoderLayer(*pair) for pair in zip_longest(forwards, backwards)]
    return equations.Encoder(array(encoder.embedding.weight), layers)


def decoder_of(model: EncoderDecoder, section: sections.Model) -> equations.Decoder:
    decoder = model.decoder
    assert decoder.embedding is not None
    attends = section.bridge if isinstance(section.bridge, sections.AttentionBridge) else None
    return equations.Decoder(
        option=section.bridge.kind,
        E=array(decoder.embedding.weight),
        layers=[cell_of(cell, section.decoder) for cell in decoder.cells],
        start=start_of(decoder.bridge),
        V=array(decoder.output.weight),
        b=array(decoder.output.bias),
        attention=attention_of(decoder.bridge),
        query="previous" if attends is None else attends.query,
        into_input=attends is not None and "input" in attends.into,
        W_att=None if decoder.output.attended is None else array(decoder.output.attended),
        W_c=None if decoder.combine is None else array(decoder.combine.weight),
        feed=attends is not None and attends.feed,
    )


def cell_of(cell: nn.Module, section: sections.Recurrence) -> equations.Cell:
    assert isinstance(cell, cells.Cell)
    sigma = equations.tanh if section.activation == "tanh" else equations.logistic
    # The model keeps a matrix per part of the input, the equations one matrix for [e; c; ..].
    parts = [part for part in cell.inputs if isinstance(part, nn.Linear)]
    inputs, bias = np.concatenate([array(part.weight) for part in parts], axis=1), array(parts[0].bias)
    match cell:
        case cells.RnnCell():
            return equations.Rnn(inputs, array(cell.recurrent.weight), bias, sigma)
        case cells.GruCell():
            states = np.concatenate([array(cell.gates.weight), array(cell.candidate.weight)])
            o, i, candidate = _blocks(inputs, states, bias, cell.size)
            return equations.Gru(o, i, candidate.U, candidate.W, candidate.b, sigma)
        case cells.TorchGruCell():
            # The gates have two biases, which only ever occur as a sum; the candidate's second one is reset too.
            second = array(cell.recurrent.bias)
            gates = 2 * cell.size
            joined = np.concatenate([bias[:gates] + second[:gates], bias[gates:]])
            o, i, candidate = _blocks(inputs, array(cell.recurrent.weight), joined, cell.size)
            return equations.GruResetAfter(o, i, candidate.U, candidate.W, candidate.b, second[gates:], sigma)
        case cells.LstmCell():
            f, i, o, candidate = _blocks(inputs, array(cell.recurrent.weight), bias, cell.size)
            return equations.Lstm(f, i, o, candidate.U, candidate.W, candidate.b, sigma)
        case _:
            raise TypeError(cell)


def _blocks(inputs: Matrix, states: Matrix, bias: Matrix, size: int) -> list[Gate]:
    starts = range(0, len(bias), size)
    return [Gate(inputs[row : row + size], states[row : row + size], bias[row : row + size]) for row in starts]


def start_of(bridge: bridges.Bridge) -> list[list[list[Dense]]]:
    if not isinstance(bridge, bridges.InitialBridge):
        return []
    shape = bridge.first.decoder
    stacks = [
        [Dense(array(layer.weight), array(layer.bias)) for layer in stack.children() if isinstance(layer, nn.Linear)]
        for stack in bridge.first.leaves
    ]
    return [stacks[layer * shape.leaves : (layer + 1) * shape.leaves] for layer in range(shape.layers)]


def attention_of(bridge: bridges.Bridge) -> equations.Attention | None:
    if not isinstance(bridge, bridges.AttentionBridge):
        return None
    match bridge.attentions["source"]:
        case attentions.DotAttention(scale=scale):
            return equations.Soft(equations.Dot(scaled=scale != 1.0))
        case attentions.BilinearAttention(matrix=matrix):
            return equations.Soft(equations.Bilinear(array(matrix.weight)))
        case attentions.AdditiveAttention() as additive:
            matrices = array(additive.from_query.weight), array(additive.from_memory.weight)
            return equations.Soft(equations.Additive(array(additive.energy.weight)[0], *matrices))
        case attentions.ConcatAttention() as concat:
            return equations.Soft(equations.Concat(array(concat.energy.weight)[0], array(concat.hidden.weight)))
        case attentions.MultiHeadAttention() as several:
            return equations.MultiHead(heads_of(several), array(several.to_context.weight), array(several.to_context.bias))
        case other:
            raise TypeError(other)


def heads_of(attention: attentions.MultiHeadAttention) -> list[Head]:
    width = attention.context_size // attention.heads
    rows = [slice(number * width, (number + 1) * width) for number in range(attention.heads)]
    matrices = [attention.to_query, attention.to_key, attention.to_value]
    return [Head(*(array(part)[row] for matrix in matrices for part in (matrix.weight, matrix.bias))) for row in rows]
