"""Encoders of images: a convolutional network, and the grid of states that its features become (A11, E6)."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from onnx import ModelProto

from seqloom.graphs.graph import Array, Graph, Parameters, Shape, Value
from seqloom.recipe import sections

Sides = tuple[int, int]
"""Height and width, or rows and columns."""


def read_image(
    graph: Graph, name: str, section: sections.ImageEncoder, weights: Parameters, shape: Shape
) -> tuple[Value, Value]:
    """States [B, P, D] and the summary [B, D'] of pixels [B, 1, H, W, 3], or of a frozen network's features [B, P, F]."""
    if is_frozen(section):
        return _grid(graph, section, weights, graph.input(name, "float", ["B", *shape]))
    return read_pixels(graph, section, weights, graph.squeeze(graph.input(name, "uint8", ["B", 1, *shape]), 1), shape)


def read_pixels(
    graph: Graph, section: sections.ImageEncoder, weights: Parameters, pixels: Value, shape: Shape
) -> tuple[Value, Value]:
    """States [B, P, D] and the summary [B, D'] of pixels [B, H, W, C]. shape: height and width, and whatever follows."""
    seen = _in_a_row(graph, _network(graph, section, weights.below("network"), scaled(graph, pixels), shape))
    return _grid(graph, section, weights, seen)


def _grid(graph: Graph, section: sections.ImageEncoder, weights: Parameters, seen: Value) -> tuple[Value, Value]:
    """States and summary of what a network saw at each place."""
    states = seen if section.size is None else weights.linear(graph, "project", seen)
    if section.positions:
        places = weights["rows"][:, None] + weights["columns"]
        states = graph.add(states, graph.constant(places.reshape(-1, places.shape[-1]), np.float32))
    return states, _summary(graph, section, weights, states)


def is_frozen(section: sections.AnyEncoder) -> bool:
    """Whether a network that does not learn sees images before the encoder does."""
    return isinstance(section, sections.EfficientNetLite0Encoder) and not section.tuned


def places_of(section: sections.AnyEncoder, shape: Shape) -> int:
    """How many positions an image has, by the shape of what the encoder is given of it."""
    return int(shape[0]) if is_frozen(section) else math.prod(grid_of(section, (int(shape[0]), int(shape[1]))))


def grid_of(section: sections.AnyEncoder, sides: Sides) -> Sides:
    """Rows and columns of what a network makes of images of so many pixels."""
    match section:
        case sections.ConvolutionalEncoder(channels=channels):
            halvings = len(channels)
        case sections.EfficientNetLite0Encoder(features=level):
            halvings = 1 + sum(stride == 2 for _, stride in _stages(level))
        case _:
            raise TypeError(section)
    return -(-sides[0] // 2**halvings), -(-sides[1] // 2**halvings)


def features_shape(section: sections.AnyEncoder, pixels: Shape) -> Sides:
    """Places and channels of what a frozen network sees of images."""
    if not isinstance(section, sections.EfficientNetLite0Encoder):
        raise TypeError(section)
    sides = (int(pixels[0]), int(pixels[1]))
    return math.prod(grid_of(section, sides)), _CHANNELS[section.features]


def network_graph(section: sections.EfficientNetLite0Encoder, weights: Mapping[str, Array], sides: Sides) -> ModelProto:
    """A frozen network by itself: pixels [B, H, W, 3] -> features [B, P, F]."""
    graph = Graph("network")
    pixels = graph.input("pixels", "uint8", ["B", *sides, 3])
    seen = efficientnet(graph, Parameters(weights), scaled(graph, pixels), sides, level=section.features)
    graph.output("features", _in_a_row(graph, seen), "float", ["B", *features_shape(section, sides)])
    return graph.model()


def scaled(graph: Graph, pixels: Value) -> Value:
    """Pixels [B, H, W, 3] from 0 to 255 as a network sees them: [B, 3, H, W] around 0."""
    around = graph.op("Div", graph.sub(graph.to_float(pixels), graph.number(127.0)), graph.number(128.0))
    return graph.transpose(around, 0, 3, 1, 2)


def _in_a_row(graph: Graph, seen: Value) -> Value:
    """Features [B, F, rows, columns] as positions [B, P, F]."""
    return graph.transpose(graph.reshape(seen, 0, 0, -1), 0, 2, 1)


def _summary(graph: Graph, section: sections.ImageEncoder, weights: Parameters, states: Value) -> Value:
    if section.summary == "pool":
        return graph.op("ReduceMean", states, graph.whole(1), keepdims=0)
    if section.summary == "attend":
        shares = graph.op("Softmax", weights.linear(graph, "telling", states), axis=1)
        return graph.op("ReduceSum", graph.mul(shares, states), graph.whole(1), keepdims=0)
    whole = graph.reshape(states, 0, -1)
    if section.summary == "flatten":
        return whole
    width = weights["dense.weight"].shape[1]
    return graph.tanh(weights.linear(graph, "dense", graph.mul(whole, graph.number(width**-0.5))))


def _network(graph: Graph, section: sections.ImageEncoder, weights: Parameters, images: Value, shape: Shape) -> Value:
    height, width = (int(size) for size in shape[:2])
    if isinstance(section, sections.ConvolutionalEncoder):
        return _residual_network(graph, section, weights.below("stages"), images, (height, width))
    return efficientnet(graph, weights, images, (height, width), level=section.features)


# --- the network that a recipe describes ------------------------------------------------------------------------------


def _residual_network(
    graph: Graph, section: sections.ConvolutionalEncoder, weights: Parameters, images: Value, sides: Sides
) -> Value:
    index = 0
    for blocks in section.blocks_of_stages:
        odd = [side % 2 for side in sides]
        sides = ((sides[0] + 1) // 2, (sides[1] + 1) // 2)
        images = graph.op("Relu", _normalised(graph, weights.below(f"{index}.convolution"), images, stride=2, more=odd))
        index += 1
        for _ in range(blocks):
            inner = weights.below(f"{index}.convolutions")
            first = graph.op("Relu", _normalised(graph, inner.below("0"), images))
            images = graph.op("Relu", graph.add(images, _normalised(graph, inner.below("2"), first)))
            index += 1
    return images


def _normalised(graph: Graph, weights: Parameters, images: Value, *, stride: int = 1, more: list[int] | None = None) -> Value:
    """A convolution, and the channels of each place normalised by themselves. more: rows and columns that fill up odd sides."""
    down, right = more or [0, 0]
    pads = [1, 1, 1 + down, 1 + right]
    seen = graph.op("Conv", images, graph.constant(weights["0.weight"], np.float32), strides=[stride, stride], pads=pads)
    last = graph.transpose(seen, 0, 2, 3, 1)
    return graph.transpose(graph.norm(last, weights["1.weight"], weights["1.bias"]), 0, 3, 1, 2)


# --- EfficientNet-Lite0 -----------------------------------------------------------------------------------------------

STAGES = (
    # blocks, stride of the first block
    (1, 1),
    (2, 2),
    (2, 2),
    (3, 2),
    (3, 1),
    (4, 2),
    (1, 1),
)
_MIDDLE = 5
_CHANNELS = {"last": 1280, "middle": 112}


def _stages(level: str) -> Sequence[Sides]:
    return STAGES if level == "last" else STAGES[:_MIDDLE]


def efficientnet(graph: Graph, weights: Parameters, images: Value, sides: Sides, *, level: str) -> Value:
    """What the network sees of images [B, 3, H, W]: [B, C, rows, columns]."""
    images, sides = _convolution(graph, weights.below("stem"), images, sides, stride=2)
    index = 0
    for blocks, stride in _stages(level):
        for number in range(blocks):
            images, sides = _block(graph, weights.below(f"blocks.{index}"), images, sides, stride=stride if number == 0 else 1)
            index += 1
    if level == "last":
        images, _ = _convolution(graph, weights.below("head"), images, sides)
    return images


def _block(graph: Graph, weights: Parameters, images: Value, sides: Sides, *, stride: int) -> tuple[Value, Sides]:
    wide = images
    inside = weights["depthwise.weight"].shape[0]
    if weights.get("expand.weight") is not None:
        inside = weights["expand.weight"].shape[1]
        wide, _ = _convolution(graph, weights.below("expand"), images, sides)
    groups = weights["depthwise.weight"].shape[0]
    seen, sides = _convolution(graph, weights.below("depthwise"), wide, sides, stride=stride, groups=groups)
    narrow, _ = _convolution(graph, weights.below("project"), seen, sides, squashed=False)
    same = stride == 1 and inside == weights["project.weight"].shape[0]
    return graph.add(narrow, images) if same else narrow, sides


def _convolution(
    graph: Graph,
    weights: Parameters,
    images: Value,
    sides: Sides,
    *,
    stride: int = 1,
    groups: int = 1,
    squashed: bool = True,
) -> tuple[Value, Sides]:
    """A convolution, padded as TensorFlow does, and the sides of what it sees."""
    matrix = weights["weight"]
    kernel = matrix.shape[2]
    after = (-(-sides[0] // stride), -(-sides[1] // stride))
    totals = [max(0, (one - 1) * stride + kernel - side) for one, side in zip(after, sides, strict=True)]
    pads = [*(total // 2 for total in totals), *(total - total // 2 for total in totals)]
    stored, bias = graph.constant(matrix, np.float32), graph.constant(weights["bias"], np.float32)
    seen = graph.op("Conv", images, stored, bias, strides=[stride, stride], pads=pads, group=groups)
    return graph.op("Clip", seen, graph.number(0.0), graph.number(6.0)) if squashed else seen, after
