"""What a frozen network sees of images and of frames, computed once for each of them: what `data.media` calls a frontend."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice, product

import numpy as np
import numpy.typing as npt
import torch

from seqloom.data.media.files import Media
from seqloom.data.media.images import ImagePixels
from seqloom.data.media.threads import in_order
from seqloom.data.media.videos import ClipForm, VideoFrames
from seqloom.models.encoders.efficientnet import EfficientNetLite0, Level
from seqloom.models.encoders.pretrained import SHA256
from seqloom.models.encoders.vision import in_a_row, layout_of, outline_of, scaled
from seqloom.recipe import sections

_TOGETHER = 4
"""How many images go through the network at once: what it has in hand then stays near the processor. More are slower."""

Features = npt.NDArray[np.float16]


class FrozenFeatures:
    """What EfficientNet-Lite0 sees at each place of its grid: arrays [P, F], in half precision.

    pixels: how images become arrays. Each of its threads decodes a few images and lets the network see them by itself, so that
    none waits for another.
    """

    def __init__(self, section: sections.EfficientNetLite0Encoder, pixels: ImagePixels) -> None:
        self._section, self._pixels = section, pixels

    @cached_property
    def _network(self) -> EfficientNetLite0:
        return frozen_network(self._section.features)

    @property
    def key(self) -> str:
        """All that the arrays depend on beside the files. The number counts changes of the arithmetic."""
        return f"efficientnet_lite0 1 {SHA256[:16]} {self._section.features} of {self._pixels.key}"

    @cached_property
    def row(self) -> tuple[int, ...]:
        """How many numbers there are at each place of the grid."""
        return (outline_of(self._section).channels,)

    def arrays(self, files: Sequence[Media]) -> Iterator[Features]:
        """Yield what is seen of each file, in order. Raises `DataError` at the first that is no picture."""
        see = partial(self._seen, self._network)
        waiting = iter(files)
        groups = iter(lambda: list(islice(waiting, _TOGETHER)), [])
        threads = torch.get_num_threads()
        try:
            for seen in in_order(see, groups, threads=self._pixels.threads, prepare=partial(torch.set_num_threads, 1)):
                yield from seen
        finally:
            torch.set_num_threads(threads)  # a part of it belongs to the whole process

    @torch.inference_mode()
    def _seen(self, network: EfficientNetLite0, files: Sequence[Media]) -> Features:
        """What is seen of a few files, [B, P, F]."""
        pixels = torch.from_numpy(np.stack([self._pixels.array(media) for media in files]))
        features = in_a_row(network(scaled(pixels, like=network.stem.weight)))
        found: Features = features.to(torch.float16).contiguous().numpy()
        return found


class FrozenFrames:
    """What EfficientNet-Lite0 sees of each frame, in half precision: at each place of its grid [L, P, F], or their mean [L, F].

    The mean is all that a memory of frames needs, and a small part of what a long clip would take.
    """

    def __init__(self, section: sections.VideoEncoder, frames: VideoFrames) -> None:
        if not isinstance(section.frames, sections.EfficientNetLite0Encoder):
            raise TypeError(section.frames)
        self._encoder, self._frames = section, frames
        self._section, self._pooled = section.frames, section.memory == "frames"

    def forms(self) -> "list[FrozenFrames]":
        """The same for each form of a clip to learn from: moved towards each corner, and mirrored. Nothing if there is one."""
        shift, mirrored = self._encoder.shift, (False, True) if self._encoder.flip else (False,)
        ways = [(0.0, 0.0), *product((-shift, shift), repeat=2)] if shift else [(0.0, 0.0)]
        forms = [ClipForm(down, across, flip) for down, across in ways for flip in mirrored]
        frames = [replace(self._frames, form=None if form == ClipForm() else form) for form in forms]
        return [FrozenFrames(self._encoder, one) for one in frames] if len(frames) > 1 else []

    @cached_property
    def _network(self) -> EfficientNetLite0:
        return frozen_network(self._section.features)

    @property
    def key(self) -> str:
        """All that the rows depend on beside the files. The number counts changes of the arithmetic."""
        seen = "mean of " if self._pooled else ""
        return f"efficientnet_lite0 frames 1 {SHA256[:16]} {seen}{self._section.features} of {self._frames.key}"

    @cached_property
    def row(self) -> tuple[int, ...]:
        """How many numbers there are for a frame."""
        network = outline_of(self._section)
        places = layout_of(network, self._frames.height, self._frames.width).places
        return (network.channels,) if self._pooled else (places, network.channels)

    @torch.inference_mode()
    def arrays(self, files: Sequence[Media]) -> Iterator[Features]:
        """Yield what is seen of each file, in order. Raises `DataError` at the first that is no video."""
        network = self._network
        for frames in self._frames.arrays(files):
            parts = []
            for start in range(0, len(frames), _TOGETHER):
                some = torch.from_numpy(frames[start : start + _TOGETHER])
                seen = in_a_row(network(scaled(some, like=network.stem.weight)))
                parts.append(seen.mean(dim=1) if self._pooled else seen)
            yield torch.cat(parts).to(torch.float16).contiguous().numpy()


def frozen_network(level: Level) -> EfficientNetLite0:
    """The pretrained network, laid out for speed."""
    with torch.device("meta"):
        network = EfficientNetLite0(level)
    network.to_empty(device="cpu").load_pretrained()  # drawing weights first would take longer than all else
    network.eval().requires_grad_(False)
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]
