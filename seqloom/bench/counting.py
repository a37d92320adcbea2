"""How many floating-point operations a model costs: the one place where they are counted.

Only matrix products count, two operations for each multiplication and addition, as is the custom (and as torch's own
counter does): everything else is of lower order. The way back costs twice the way forward, one product for each factor.
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import assert_never

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from seqloom.data.arrays import IntArray
from seqloom.data.kinds.contract import InputSize
from seqloom.models.encoders.vision import is_trained, layout_of, outline_of
from seqloom.recipe import sections

_GATES = {"rnn": 1, "gru": 3, "lstm": 4}


@dataclass(frozen=True)
class BatchShape:
    """What a batch makes a model compute: sentences, source and target positions of all of them (targets with `end`),
    and pairs of positions of the same sentence, which attention compares: one of the source and one of the target, two of
    the source, two of the target. Of the latter all count, although a decoder looks back only, as is the custom.
    """  # noqa: D205

    sentences: int
    source_positions: int
    target_positions: int
    pairs: int
    source_pairs: int
    target_pairs: int

    @classmethod
    def real(cls, source_lengths: IntArray, target_lengths: IntArray) -> "BatchShape":
        """Real positions only: the useful work. Lengths [B]; those of targets count `end`."""
        return cls(
            len(source_lengths),
            int(source_lengths.sum()),
            int(target_lengths.sum()),
            pairs=int((source_lengths * target_lengths).sum()),
            source_pairs=int((source_lengths**2).sum()),
            target_pairs=int((target_lengths**2).sum()),
        )

    @classmethod
    def padded(cls, sentences: int, source: int, target: int) -> "BatchShape":
        """All positions of padded sides [B, S] and [B, T]."""
        return cls.real(np.full(sentences, source), np.full(sentences, target))


@dataclass(frozen=True)
class Operations:
    """Floating-point operations of a pass forward, and of the pass back."""

    forward: int

    @property
    def backward(self) -> int:
        """The way back: the gradients of both factors of every product."""
        return 2 * self.forward

    @property
    def total(self) -> int:
        """Both ways, as in training."""
        return self.forward + self.backward


@dataclass(frozen=True)
class _Products:
    """Multiplications per sentence, per source position, per target position, and per pair of positions."""

    sentence: int = 0
    source: int = 0
    target: int = 0
    pair: int = 0
    source_pair: int = 0
    target_pair: int = 0

    def __add__(self, other: "_Products") -> "_Products":
        return _Products(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))

    def of(self, shape: BatchShape) -> int:
        """All of a batch."""
        return sum(each * count for each, count in zip(astuple(self), astuple(shape), strict=True))


def count_operations(model: sections.Model, sizes: Mapping[str, InputSize], shape: BatchShape) -> Operations:
    """Operations of a recipe's model on a batch of the given shape. sizes: as a model is built with."""
    source, target = sizes.get("source", 0), sizes["target"]
    if not isinstance(target, int):
        raise TypeError(target)
    products = _encoder(model.encoder, source) + _bridge(model, source) + _decoder(model, target)
    return Operations(2 * products.of(shape))


def _cell(section: sections.Recurrence, input_size: int) -> int:
    return _GATES[section.cell] * section.size * (input_size + section.size)


def _encoder(section: sections.Encoder | None, input_size: InputSize) -> _Products:
    match section, input_size:
        case None, _:
            return _Products()
        case sections.TextEncoder(), _:
            directions = 2 if section.bidirectional else 1
            widths = [section.embedding] + [section.memory_size] * (section.layers - 1)
            return _Products(source=directions * sum(_cell(section, width) for width in widths))
        case sections.TransformerEncoder(size=size, layers=layers), _:
            return _Products(source=_transformer(section), source_pair=layers * 2 * size)
        case sections.DenseEncoder(size=size, layers=layers), int():
            return _Products(source=size * (input_size + (layers - 1) * size))
        case sections.GridEncoder(), (height, width, _):
            return _image_encoder(section, height, width)
        case _:
            raise TypeError(f"an encoder of kind {section.kind} cannot read a source of size {input_size}")


def _transformer(section: sections.Transformer) -> int:
    """Per position: queries, keys, values and contexts of all layers, and their feed-forward parts."""
    return section.layers * (4 * section.size**2 + 2 * section.size * section.feed_forward_size)


def _image_encoder(section: sections.ImageEncoder, height: int, width: int) -> _Products:
    """The network, unless it is frozen, and what becomes of what it sees. Source positions are places of the grid."""
    network, seen = outline_of(section), 0
    if is_trained(section):
        with FlopCounterMode(display=False) as counter:
            network(torch.zeros(1, 3, height, width, device="meta"))
        seen = counter.get_total_flops() // 2
    size, places = section.memory_size, layout_of(network, height, width).places
    dense = places * size * size if section.summary == "dense" else 0
    return _Products(sentence=seen + dense, source=0 if section.size is None else network.channels * size)


def _decoder(model: sections.Model, vocabulary_size: int) -> _Products:
    match model.decoder:
        case sections.RecurrentDecoder() as section:
            return _recurrent_decoder(section, model, vocabulary_size)
        case sections.TransformerDecoder() as section:
            pair = section.layers * 2 * section.size
            started = isinstance(model.bridge, sections.InitialBridge | sections.EveryStepBridge)
            return _Products(
                sentence=section.layers * 2 * section.size**2 if started else 0,  # keys and values of the first state
                target=_transformer(section) + vocabulary_size * section.size + (pair if started else 0),
                target_pair=pair,
            )
        case _:
            assert_never(model.decoder)


def _recurrent_decoder(section: sections.RecurrentDecoder, model: sections.Model, vocabulary_size: int) -> _Products:
    """Cells, the combined vector and the output layer; what a bridge brings in at every step costs here too.

    Of `inputs: own` and `mixed`, the pass that finds out what the decoder writes is not counted: only training has it.
    """
    bridge = model.bridge
    size, gates = section.size, _GATES[section.cell]
    products = _cell(section, section.embedding) + (section.layers - 1) * _cell(section, size)
    seen = size  # by the output layer
    if isinstance(bridge, sections.AttentionBridge):
        context = _context_size(model)
        products += gates * size * context * sum(use in bridge.into for use in ("input", "concatenated"))
        products += size * (size + context) if "combined" in bridge.into else 0
        products += gates * size * size if bridge.feed else 0
        seen += context if "output" in bridge.into or "concatenated" in bridge.into else 0
        products += seen if bridge.copy else 0
        products += size if bridge.gate else 0
    products += vocabulary_size * seen
    if isinstance(section.inputs, sections.DistributionInputs):
        # The distribution that the next step is given is found in the loop, once more for the loss; then its mean embedding.
        products += vocabulary_size * (seen + section.embedding)
    return _Products(target=products)


def _bridge(model: sections.Model, input_size: InputSize) -> _Products:
    """The first state, and what reads the source."""
    bridge, summary = model.bridge, _summary_size(model, input_size)
    match bridge:
        case sections.NoBridge():
            return _Products()
        case sections.InitialBridge():
            return _start(model, bridge.start, summary)
        case sections.EveryStepBridge():
            # The same context at every step is multiplied once for all of them.
            gates = _GATES[model.decoder.cell] if isinstance(model.decoder, sections.RecurrentDecoder) else 1
            same = gates * model.decoder.size * summary
            return _start(model, bridge.start, summary) + _Products(sentence=same)
        case sections.AttentionBridge():
            start = _start(model, bridge.start, summary)
            return start + _attention(bridge.attention, model.decoder.size, _memory_size(model))
        case sections.CrossAttentionBridge():
            size, layers = model.decoder.size, model.decoder.layers
            each = _attention(sections.MultiHead(heads=1, size=size), size, _memory_size(model))
            return sum([each] * layers, start=_Products())
        case _:
            assert_never(bridge)


def _start(model: sections.Model, start: sections.Start, summary: int) -> _Products:
    if start.dense == 0:
        return _Products()
    size = model.decoder.size
    two = isinstance(model.decoder, sections.RecurrentDecoder) and model.decoder.cell == "lstm"
    states = model.decoder.layers * (2 if two else 1)
    return _Products(sentence=states * (summary * size + (start.dense - 1) * size * size))


def _attention(section: sections.Attention, query: int, memory: int) -> _Products:
    """Keys per source position, the query per target position, scores and the context per pair."""
    match section:
        case sections.Dot():
            return _Products(pair=2 * memory)
        case sections.Bilinear():
            return _Products(source=memory * query, pair=query + memory)
        case sections.Additive(size=size) | sections.Concat(size=size):
            return _Products(source=memory * size, target=query * size, pair=size + memory)
        case sections.Projected(size=size, layers=layers):
            further = (layers - 1) * size * size
            return _Products(source=memory * size + further, target=query * size + further, pair=size + memory)
        case sections.MultiHead(size=size):
            return _Products(source=2 * memory * size, target=query * size + size * size, pair=2 * size)
        case sections.Local(score=score, centre=centre):
            # What says where to look is a layer as wide as the query, and one unit. Positions beyond the window cost, too.
            place = query * query + query if centre == "predictive" else 0
            return _attention(score, query, memory) + _Products(target=place)
        case sections.Hard(score=score):
            return _attention(score, query, memory)
        case _:
            assert_never(section)


def _memory_size(model: sections.Model) -> int:
    return 0 if model.encoder is None else model.encoder.memory_size


def _summary_size(model: sections.Model, input_size: InputSize) -> int:
    """How wide the summary of a source is: as a state, but for images of which all states lie side by side."""
    encoder = model.encoder
    if isinstance(encoder, sections.GridEncoder) and encoder.summary == "flatten" and isinstance(input_size, tuple):
        return layout_of(outline_of(encoder), *input_size[:2]).places * encoder.memory_size
    return _memory_size(model)


def _context_size(model: sections.Model) -> int:
    bridge = model.bridge
    if isinstance(bridge, sections.AttentionBridge):
        return sections.context_size(bridge.attention, _memory_size(model))
    return _memory_size(model)
