"""The encoder of videos: every frame is read as an image is, then frames are read in their order."""

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

import torch
from torch import Tensor, nn

from seqloom.models.dropout import SequenceDropout
from seqloom.models.embeddings import sinusoids
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.directions import real_positions
from seqloom.models.encoders.frames import FrameTransformerEncoder, PyramidEncoder
from seqloom.models.encoders.vision import ImageEncoder, outline_of
from seqloom.models.memory import Memory
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.recipe import sections
from seqloom.results.layouts import Film, Frames

_GREY = 127.0
"""What stands for no change where the change of a pixel is a colour like others."""


class VideoEncoder(Encoder):
    """Reads frames into states, one for each of them, or one for every place of the grid of each.

    height, width: of the frames, in pixels; colours: how many numbers a pixel has. A frozen network is no part of the encoder.
    Where places are the memory, what is known of a frame in time is added to each of its places. beside: how wide the states
    of another source are that is read with the frames, if there is one.
    """

    def __init__(self, section: sections.VideoEncoder, height: int, width: int, colours: int, beside: int = 0) -> None:
        super().__init__()
        self.differences, self.shift, self.flip = section.differences, section.shift, section.flip
        self.is_grid, self.is_pooled = section.memory == "grid", section.is_frozen and section.memory == "frames"
        self.is_frozen = section.is_frozen
        self.memory_size = self.summary_size = section.memory_size
        seen = section.frames.memory_size
        self.images: nn.Module
        if self.is_pooled:
            self.images = PooledFrames(section.frames)
        else:
            self.images = ImageEncoder(section.frames, height, width, colours * (2 if section.differences else 1))
        self.time = build_time(section.time, seen, beside)
        grid = self.images.layout if isinstance(self.images, ImageEncoder) else None
        self.layout = Film(grid.rows, grid.columns) if self.is_grid and grid is not None else self.time.layout
        self.widen = Linear(seen, self.memory_size) if self.is_grid and seen != self.memory_size else nn.Identity()

    def read_beside(self, memories: Mapping[str, Memory], values: Tensor, lengths: Tensor) -> Memory:
        """Read it with the source that stands beside its frames, if there is one."""
        memory: Memory = self(values, lengths, memories)
        return memory

    def forward(self, values: Tensor, lengths: Tensor, memories: Mapping[str, Memory] | None = None) -> Memory:
        """Frames [B, L, H, W, C], or what a frozen network saw of them [B, L, ...]; lengths [B] -> Memory."""
        mask = real_positions(values.shape[1], lengths)
        looked_at = values if self.is_frozen else self._prepared(values)
        places, frames = self._look(looked_at[mask])  # [N, P, D], [N, D] of all real frames
        read = self.time.read_beside(memories or {}, _spread(frames, mask), lengths)
        if not self.is_grid:
            return read
        widened = _spread(self.widen(places), mask)  # [B, L, P, D]
        everywhere = (widened + read.states[:, :, None]).flatten(1, 2)
        return replace(read, states=everywhere, mask=mask.repeat_interleave(places.shape[1], dim=1))

    def _look(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        pixels = frames if self.is_frozen else frames[:, None]
        memory: Memory = self.images(pixels, torch.ones(len(frames), device=frames.device))
        return memory.states, memory.summary

    def _prepared(self, frames: Tensor) -> Tensor:
        """Frames moved about, if they are to learn from, and beside each of them what has changed since the one before."""
        if self.training and (self.shift or self.flip):
            frames = self._moved(frames)
        if not self.differences:
            return frames
        signed = frames.to(torch.float32)
        changes = torch.full_like(signed, _GREY)
        changes[:, 1:] += signed[:, 1:] - signed[:, :-1]
        return torch.cat([signed, changes], dim=-1)

    def _moved(self, frames: Tensor) -> Tensor:
        """Each clip shifted, its edges repeated, and perhaps mirrored; all frames of a clip alike."""
        batch, length, height, width = frames.shape[:4]
        down, across = (self._places(batch, side, frames) for side in (height, width))
        if self.flip:
            mirrored = torch.rand(batch, 1, device=frames.device) < 0.5
            across = torch.where(mirrored, across.flip(1), across)
        clips = torch.arange(batch, device=frames.device)[:, None, None, None]
        times = torch.arange(length, device=frames.device)[None, :, None, None]
        return frames[clips, times, down[:, None, :, None], across[:, None, None, :]]

    def _places(self, batch: int, side: int, like: Tensor) -> Tensor:
        """Which row or column of a clip comes to stand where, [B, side]."""
        most = round(self.shift * side)
        by = torch.randint(-most, most + 1, (batch, 1), device=like.device)
        return (torch.arange(side, device=like.device) + by).clamp(0, side - 1)

    @property
    def multiplications(self) -> Multiplications:
        """All of it, for every frame."""
        images = self.images.multiplications
        if not isinstance(images, Multiplications):
            raise TypeError(images)
        places = self.layout.places if isinstance(self.layout, Film) else 1
        per_frame = images.sentence + places * (images.source + matrix_entries(self.widen))
        own = self.time.multiplications
        return Multiplications(source=per_frame + own.source, source_pair=own.source_pair)

    def load_pretrained(self) -> None:
        """Take over what was learnt elsewhere, if anything."""
        if isinstance(self.images, ImageEncoder):
            self.images.load_pretrained()


class PooledFrames(nn.Module):
    """Projects what a frozen network saw of each frame on the mean."""

    def __init__(self, section: sections.ImageEncoder) -> None:
        super().__init__()
        channels = outline_of(section).channels
        self.dropout = SequenceDropout(section.dropout, locked=False)
        self.project = Linear(channels, section.memory_size) if section.size is not None else nn.Identity()

    def forward(self, features: Tensor, lengths: Tensor) -> Memory:
        """Features [N, F] -> one position each."""
        seen: Tensor = self.project(self.dropout(features[:, None]))
        summary = seen[:, 0]
        return Memory(seen, lengths[:, None] > 0, summary, ((summary,),))

    @property
    def multiplications(self) -> Multiplications:
        """The projection."""
        return Multiplications(source=matrix_entries(self.project))


class NoTime(Encoder):
    """Leaves frames as they are, unless each is told when it is. Their mean is the summary."""

    layout = Frames()

    def __init__(self, section: sections.NoTime, width: int) -> None:
        super().__init__()
        self.memory_size = self.summary_size = width
        self.positions = section.positions

    def forward(self, values: Tensor, lengths: Tensor) -> Memory:
        """Vectors [B, L, D], lengths [B] -> Memory of the like."""
        mask = real_positions(values.shape[1], lengths)
        states = values + sinusoids(0, values.shape[1], like=values) if self.positions else values
        summary = states.masked_fill(~mask[..., None], 0.0).sum(dim=1) / lengths.clamp(min=1)[:, None]
        return Memory(states, mask, summary, ((summary,),))

    @property
    def multiplications(self) -> Multiplications:
        """Nothing."""
        return Multiplications()


def build_time(section: sections.Time, width: int, beside: int) -> Encoder:
    """What reads frames in their order. width: of what is known of each frame; beside: of what stands beside it."""
    match section:
        case sections.PyramidEncoder():
            return PyramidEncoder(section, width, beside)
        case sections.FrameTransformerEncoder():
            return FrameTransformerEncoder(section, width, beside)
        case sections.NoTime():
            return NoTime(section, width)
        case _:
            assert_never(section)


def _spread(real: Tensor, mask: Tensor) -> Tensor:
    """What belongs to real frames, [N, ...], in its place among all, [B, L, ...]."""
    spread = real.new_zeros(*mask.shape, *real.shape[1:])
    spread[mask] = real
    return spread
