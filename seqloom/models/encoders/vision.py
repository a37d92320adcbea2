"""Encoders of images: what a convolutional network sees at each place of a grid becomes a state (A11, E6)."""

from typing import assert_never

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from seqloom.models.dropout import SequenceDropout
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.efficientnet import EfficientNetLite0
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.recipe import sections
from seqloom.results.layouts import Grid


class ConvolutionalNetwork(nn.Module):
    """Stages that each halve height and width, then look again in residual blocks.

    Each place is normalised by itself: batch normalisation would make an image depend on its neighbours.
    colours: how many numbers a pixel has. channels: of what it sees; halvings: of the sides.
    """

    def __init__(self, section: sections.ConvolutionalEncoder, colours: int = 3) -> None:
        super().__init__()
        self.channels, self.halvings = section.channels[-1], len(section.channels)
        self.stages = nn.Sequential()
        inside = colours
        for outside, blocks in zip(section.channels, section.blocks_of_stages, strict=True):
            self.stages.append(Halving(inside, outside))
            self.stages.extend(ResidualBlock(outside) for _ in range(blocks))
            inside = outside

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, colours, H, W], scaled -> features [B, C, rows, columns]."""
        seen: Tensor = self.stages(images)
        return seen


class Halving(nn.Module):
    """A convolution that halves height and width; odd ones are filled up.

    Four pixels wide, it sees as far to either side of the two that become one. Three pixels would be centred on the first of
    them, and after some stages a state would be about what lies half a cell above and left of its place in the grid.
    """

    def __init__(self, inside: int, outside: int) -> None:
        super().__init__()
        self.convolution = _normalised(inside, outside, kernel=4, stride=2)

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, C, H, W] -> [B, C', H / 2, W / 2], rounded up."""
        height, width = images.shape[2:]
        whole = functional.pad(images, (0, width % 2, 0, height % 2)) if height % 2 or width % 2 else images
        return torch.relu(self.convolution(whole))


class ResidualBlock(nn.Module):
    """Two convolutions, added to what they began with."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            _normalised(channels, channels), nn.ReLU(inplace=True), _normalised(channels, channels)
        )

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, C, H, W] -> the like."""
        return torch.relu(images + self.convolutions(images))


class PlaceNorm(nn.LayerNorm):
    """Normalises the channels of each place by themselves.

    Statistics over all of an image would tell every place what is elsewhere: attention could read a thing's colour off the
    background, and would not learn to look at the thing.
    """

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, C, H, W] -> the like."""
        return super().forward(images.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def _normalised(inside: int, outside: int, *, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inside, outside, kernel, stride, padding=1, bias=False)
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(convolution, PlaceNorm(outside))


class ImageEncoder(Encoder):
    """Reads an image, or what a frozen network saw of it, into a grid of states row by row, and a summary of all of it (E6).

    height, width: of the images, in pixels; colours: how many numbers a pixel has. A frozen network is no part of the
    encoder: `frozen_features` has it.
    """

    anchor: Tensor
    layout: Grid

    def __init__(self, section: sections.ImageEncoder, height: int, width: int, colours: int = 3) -> None:
        super().__init__()
        self.pixels = colours, height, width
        self.network = build_network(section, colours) if is_trained(section) else None
        network = self.network or outline_of(section)
        self.layout = layout_of(network, height, width)
        self.dropout = SequenceDropout(section.dropout, locked=False)
        self.memory_size = section.memory_size
        self.project = nn.Identity() if section.size is None else Linear(network.channels, section.size)
        self.rows = self.columns = None
        if section.positions:
            self.rows = nn.Parameter(torch.randn(self.layout.rows, self.memory_size) * _SMALL)
            self.columns = nn.Parameter(torch.randn(self.layout.columns, self.memory_size) * _SMALL)
        self.kind_of_summary = section.summary
        whole = self.layout.places * self.memory_size
        self.dense = Linear(whole, self.memory_size) if section.summary == "dense" else None
        if self.dense is not None:
            nn.init.normal_(self.dense.weight)
        self.telling = Linear(self.memory_size, 1, bias=False) if section.summary == "attend" else None
        self.summary_size = whole if section.summary == "flatten" else self.memory_size
        # Knows the precision also where there is nothing to learn.
        self.register_buffer("anchor", torch.zeros(()), persistent=False)
        # Pixels come with red, green and blue side by side; convolutions that keep it so are faster.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, values: Tensor, lengths: Tensor) -> Memory:
        """Pixels [B, 1, H, W, C], or features [B, P, F]; lengths [B], 0 for no image at all -> Memory."""
        seen = self.dropout(values.to(self.anchor) if self.network is None else self._look(values[:, 0]))
        states: Tensor = self.project(seen)  # [B, P, D]
        if self.rows is not None and self.columns is not None:
            states = states + (self.rows[:, None] + self.columns).flatten(0, 1)
        there = lengths[:, None] > 0
        summary = self._summary(states).masked_fill(~there, 0.0)
        return Memory(states, there.expand(states.shape[:2]), summary, ((summary,),))

    def _look(self, pixels: Tensor) -> Tensor:
        """Pixels [B, H, W, C] from 0 to 255 -> what the network sees at each place, [B, P, F]."""
        if self.network is None:
            raise TypeError("a frozen network is no part of the encoder")
        return in_a_row(self.network(scaled(pixels, like=self.anchor)))

    def _summary(self, states: Tensor) -> Tensor:
        match self.kind_of_summary:
            case "pool":
                return states.mean(dim=1)
            case "attend":
                shares: Tensor = _required(self.telling)(states).softmax(dim=1)  # [B, P, 1]
                return (shares * states).sum(dim=1)
            case "flatten":
                return states.flatten(1)
            case "dense":
                # Thousands of inputs are alike in all images, as the background is: unless they are small, the first updates
                # carry their sum to where tanh is flat, and nothing is learnt of the image as a whole.
                whole = states.flatten(1)
                return torch.tanh(_required(self.dense)(whole * whole.shape[1] ** -0.5))
            case _:
                assert_never(self.kind_of_summary)

    @property
    def multiplications(self) -> Multiplications:
        """The network, unless it is frozen, and what becomes of what it sees."""
        seen = 0
        if self.network is not None:
            with FlopCounterMode(display=False) as counter:
                self.network(self.anchor.new_zeros(1, *self.pixels))
            seen = counter.get_total_flops() // 2
        each = matrix_entries(self.project) + matrix_entries(self.telling)
        return Multiplications(sentence=seen + matrix_entries(self.dense), source=each)

    def load_pretrained(self) -> None:
        """Take over what was learnt elsewhere, if the network has learnt anything."""
        if isinstance(self.network, EfficientNetLite0):
            self.network.load_pretrained()


_SMALL = 0.1
"""How large positions are at first, beside states whose entries are around 1."""


def _required(layer: nn.Module | None) -> nn.Module:
    if layer is None:
        raise TypeError("this summary has a layer of its own")
    return layer


def is_trained(section: sections.ImageEncoder) -> bool:
    """Whether the network learns, so that it is a part of the model; else what it sees is computed once."""
    return not isinstance(section, sections.EfficientNetLite0Encoder) or section.tuned


Network = ConvolutionalNetwork | EfficientNetLite0


def build_network(section: sections.ImageEncoder, colours: int = 3) -> Network:
    """The network that an encoder names, with weights drawn by chance. colours: how many numbers a pixel has."""
    match section:
        case sections.ConvolutionalEncoder():
            return ConvolutionalNetwork(section, colours)
        case sections.EfficientNetLite0Encoder(features=features):
            return EfficientNetLite0(features)
        case _:
            assert_never(section)


def outline_of(section: sections.ImageEncoder) -> Network:
    """The network that an encoder names, without numbers: to ask what it would make of images."""
    with torch.device("meta"):
        return build_network(section)


def layout_of(network: Network, height: int, width: int) -> Grid:
    """The grid that a network makes of images of so many pixels."""
    return Grid(-(-height // 2**network.halvings), -(-width // 2**network.halvings))


def scaled(pixels: Tensor, *, like: Tensor) -> Tensor:
    """Pixels [B, H, W, C] from 0 to 255 as a network sees them: [B, C, H, W] around 0, in the precision of another tensor."""
    return pixels.to(like).sub_(127.0).div_(128.0).permute(0, 3, 1, 2)


def in_a_row(seen: Tensor) -> Tensor:
    """Features [B, F, rows, columns] as positions [B, P, F], row by row."""
    return seen.flatten(2).transpose(1, 2)
