"""Encoders of frames: rows of numbers one after the other (docs/decisions/encoders-of-frames.md).

Several frames become one state, by convolutions that take steps of more than one frame, or by joining neighbours. What lies
behind a sequence's end is zero wherever neighbours are looked at, so that no state depends on how far a batch is padded.
"""

from collections.abc import Mapping
from itertools import pairwise

import torch
from torch import Tensor, nn

from seqloom.models.cells import Cell, build_cell
from seqloom.models.dropout import SequenceDropout
from seqloom.models.embeddings import sinusoids
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.directions import at_positions, gathered, real_positions, turn_round
from seqloom.models.initialisation import ENCODER_PARTS
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.transformer_layers import Layer, layers_of
from seqloom.recipe import sections
from seqloom.results.layouts import Frames


class Convolutions(nn.Module):
    """`relu(K * x + b)`, layer upon layer, over time and bands, or over time alone. width: how many numbers a frame has.

    Over time alone, a frame's numbers are channels of one band, so that both are the same.
    """

    def __init__(self, section: sections.Convolution, width: int) -> None:
        super().__init__()
        over_bands = section.over == "bands"
        self.over_bands, self.stride = over_bands, section.stride
        channels = [1 if over_bands else width, *section.channels]
        middle = section.width // 2
        self.layers = nn.ModuleList(
            nn.Conv2d(
                inside,
                outside,
                (section.width, section.width if over_bands else 1),
                stride=(section.stride, section.stride if over_bands else 1),
                padding=(middle, middle if over_bands else 0),
            )
            for inside, outside in pairwise(channels)
        )
        for layer in self.layers:
            nn.init.kaiming_normal_(layer.get_parameter("weight"), nonlinearity="relu")
            nn.init.zeros_(layer.get_parameter("bias"))
        bands = -(-width // section.total_stride) if over_bands else 1
        self.width = channels[-1] * bands

    def forward(self, frames: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Frames [B, S, F] and lengths [B] -> fewer frames [B, S', F'], and their lengths."""
        images = frames[:, None] if self.over_bands else frames.transpose(1, 2)[..., None]  # [B, C, S, bands]
        for layer in self.layers:
            real = real_positions(images.shape[2], lengths)
            images = torch.relu(layer(images.masked_fill(~real[:, None, :, None], 0.0)))
            lengths = shortened(lengths, self.stride)
        return images.transpose(1, 2).flatten(2), lengths

    def multiplications(self, width: int) -> int:
        """How many a frame of so many numbers costs."""
        bands, frames_in_one, total = width if self.over_bands else 1, 1, 0
        for layer in self.layers:
            frames_in_one *= self.stride
            bands = -(-bands // self.stride) if self.over_bands else 1
            total += layer.get_parameter("weight").numel() * bands // frames_in_one
        return total


def shortened(lengths: Tensor, stride: int) -> Tensor:
    """How many are left where so many become one; a rest counts as one, too."""
    return (lengths + stride - 1) // stride


def joined(states: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """`[h_2j; h_2j+1]`: two neighbours side by side, [B, S, D] -> [B, S / 2, 2 D]. A last one without a neighbour has zeros."""
    real = real_positions(states.shape[1], lengths)
    whole = states.masked_fill(~real[..., None], 0.0)
    if states.shape[1] % 2:
        whole = nn.functional.pad(whole, (0, 0, 0, 1))
    batch, count, width = whole.shape
    return whole.reshape(batch, count // 2, 2 * width), shortened(lengths, 2)


def at_the_same_moments(memory: Memory, width: int, lengths: Tensor) -> Tensor:
    """The states of another source at the moments of frames [B, S, D]; where it has none, zeros. width: of the batch, S.

    Both last as long: of `N` states, frame `j` of `S`, counted from 0, is given number `floor((2 j + 1) N / 2 S)`.
    """
    there, nothing = memory.mask.sum(dim=1, keepdim=True), memory.states.shape[1]
    states = nn.functional.pad(memory.states, (0, 0, 0, 1))  # behind all, a state of zeros
    frames = torch.arange(width, device=lengths.device)
    moments = (2 * frames + 1) * there // (2 * lengths.clamp(min=1))[:, None]
    within = torch.where(there > 0, torch.minimum(moments, there - 1), nothing)
    return states.gather(1, within[:, :, None].expand(-1, -1, states.shape[-1]))


class _FrameReader(Encoder):
    """What encoders of frames share: dropout on frames, convolutions in front, and another source beside what these make.

    width: how many numbers a frame has; beside: how wide the states of the other source are, if there is one.
    """

    layout: Frames

    def __init__(self, section: sections.FramesReader, width: int, beside: int = 0) -> None:
        super().__init__()
        self.neighbour, self.beside_width = section.beside, beside
        self.layout = Frames(section.stride)
        self.memory_size = self.summary_size = section.memory_size
        self.frame_width = width
        self.input_dropout = SequenceDropout(section.input_dropout, locked=False)
        self.convolutions = None if section.convolution is None else Convolutions(section.convolution, width)

    @property
    def front_width(self) -> int:
        """How many numbers a frame has behind the convolutions, with those that stand beside it."""
        return self.beside_width + (self.frame_width if self.convolutions is None else self.convolutions.width)

    @property
    def front_multiplications(self) -> Multiplications:
        """What the convolutions cost."""
        return Multiplications(source=0 if self.convolutions is None else self.convolutions.multiplications(self.frame_width))

    def read_beside(self, memories: Mapping[str, Memory], values: Tensor, lengths: Tensor) -> Memory:
        """Read it with the source that stands beside it, if there is one."""
        memory: Memory = self(values, lengths, None if self.neighbour is None else memories[self.neighbour])
        return memory

    def front(self, values: Tensor, lengths: Tensor, neighbour: Memory | None) -> tuple[Tensor, Tensor]:
        """Frames [B, S, F] as the rest of the encoder reads them, and how many there are now."""
        frames = self.input_dropout(values.to(next(self.parameters()).dtype))
        if self.convolutions is not None:
            frames, lengths = self.convolutions(frames, lengths)
        if neighbour is not None:
            frames = torch.cat([frames, at_the_same_moments(neighbour, frames.shape[1], lengths)], dim=-1)
        return frames, lengths


class PyramidEncoder(_FrameReader):
    """Recurrent layers, the upper ones of which read two neighbours as one (Listen, Attend and Spell; Chan et al. 2016).

    Whole sequences go through torch's own kernel where it computes the same; what is read backwards is turned round within
    its own length, which is several times faster than packed sequences.
    """

    def __init__(self, section: sections.PyramidEncoder, width: int, beside: int = 0) -> None:
        super().__init__(section, width, beside)
        self.dropout = SequenceDropout(section.dropout, locked=False)
        self.joining = [index >= section.layers - section.joining_layers for index in range(section.layers)]
        widths = [self.front_width] + [section.memory_size] * (section.layers - 1)
        widths = [width * (2 if joins else 1) for width, joins in zip(widths, self.joining, strict=True)]
        self.forwards = nn.ModuleList(build_cell(section, [width]) for width in widths)
        self.backwards = nn.ModuleList(build_cell(section, [width]) for width in (widths if section.bidirectional else []))

    def forward(self, values: Tensor, lengths: Tensor, neighbour: Memory | None = None) -> Memory:
        """Frames [B, S, F], lengths [B] -> Memory of a position for every `stride` of them."""
        states, lengths = self.front(values, lengths, neighbour)
        for index, joins in enumerate(self.joining):
            if joins:
                states, lengths = joined(states, lengths)
            ahead = _read(self.forwards[index], states)
            ends = at_positions((ahead,), lengths - 1)
            if self.backwards:
                turned = turn_round(states.shape[1], lengths)
                back = _read(self.backwards[index], gathered(states, turned))
                ends = (torch.cat([*ends, *at_positions((back,), lengths - 1)], dim=-1),)
                ahead = torch.cat([ahead, gathered(back, turned)], dim=-1)
            states = self.dropout(ahead)
        return Memory(states, real_positions(states.shape[1], lengths), ends[0], (ends,))

    @property
    def multiplications(self) -> Multiplications:
        """Convolutions, and all cells, each as often as it reads; per frame of the source."""
        total, frames_in_one = 0, self.layout.stride >> sum(self.joining)
        for index, joins in enumerate(self.joining):
            frames_in_one *= 2 if joins else 1
            back = self.backwards[index] if self.backwards else None
            total += matrix_entries(self.forwards[index], back) // frames_in_one
        return self.front_multiplications + Multiplications(source=total)


def _read(cell: nn.Module, inputs: Tensor) -> Tensor:
    """What a cell shows at every step."""
    if not isinstance(cell, Cell):
        raise TypeError(cell)
    shown, _ = cell.run(cell.zeros(len(inputs), like=inputs), inputs)
    return shown


class FrameTransformerEncoder(_FrameReader):
    """Reads frames all at once, as `TransformerEncoder` reads symbols; a product with each frame stands for an embedding."""

    def __init__(self, section: sections.FrameTransformerEncoder, width: int, beside: int = 0) -> None:
        super().__init__(section, width, beside)
        self.dropout = SequenceDropout(section.dropout, locked=False)
        self.project = Linear(self.front_width, section.size)
        self.layers = nn.ModuleList(Layer(section, parts=ENCODER_PARTS) for _ in range(section.layers))
        self.norm = nn.LayerNorm(section.size)

    def forward(self, values: Tensor, lengths: Tensor, neighbour: Memory | None = None) -> Memory:
        """Frames [B, S, F], lengths [B] -> Memory of a position for every `stride` of them."""
        frames, lengths = self.front(values, lengths, neighbour)
        mask = real_positions(frames.shape[1], lengths)
        states = self.project(frames)
        states = self.dropout(states + sinusoids(0, states.shape[1], like=states))
        for layer in layers_of(self.layers):
            states = states + self.dropout(layer.self_attention(states, mask))
            states = states + self.dropout(layer.feed_forward(states))
        states = self.norm(states)
        summary = states.masked_fill(~mask[..., None], 0.0).sum(dim=1) / lengths.clamp(min=1)[:, None]
        return Memory(states, mask, summary, ((summary,),))

    @property
    def multiplications(self) -> Multiplications:
        """Convolutions and layers, and what frames read in each other; per frame of the source."""
        stride = self.layout.stride
        pairs = 2 * len(self.layers) * self.memory_size // stride**2
        positions = matrix_entries(self.project, self.layers) // stride
        return self.front_multiplications + Multiplications(source=positions, source_pair=pairs)
