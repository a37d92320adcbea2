"""Which of a model's parameters is which letter of equations/."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from seqloom.data.preparing.batches import Batch
from seqloom.models import attention as attentions
from seqloom.models import bridges, cells
from seqloom.models.attention import HardAttention
from seqloom.models.attention.local import FollowingAttention, InStepAttention, MonotonicAttention, PredictiveAttention
from seqloom.models.decoders import MonotonicDecoder, RecurrentDecoder, TransformerDecoder
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.encoders import (
    AskedEncoder,
    ComparingEncoder,
    DenseEncoder,
    FrameTransformerEncoder,
    PyramidEncoder,
    RelatedEncoder,
    SentenceEncoder,
    TextEncoder,
    TransformerEncoder,
)
from seqloom.models.encoders.frames import Convolutions
from seqloom.models.encoders.text import RecurrentEncoder
from seqloom.models.transformer_layers import FeedForward, Layer, layers_of
from seqloom.recipe import sections
from seqloom.symbols import END

from . import equations
from .architectures import Architecture
from .equations import Dense, Gate, Given, Head, Matrix, Squash
from .grids import GridEncoder

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


Beside = tuple[nn.Module, sections.AnyEncoder, npt.NDArray[Any]]
"""The source beside another one: its encoder, the encoder's section, and what it reads."""


def encoded_of(
    encoder: nn.Module, section: sections.AnyEncoder, values: npt.NDArray[Any], beside: Beside | None = None
) -> equations.Encoded:
    """What the equations make of one source: symbols [S], a vector [1, D], or a picture [1, rows, columns, 3]."""
    match encoder, section:
        case TextEncoder(), sections.TextEncoder():
            before = None if beside is None else encoded_of(*beside)
            whole = equations.Encoder(array(encoder.embedding.weight), layers_in(encoder, section))
            found = equations.encode(whole, values.tolist(), before)
            return equations.pooled(found) if section.summary == "max" else found
        case SentenceEncoder(), sections.SentenceEncoder():
            tables = array(encoder.embedding.weight), array(encoder.ages.weight)
            return equations.encode_sentences(equations.SentenceEncoder(*tables), sentences_in(values))
        case AskedEncoder(), sections.AskedEncoder():
            assert beside is not None
            matrices = array(encoder.embedding.weight), array(encoder.question.weight), array(encoder.question.bias)
            asked = equations.AskedEncoder(*matrices, layers_in(encoder, section))
            return equations.encode_asked(asked, sentences_in(values), encoded_of(*beside).finals[-1][0])
        case RelatedEncoder(), _:
            assert beside is not None
            return equations.encode_related(related_of(encoder), sentences_in(values), sentences_in(beside[2])[0])
        case ComparingEncoder(), sections.ComparingEncoder():
            assert beside is not None
            own, other = words_of(*beside[:2], values), words_of(*beside)
            comparison = equations.Comparison(array(encoder.compare.weight), array(encoder.compare.bias))
            return equations.compare(own, other, comparison, layers_in(encoder, section))
        case TransformerEncoder(), _:
            reading = [layer_of(layer) for layer in layers_of(encoder.layers)]
            at_once = equations.TransformerEncoder(array(encoder.embedding.weight), reading, norm_of(encoder.norm))
            return equations.encode_at_once(at_once, values.tolist())
        case PyramidEncoder(), sections.PyramidEncoder():
            frames = seen_by(encoder.convolutions, values, beside)
            return equations.encode_pyramid(layers_in(encoder, section), encoder.joining, frames)
        case FrameTransformerEncoder(), _:
            reading = [layer_of(layer) for layer in layers_of(encoder.layers)]
            at_once = equations.TransformerEncoder(np.empty((0, 0)), reading, norm_of(encoder.norm))
            matrix, bias = array(encoder.project.weight), array(encoder.project.bias)
            return equations.encode_frames_at_once(at_once, matrix, bias, seen_by(encoder.convolutions, values, beside))
        case DenseEncoder(), _:
            z = values[0].astype(np.float64)
            for layer in encoder.layers:
                assert isinstance(layer, nn.Linear)
                z = Dense(array(layer.weight), array(layer.bias)).applied(z)
            return equations.Encoded([z], [(z,)])
        case GridEncoder(), _:
            dense = Dense(array(encoder.look.weight), array(encoder.look.bias))
            h = [dense.applied(pixel / 255) for row in values[0] for pixel in row]
            return equations.Encoded(h, [(np.mean(h, axis=0),)])
        case other:
            raise TypeError(other)


def sentences_in(values: npt.NDArray[Any]) -> list[list[int]]:
    """The symbols of each sentence."""
    sentences: list[list[int]] = [[]]
    for number, symbol in enumerate(values.tolist()):
        if symbol != END:
            sentences[-1].append(symbol)
        elif number + 1 < len(values):
            sentences.append([])
    return sentences


def seen_by(
    convolutions: Convolutions | None, frames: npt.NDArray[Any], beside: Beside | None = None
) -> list[equations.Vector]:
    """Frames [S, F] behind the convolutions, if there are any, and with what stands beside them."""
    layers = [] if convolutions is None else [layer for layer in convolutions.layers if isinstance(layer, nn.Conv2d)]
    stride, over_bands = (1, False) if convolutions is None else (convolutions.stride, convolutions.over_bands)
    found = [equations.Convolution(array(one.weight), array(one.get_parameter("bias")), stride) for one in layers]
    seen = equations.look(found, frames.astype(np.float64), over_bands=over_bands)
    return seen if beside is None else equations.read_with(seen, encoded_of(*beside).h)


def layers_in(encoder: RecurrentEncoder | PyramidEncoder, section: sections.Cells) -> list[equations.EncoderLayer]:
    forwards = [cell_of(cell, section) for cell in encoder.forwards]
    backwards = [cell_of(cell, section) for cell in encoder.backwards]
    return [equations.EncoderLayer(*pair) for pair in zip_longest(forwards, backwards)]


def words_of(encoder: nn.Module, section: sections.AnyEncoder, values: npt.NDArray[Any]) -> list[equations.Vector]:
    """[h; sqrt(E) e] of every word."""
    assert isinstance(encoder, TextEncoder | TransformerEncoder)
    table = array(encoder.embedding.weight)
    states = encoded_of(encoder, section, values).h
    return [np.concatenate([h, np.sqrt(table.shape[1]) * table[x]]) for h, x in zip(states, values.tolist(), strict=True)]


def source_of(architecture: Architecture, model: EncoderDecoder, batch: Batch, sentence: int) -> equations.Encoded | None:
    """All sources of a sentence, side by side."""
    read = {}
    for name, section in zip(batch.sources, architecture.section.all_encoders, strict=True):
        padded = batch.sources[name]
        read[name] = model.encoder(name), section, padded.values[sentence][: padded.lengths[sentence]]
    found = {}
    for name, one in read.items():
        neighbour = sections.neighbour_of(one[1])
        found[name] = encoded_of(*one, None if neighbour is None else read[neighbour[1]])
    decoder = architecture.section.decoder
    two_parts = isinstance(decoder, sections.RecurrentDecoder) and decoder.cell == "lstm"
    return side_by_side_of(architecture.section.bridge, found, decoder.layers, 2 if two_parts else 1) if found else None


def side_by_side_of(
    bridge: sections.Bridge, found: dict[str, equations.Encoded], num_layers: int, num_parts: int
) -> equations.Encoded:
    """Positions of all sources; last states of those that give the first one, perhaps compared."""
    whole = equations.side_by_side(list(found.values()), num_layers, num_parts)
    if isinstance(bridge, sections.NoBridge | sections.MonotonicBridge | sections.CrossAttentionBridge):
        return whole
    starting = [found[name] for name in bridge.start.sources or found]
    finals = equations.side_by_side(starting, num_layers, num_parts).finals
    if bridge.start.compare:
        halves = [[np.split(part, 2) for part in final] for final in finals]
        finals = [tuple(np.concatenate([u, v, np.abs(u - v), u * v]) for u, v in final) for final in halves]
    return equations.Encoded(whole.h, finals)


def layer_of(layer: Layer, reading: tuple[equations.Norm, equations.Attention] | None = None) -> equations.TransformerLayer:
    looking_back, thinking = layer.self_attention, layer.feed_forward
    return equations.TransformerLayer(
        looking_back=(norm_of(looking_back.norm), multi_head_of(looking_back.attention)),
        reading=reading,
        thinking=(norm_of(thinking.norm), feed_forward_of(thinking)),
    )


def related_of(encoder: RelatedEncoder) -> equations.RelatedEncoder:
    attention, thinking = encoder.attention, encoder.feed_forward
    return equations.RelatedEncoder(
        E=array(encoder.embedding.weight),
        P=array(encoder.places),
        T=array(encoder.ages.weight),
        U=array(encoder.rounds),
        R=array(attention.common.weight).T,
        looking=(norm_of(attention.norm), multi_head_of(attention)),
        thinking=(norm_of(thinking.norm), feed_forward_of(thinking)),
        norm=norm_of(encoder.norm),
    )


def feed_forward_of(part: FeedForward) -> equations.FeedForward:
    return equations.FeedForward(*(array(one) for matrix in (part.inner, part.outer) for one in (matrix.weight, matrix.bias)))


def norm_of(norm: nn.Module) -> equations.Norm:
    assert isinstance(norm, nn.LayerNorm)
    return equations.Norm(array(norm.weight), array(norm.bias))


def multi_head_of(attention: nn.Module) -> equations.MultiHead:
    assert isinstance(attention, attentions.MultiHeadAttention)
    return equations.MultiHead(heads_of(attention), array(attention.to_context.weight), array(attention.to_context.bias))


def decoder_of(
    model: EncoderDecoder, section: sections.Model, counts: Sequence[int]
) -> equations.Decoder | equations.MonotonicDecoder | equations.TransformerDecoder:
    """counts: how many positions each source has."""
    match model.decoder:
        case TransformerDecoder() as decoder:
            return transformer_decoder_of(decoder, counts)
        case MonotonicDecoder() as decoder:
            return monotonic_decoder_of(decoder, section)
        case RecurrentDecoder() as decoder:
            return recurrent_decoder_of(decoder, section, counts)
        case other:
            raise TypeError(other)


def transformer_decoder_of(decoder: TransformerDecoder, counts: Sequence[int]) -> equations.TransformerDecoder:
    layers, bridge = list(layers_of(decoder.layers)), decoder.bridge
    readings: list[tuple[equations.Norm, equations.Attention] | None] = [None] * len(layers)
    if isinstance(bridge, bridges.CrossAttentionBridge):
        readings = [
            (norm_of(norm), equations.Several([multi_head_of(one) for one in by_source.children()], counts, summed=True))
            for norm, by_source in zip(bridge.norms, bridge.layers, strict=True)
        ]
    return equations.TransformerDecoder(
        E=array(decoder.embedding.weight),
        layers=[layer_of(layer, reading) for layer, reading in zip(layers, readings, strict=True)],
        norm=norm_of(decoder.norm),
        start=start_of(bridge),
        W=None if decoder.from_context is None else array(decoder.from_context.weight),
        V=array(decoder.output.get_parameter("weight")),
        b=array(decoder.output.get_parameter("bias")),
        shown=bridge.shown if isinstance(bridge, bridges.CrossAttentionBridge) else (),
    )


def monotonic_decoder_of(decoder: MonotonicDecoder, section: sections.Model) -> equations.MonotonicDecoder:
    assert isinstance(section.decoder, sections.RecurrentDecoder)
    assert isinstance(decoder.bridge, bridges.MonotonicBridge)
    return equations.MonotonicDecoder(
        E=array(decoder.embedding.weight),
        layers=[cell_of(cell, section.decoder) for cell in decoder.cells],
        score=score_of(decoder.bridge.score),
        d=array(decoder.bridge.distances),
        W_s=array(decoder.from_state.get_parameter("weight")),
        b_s=array(decoder.from_state.get_parameter("bias")),
        W_h=array(decoder.from_source.get_parameter("weight")),
        V=array(decoder.emission.get_parameter("weight")),
        b=array(decoder.emission.get_parameter("bias")),
    )


def recurrent_decoder_of(decoder: RecurrentDecoder, section: sections.Model, counts: Sequence[int]) -> equations.Decoder:
    copying = decoder.copying
    assert isinstance(section.decoder, sections.RecurrentDecoder)
    assert not isinstance(section.bridge, sections.MonotonicBridge | sections.CrossAttentionBridge)
    attends = section.bridge if isinstance(section.bridge, sections.AttentionBridge) else None
    return equations.Decoder(
        option=section.bridge.kind,
        E=array(decoder.embedding.weight),
        layers=[cell_of(cell, section.decoder) for cell in decoder.cells],
        start=start_of(decoder.bridge),
        V=array(decoder.output.get_parameter("weight")),
        b=array(decoder.output.get_parameter("bias")),
        attention=attention_of(decoder.bridge, counts),
        query="previous" if attends is None else attends.query,
        into_input=attends is not None and "input" in attends.into,
        W_att=array(decoder.output.get_parameter("attended")) if decoder.uses.output else None,
        W_c=None if decoder.combine is None else array(decoder.combine.get_parameter("weight")),
        feed=attends is not None and attends.feed,
        into_state=attends is not None and "state" in attends.into,
        concatenated=attends is not None and "concatenated" in attends.into,
        given=GIVEN.get(section.decoder.inputs.kind, "symbols"),
        gate=None if copying is None else unit_of(copying.gate),
    )


def unit_of(layer: nn.Linear, unit: int = 0) -> tuple[equations.Vector, float]:
    """The w and b of one unit of a layer."""
    return array(layer.weight)[unit], float(layer.bias[unit].detach())


def cell_of(cell: nn.Module, section: sections.Cells) -> equations.Cell:
    assert isinstance(cell, cells.Cell)
    sigma = equations.tanh if section.activation == "tanh" else equations.logistic
    # The model keeps a matrix per part of the input, the equations one matrix for [e; c; ..].
    parts = [part for part in cell.inputs if isinstance(part, nn.Linear)]
    inputs, bias = np.concatenate([array(part.weight) for part in parts], axis=1), array(parts[0].bias)
    states = np.concatenate([array(layer.weight) for layer in cell.from_state])
    match cell:
        case cells.RnnCell():
            return equations.Rnn(inputs, states, bias, sigma)
        case cells.GruCell():
            o, i, candidate = _blocks(inputs, states, bias, cell.size)
            return equations.Gru(o, i, candidate.U, candidate.W, candidate.b, sigma)
        case cells.TorchGruCell():
            # The gates have two biases, which only ever occur as a sum; the candidate's second one is reset too.
            second = array(cell.from_state[0].bias)
            gates = 2 * cell.size
            joined = np.concatenate([bias[:gates] + second[:gates], bias[gates:]])
            o, i, candidate = _blocks(inputs, states, joined, cell.size)
            return equations.GruResetAfter(o, i, candidate.U, candidate.W, candidate.b, second[gates:], sigma)
        case cells.LstmCell():
            f, i, o, candidate = _blocks(inputs, states, bias, cell.size)
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


def attention_of(bridge: bridges.Bridge, counts: Sequence[int]) -> equations.Attention | None:
    if not isinstance(bridge, bridges.AttentionBridge):
        return None
    found = [one_attention_of(attention) for attention in bridge.attentions.values()]
    if bridge.gate is not None:
        found = [equations.Gated(one, *unit_of(bridge.gate, number)) for number, one in enumerate(found)]
    again = [equations.Again(array(layer.weight), array(layer.bias)) for layer in bridge.again if isinstance(layer, nn.Linear)]
    return equations.Looking(equations.Several(found, counts), again)


def one_attention_of(attention: nn.Module) -> equations.Attention:
    match attention:
        case attentions.MultiHeadAttention() as several:
            return multi_head_of(several)
        case attentions.CoverageAttention() as covering:
            matrices = array(covering.from_query.weight), array(covering.from_memory.weight)
            return equations.Covering(array(covering.energy.weight)[0], *matrices, array(covering.from_coverage))
        case attentions.LocationAttention() as locating:
            return equations.Locating(
                V=array(locating.energy.weight)[0],
                U=array(locating.from_query.weight),
                W=array(locating.from_memory.weight),
                F=array(locating.from_location.weight),
                K=array(locating.filters.weight)[:, 0],
                window=locating.window,
            )
        case FollowingAttention(score=score, window=window):
            return equations.Following(score_of(score), window)
        case InStepAttention():
            return equations.InStep()
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
            return equations.Projected(queries, keys, SQUASHING[projected.activation], scaled=projected.scale != 1.0)
        case _:
            raise TypeError(attention)


def heads_of(attention: attentions.MultiHeadAttention) -> list[Head]:
    width = attention.context_size // attention.heads
    rows = [slice(number * width, (number + 1) * width) for number in range(attention.heads)]
    matrices = [attention.to_query, attention.to_key, attention.to_value]
    return [Head(*(array(part)[row] for matrix in matrices for part in (matrix.weight, matrix.bias))) for row in rows]
