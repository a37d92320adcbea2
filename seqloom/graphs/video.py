"""The encoder of videos: the network of images for every frame, real or not, then what reads frames in their order."""

from typing import assert_never

from seqloom.errors import UsageError
from seqloom.graphs.cells import CellState
from seqloom.graphs.frames import Beside, read_frames_at_once, read_pyramid, real_positions
from seqloom.graphs.graph import Graph, Parameters, Shape, Value
from seqloom.graphs.transformers import waves
from seqloom.graphs.vision import read_pixels
from seqloom.recipe import sections

Read = tuple[Value, Value, CellState | None]
"""States [B, S, D], how many there are of each clip, and the last ones, if there are such; else their mean stands for them."""


def read_video(
    graph: Graph,
    name: str,
    section: sections.VideoEncoder,
    weights: Parameters,
    shape: Shape,
    lengths: Value,
    beside: Beside | None = None,
) -> tuple[Value, Value, Value, CellState | None]:
    """The states of a clip, or those of all places of it [B, S', D]; its frames' states, how many they are, the last ones."""
    if section.is_frozen:
        raise UsageError(
            "a video encoder on a frozen network cannot be exported yet: its network would have to go along for every frame. "
            "Train with `frames: {kind: cnn}`, or predict with the run itself"
        )
    frames = graph.input(name, "uint8", ["B", "S", *shape])
    shown = graph.to_float(frames)
    if section.differences:
        shown = graph.concat(shown, _changes(graph, shown))
    colours = int(shape[2]) * (2 if section.differences else 1)
    pixels = graph.reshape(shown, -1, int(shape[0]), int(shape[1]), colours)
    places, seen = read_pixels(graph, section.frames, weights.below("images"), pixels, shape)
    width = section.frames.memory_size
    in_time = graph.op("Reshape", seen, _of_clips(graph, frames, width))
    states, lengths, finals = _in_order(graph, section, weights.below("time"), in_time, lengths, beside)
    if section.memory == "frames":
        return states, states, lengths, finals
    widened = places if width == section.memory_size else weights.linear(graph, "widen", places)
    grids = graph.op("Reshape", widened, _of_clips(graph, frames, -1, section.memory_size))
    everywhere = graph.add(grids, graph.unsqueeze(states, 2))
    flat = graph.concat(graph.size(frames, 0), graph.whole(-1, section.memory_size), axis=0)
    return graph.op("Reshape", everywhere, flat), states, lengths, finals


def mask_of_places(graph: Graph, states: Value, lengths: Value, everywhere: Value) -> Value:
    """The mask [B, S'] of all places of clips, given the states of their frames: True where real."""
    count = graph.op("Div", graph.size(everywhere, 1), graph.size(states, 1))
    real = graph.unsqueeze(real_positions(graph, states, lengths), 2)
    shape = graph.concat(graph.size(states, 0), graph.size(states, 1), count, axis=0)
    return graph.reshape(graph.op("Expand", real, shape), 0, -1)


def _of_clips(graph: Graph, frames: Value, *rest: int) -> Value:
    """The shape of what belongs to each frame, clip by clip."""
    return graph.concat(graph.size(frames, 0), graph.size(frames, 1), graph.whole(*rest), axis=0)


def _changes(graph: Graph, frames: Value) -> Value:
    """What has changed since the frame before, around the grey that stands for nothing."""
    places = graph.sub(graph.positions(graph.size(frames, 1)), graph.whole(1))
    before = graph.op("Gather", frames, graph.op("Max", places, graph.whole(0)), axis=1)
    return graph.add(graph.sub(frames, before), graph.number(127.0))


def _in_order(
    graph: Graph, section: sections.VideoEncoder, weights: Parameters, frames: Value, lengths: Value, beside: Beside | None
) -> Read:
    match section.time:
        case sections.PyramidEncoder() as time:
            return read_pyramid(graph, time, weights, frames, lengths, beside)
        case sections.FrameTransformerEncoder() as time:
            return (*read_frames_at_once(graph, time, weights, frames, lengths, beside), None)
        case sections.NoTime(positions=positions):
            width = section.frames.memory_size
            known = graph.add(frames, waves(graph, graph.size(frames, 1), width)) if positions else frames
            return known, lengths, None
        case _:
            assert_never(section.time)
