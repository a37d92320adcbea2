"""A whole model as two graphs: one that reads the sources, and one that says what may follow a symbol."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto

from seqloom.graphs.decoders import Decoder, Leaf, Sizes, Stepped, Told, Values
from seqloom.graphs.encoders import Memory, Neighbour, read_source
from seqloom.graphs.graph import Array, Graph, Parameters, Precision, Shape, Value
from seqloom.graphs.monotonic_decoder import MonotonicDecoder
from seqloom.graphs.recurrent_decoder import RecurrentDecoder
from seqloom.graphs.transformer_decoder import TransformerDecoder
from seqloom.graphs.vision import places_of
from seqloom.recipe import sections
from seqloom.symbols import SPECIALS

InputShapes = Mapping[str, Shape]
"""The shape of what stands at a position, by source: nothing for symbols, a width for vectors, three sizes for pixels."""


@dataclass(frozen=True)
class Graphs:
    """encoder: sources -> the state before the first symbol; step: a symbol and a state -> log-probabilities and a state.

    rows, sentences: the names of the state's leaves that each row has, and that the rows of a sentence share.
    """

    encoder: onnx.ModelProto
    step: onnx.ModelProto
    rows: tuple[str, ...]
    sentences: tuple[str, ...]
    attended: tuple[str, ...]
    vocabulary_size: int


def write_graphs(
    section: sections.Model,
    arrays: Mapping[str, Array],
    shapes: InputShapes,
    *,
    precision: Precision = "fp32",
    shortlist: int | None = None,
) -> Graphs:
    """Both graphs of a model. shapes: of its sources, in order. shortlist: write only so many symbols after the specials."""
    weights = Parameters(arrays)
    encoders = encoders_by_source(section, shapes)
    decoder = _decoder_kind(section)(section, _sizes(section, encoders, shapes), weights)
    encoder = Graph("encoder", precision)
    read: dict[str, Memory] = {}
    for name in sections.in_reading_order(encoders):
        one = encoders[name]
        own = weights.below(f"encoders.{_whose(section, name)}")
        neighbour = _neighbour(one, encoders, read, weights)
        read[name] = read_source(encoder, name, one, own, shapes[name], neighbour)
    memories = {name: read[name] for name in encoders}
    _write_start(encoder, decoder, memories)
    if section.ctc is not None:
        size = None if shortlist is None else len(SPECIALS) + shortlist
        _write_ctc(encoder, weights, section.ctc, memories[section.ctc.source or next(iter(memories))], size)
    step = Graph("step", precision)
    size = _write_step(step, decoder, attended_sources(section, shapes), shortlist)
    return Graphs(
        encoder=encoder.model(),
        step=step.model(),
        rows=tuple(decoder.rows),
        sentences=tuple(decoder.sentences),
        attended=attended_sources(section, shapes),
        vocabulary_size=size,
    )


def _decoder_kind(section: sections.Model) -> type[Decoder]:
    if isinstance(section.bridge, sections.MonotonicBridge):
        return MonotonicDecoder
    return RecurrentDecoder if isinstance(section.decoder, sections.RecurrentDecoder) else TransformerDecoder


def _whose(section: sections.Model, name: str) -> str:
    """The source under whose name the weights of a source's encoder are kept."""
    encoder = (section.encoders or {}).get(name)
    return encoder.source if isinstance(encoder, sections.SameEncoder) else name


def _neighbour(
    encoder: sections.AnyEncoder,
    encoders: Mapping[str, sections.AnyEncoder],
    memories: Mapping[str, Memory],
    weights: Parameters,
) -> Neighbour | None:
    found = sections.neighbour_of(encoder)
    if found is None:
        return None
    name = found[1]
    return Neighbour(encoders[name], weights.below(f"encoders.{name}"), memories[name])


def encoders_by_source(section: sections.Model, shapes: InputShapes) -> dict[str, sections.AnyEncoder]:
    """The encoders in the order of the sources."""
    if section.encoders is not None:
        return {name: section.encoder_of(name) for name in shapes}
    return dict(zip(shapes, section.all_encoders, strict=bool(section.all_encoders)))


def attended_sources(section: sections.Model, shapes: InputShapes) -> tuple[str, ...]:
    """The sources that have weights over their positions."""
    return tuple(shapes) if isinstance(section.bridge, sections.LookingBridge) else ()


def _sizes(section: sections.Model, encoders: Mapping[str, sections.AnyEncoder], shapes: InputShapes) -> Sizes:
    texts = [name for name, one in encoders.items() if isinstance(one, sections.SymbolEncoder)]
    shared = section.decoder.tied == "all" and texts
    return Sizes(
        states={name: one.memory_size for name, one in encoders.items()},
        summaries={name: _summary_size(one, shapes[name]) for name, one in encoders.items()},
        embedding=f"encoders.{texts[0]}.embedding.weight" if shared else "decoder.embedding.weight",
    )


def _summary_size(encoder: sections.AnyEncoder, shape: Shape) -> int:
    flat = isinstance(encoder, sections.GridEncoder) and encoder.summary == "flatten"
    times = places_of(encoder, shape) if flat else 2 if isinstance(encoder, sections.ComparingEncoder) else 1
    return encoder.memory_size * times


def _write_start(graph: Graph, decoder: Decoder, memories: Mapping[str, Memory]) -> None:
    count = graph.size(f"{next(iter(memories))}.lengths", 0) if memories else graph.input("count", "int64", [1])
    leaves = decoder.start(graph, memories, count)
    for name, leaf in {**decoder.rows, **decoder.sentences}.items():
        graph.output(f"{name}.first", leaves[name], leaf.kind, _one_row(leaf) if name in decoder.rows else leaf.shape)
    for name, memory in memories.items():
        graph.output(f"summary.{name}", memory.summary, "float", ["B", decoder.sizes.summaries[name]])
        if memory.looked:
            rounds = graph.concat(*(graph.unsqueeze(one, 1) for one in memory.looked), axis=1)
            graph.output(f"looked.{name}", rounds, "float", ["B", len(memory.looked), "H", f"N.{name}", f"M.{name}"])


def _write_ctc(graph: Graph, weights: Parameters, section: sections.Ctc, memory: Memory, size: int | None) -> None:
    """What every place may stand for [B, S, V], and how many are real. size: only so many symbols can be written."""
    said = weights.linear(graph, "ctc.output", memory.states)
    vocabulary_size = len(weights["ctc.output.weight"]) // section.symbols
    if section.symbols > 1:  # the places of a position become positions; in ONNX, 0 keeps an axis and -1 is what remains
        said = graph.reshape(said, 0, -1, vocabulary_size)
    log_probs = graph.op("LogSoftmax", said, axis=-1)
    if size is not None and size < vocabulary_size:
        log_probs = graph.split(log_probs, [size, vocabulary_size - size])[0]
    real = graph.op("Cast", memory.mask, to=TensorProto.INT64)
    lengths = graph.mul(graph.op("ReduceSum", real, graph.whole(1), keepdims=0), graph.whole(section.symbols))
    graph.output("ctc", log_probs, "float", ["B", "S.ctc", "V"])
    graph.output("ctc.lengths", lengths, "int64", ["B"])


def _one_row(leaf: Leaf) -> Shape:
    return [1 if size == "K" else size for size in leaf.shape]


def _write_step(graph: Graph, decoder: Decoder, attended: tuple[str, ...], shortlist: int | None) -> int:
    tokens = graph.input("tokens", "int64", ["B", "K"])
    leaves = {name: graph.input(name, leaf.kind, leaf.shape) for name, leaf in {**decoder.rows, **decoder.sentences}.items()}
    told = Told(
        {name: graph.input(f"told.{name}", "float", ["B", f"S.{name}"]) for name in attended},
        {name: graph.input(f"known.{name}", "bool", ["B"]) for name in attended},
    )
    stepped = decoder.step(graph, tokens, leaves, told)
    size, log_probs = _log_probs(graph, decoder, stepped, leaves, shortlist)
    graph.output("log_probs", log_probs, "float", ["B", "K", "V"])
    for name, leaf in decoder.rows.items():
        graph.output(f"{name}.next", stepped.after[name], leaf.kind, ["t+1" if one == "t" else one for one in leaf.shape])
    for name, weights in stepped.weights.items():
        graph.output(f"weights.{name}", graph.transpose(weights, 0, 2, 1, 3), "float", ["B", "K", "H", f"S.{name}"])
    for name, scores in stepped.scores.items():
        graph.output(f"scores.{name}", graph.transpose(scores, 0, 2, 1, 3), "float", ["B", "K", "H", f"S.{name}"])
    return size


def _log_probs(graph: Graph, decoder: Decoder, stepped: Stepped, leaves: Values, shortlist: int | None) -> tuple[int, Value]:
    """How many symbols can be written, and their log-probabilities [B, K, V]; those copied from a source behind them."""
    size = len(decoder.table) if shortlist is None else min(len(decoder.table), len(SPECIALS) + shortlist)
    written = graph.op("LogSoftmax", decoder.logits(graph, stepped.features, size), axis=-1)
    copied = [name.removeprefix("symbols.") for name in leaves if name.startswith("symbols.")]
    if not copied:
        return size, written
    (name,) = copied
    return size, _with_copies(graph, decoder, written, size, stepped, name, leaves[f"symbols.{name}"])


def _with_copies(
    graph: Graph, decoder: Decoder, written: Value, size: int, stepped: Stepped, name: str, symbols: Value
) -> Value:
    """Writing or copying (See et al. 2017): a gate shares the probability between the two."""
    pointed = graph.op("ReduceMean", stepped.weights[name], graph.whole(1), keepdims=0)  # [B, K, S]
    gate = decoder.weights.linear(graph, "copying.gate", stepped.features)
    nowhere = graph.op("Equal", graph.op("ReduceSum", pointed, graph.whole(-1), keepdims=1), graph.number(0.0))
    log_write = graph.where(nowhere, graph.number(0.0), _log_sigmoid(graph, gate))
    log_point = _log_sigmoid(graph, graph.op("Neg", gate))
    largest = graph.op("ReduceMax", symbols, keepdims=0)
    beyond = graph.sub(largest, graph.constant(size - 1, np.int64))
    further = graph.op("Max", beyond, graph.constant(0, np.int64))
    pads = graph.concat(graph.whole(0, 0, 0, 0, 0), graph.unsqueeze(further, 0), axis=0)
    every = graph.op("Pad", graph.add(written, log_write), pads, graph.number(-np.inf))
    nothing = graph.op("Expand", graph.number(0.0), graph.op("Shape", every))
    places = graph.op("Expand", graph.unsqueeze(symbols, 1), graph.op("Shape", pointed))
    masses = graph.op("ScatterElements", nothing, places, pointed, axis=2, reduction="add")
    return _log_add(graph, every, graph.add(graph.op("Log", masses), log_point))


def _log_sigmoid(graph: Graph, value: Value) -> Value:
    return graph.op("Neg", graph.op("Softplus", graph.op("Neg", value)))


def _log_add(graph: Graph, one: Value, other: Value) -> Value:
    """`log(e^a + e^b)`; -inf of nothing."""
    largest = graph.op("Max", one, other)
    finite = graph.op("Max", largest, graph.number(-1e30))
    total = graph.add(graph.op("Exp", graph.sub(one, finite)), graph.op("Exp", graph.sub(other, finite)))
    return graph.add(graph.op("Log", total), finite)


def best_graph() -> onnx.ModelProto:
    """The k largest of values [B, K, V], best first: the same for all models."""
    graph = Graph("best")
    values, k = graph.input("values", "float", ["B", "K", "V"]), graph.input("k", "int64", [1])
    best, ids = graph.ops("TopK", 2, values, k, axis=-1, largest=1, sorted=1)
    graph.output("best", best, "float", ["B", "K", "k"])
    graph.output("ids", ids, "int64", ["B", "K", "k"])
    return graph.model()
