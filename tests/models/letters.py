"""Which of a model's parameters is which letter of equations.py."""

from itertools import zip_longest

import numpy as np
from torch import Tensor, nn

from seqloom.models import attention as attentions
from seqloom.models import bridges, cells
from seqloom.models.decoders import RecurrentDecoder
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.encoders import TextEncoder
from seqloom.models.hard_attention import HardAttention
from seqloom.models.local_attention import MonotonicAttention, PredictiveAttention
from seqloom.models.transformer_decoder import TransformerDecoder
from seqloom.models.transformers import Layer, TransformerEncoder, layers_of
from seqloom.recipe import sections

from . import equations
from .equations import Dense, Gate, Given, Head, Matrix, Squash

GIVEN: dict[str, Given] = {"distribution": "distribution", "none": "nothing"}
SQUASHING: dict[str, Squash] = {
    "tanh": equations.tanh,
    "logistic": equations.logistic,
    "relu": lambda z: np.maximum(z, 0.0),
    "none": lambda z: z,
}


def array(parameter: Tensor) -> Matrix:
    found: Matrix = parameter.detach().numpy().astype(np.float64)
    return found


def encoder_of(model: EncoderDecoder, section: sections.Model) -> equations.Encoder | equations.TransformerEncoder | None:
    if section.encoder is None:
        return None
    encoder = model.encoders["source"]
    if isinstance(encoder, TransformerEncoder):
        layers = [layer_of(layer) for layer in layers_of(encoder.layers)]
        return equations.TransformerEncoder(array(encoder.embedding.weight), layers, norm_of(encoder.norm))
    assert isinstance(encoder, TextEncoder)
    assert isinstance(section.encoder, sections.TextEncoder)
    forwards = [cell_of(cell, section.encoder) for cell in encoder.forwards]
    backwards = [cell_of(cell, section.encoder) for cell in encoder.backwards]
    return equations.Encoder(
        array(encoder.embedding.weight), [equations.EncoderLayer(*pair) for pair in zip_longest(forwards, backwards)]
    )


def layer_of(layer: Layer, reading: tuple[equations.Norm, equations.MultiHead] | None = None) -> equations.TransformerLayer:
    looking_back, thinking = layer.self_attention, layer.feed_forward
    matrices = (array(part) for matrix in (thinking.inner, thinking.outer) for part in (matrix.weight, matrix.bias))
    return equations.TransformerLayer(
        looking_back=(norm_of(looking_back.norm), multi_head_of(looking_back.attention)),
        reading=reading,
        thinking=(norm_of(thinking.norm), equations.FeedForward(*matrices)),
    )


def norm_of(norm: nn.Module) -> equations.Norm:
    assert isinstance(norm, nn.LayerNorm)
    return equations.Norm(array(norm.weight), array(norm.bias))


def multi_head_of(attention: nn.Module) -> equations.MultiHead:
    assert isinstance(attention, attentions.MultiHeadAttention)
    return equations.MultiHead(heads_of(attention), array(attention.to_context.weight), array(attention.to_context.bias))


def decoder_of(model: EncoderDecoder, section: sections.Model) -> equations.Decoder | equations.TransformerDecoder:
    match model.decoder:
        case TransformerDecoder() as decoder:
            return transformer_decoder_of(decoder)
        case RecurrentDecoder() as decoder:
            return recurrent_decoder_of(decoder, section)
        case other:
            raise TypeError(other)


def transformer_decoder_of(decoder: TransformerDecoder) -> equations.TransformerDecoder:
    layers, bridge = list(layers_of(decoder.layers)), decoder.bridge
    readings: list[tuple[equations.Norm, equations.MultiHead] | None] = [None] * len(layers)
    if isinstance(bridge, bridges.CrossAttentionBridge):
        readings = [
            (norm_of(bridge.norms[number]), multi_head_of(bridge.get_submodule(f"layers.{number}.source")))
            for number in range(len(layers))
        ]
    return equations.TransformerDecoder(
        E=array(decoder.embedding.weight),
        layers=[layer_of(layer, reading) for layer, reading in zip(layers, readings, strict=True)],
        norm=norm_of(decoder.norm),
        start=start_of(bridge),
        W=None if decoder.from_context is None else array(decoder.from_context.weight),
        V=array(decoder.output.weight),
        b=array(decoder.output.bias),
        shown=bridge.shown if isinstance(bridge, bridges.CrossAttentionBridge) else (),
    )


def recurrent_decoder_of(decoder: RecurrentDecoder, section: sections.Model) -> equations.Decoder:
    copying = decoder.copying
    assert isinstance(section.decoder, sections.RecurrentDecoder)
    assert not isinstance(section.bridge, sections.CrossAttentionBridge)
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
        into_state=attends is not None and "state" in attends.into,
        concatenated=attends is not None and "concatenated" in attends.into,
        given=GIVEN.get(section.decoder.inputs.kind, "symbols"),
        gate=None if copying is None else (array(copying.gate.weight)[0], float(copying.gate.bias.detach())),
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
        case attentions.MultiHeadAttention() as several:
            return multi_head_of(several)
        case attentions.CoverageAttention() as covering:
            matrices = array(covering.from_query.weight), array(covering.from_memory.weight)
            return equations.Covering(array(covering.energy.weight)[0], *matrices, array(covering.from_coverage))
        case MonotonicAttention(score=score, window=window):
            return equations.Local(score_of(score), window)
        case PredictiveAttention(score=score, window=window, to_hidden=to_hidden, to_place=to_place):
            return equations.Local(score_of(score), window, array(to_hidden.weight), array(to_place.weight)[0])
        case HardAttention(score=score):
            return equations.Hard(score_of(score))
        case attentions.ScoredAttention() as score:
            return equations.Soft(score_of(score))
        case other:
            raise TypeError(other)


def score_of(attention: attentions.ScoredAttention) -> equations.Score:
    match attention:
        case attentions.DotAttention(scale=scale):
            return equations.Dot(scaled=scale != 1.0)
        case attentions.BilinearAttention(matrix=matrix):
            return equations.Bilinear(array(matrix.weight))
        case attentions.AdditiveAttention() as additive:
            matrices = array(additive.from_query.weight), array(additive.from_memory.weight)
            return equations.Additive(array(additive.energy.weight)[0], *matrices)
        case attentions.ConcatAttention() as concat:
            return equations.Concat(array(concat.energy.weight)[0], array(concat.hidden.weight))
        case attentions.ProjectedAttention() as projected:
            queries, keys = (
                [array(layer.weight) for layer in stack if isinstance(layer, nn.Linear)]
                for stack in (projected.to_query, projected.to_key)
            )
            return equations.Projected(queries, keys, SQUASHING[projected.squashing], scaled=projected.scale != 1.0)
        case _:
            raise TypeError(attention)


def heads_of(attention: attentions.MultiHeadAttention) -> list[Head]:
    width = attention.context_size // attention.heads
    rows = [slice(number * width, (number + 1) * width) for number in range(attention.heads)]
    matrices = [attention.to_query, attention.to_key, attention.to_value]
    return [Head(*(array(part)[row] for matrix in matrices for part in (matrix.weight, matrix.bias))) for row in rows]
