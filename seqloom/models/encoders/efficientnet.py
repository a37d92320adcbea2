"""EfficientNet-Lite0 (Tan and Le 2019): a convolutional network for small devices, up to the features that it sees.

There is no normalisation left in it: what it learnt of means and variances is folded into the convolutions (`pretrained`). So
what it sees of an image never depends on the others of a batch, in training neither.
"""

from itertools import pairwise
from typing import Literal

from torch import Tensor, nn

from seqloom.models.encoders.pretrained import pretrained_weights

Level = Literal["last", "middle"]
"""Which features are asked for: after all blocks and the head, or after the eleventh block."""

_STAGES = (
    # blocks, kernel, stride of the first block, how much wider it is inside, channels
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_STEM, _HEAD = 32, 1280
_MIDDLE = 5
"""How many stages there are up to the features in the middle, whose grid is twice as fine."""


class Convolution(nn.Conv2d):
    """A convolution with bias, padded as TensorFlow does: of an odd number, one more at the end than at the beginning.

    squashed: whether the result is cut off below 0 and above 6.
    """

    def __init__(self, inside: int, outside: int, kernel: int = 1, *, stride: int = 1, groups: int = 1, squashed: bool) -> None:
        super().__init__(inside, outside, kernel, stride, padding=kernel // 2 if stride == 1 else 0, groups=groups)
        self.squashed = squashed

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, C, H, W] -> [B, C', H / stride, W / stride], rounded up."""
        if self.stride[0] > 1:
            images = nn.functional.pad(images, (*self._padding(images.shape[3]), *self._padding(images.shape[2])))
        results = super().forward(images)
        return nn.functional.relu6(results, inplace=True) if self.squashed else results

    def _padding(self, size: int) -> tuple[int, int]:
        """How much is added before and after a side of so many pixels."""
        kernel, stride = self.kernel_size[0], self.stride[0]
        total = max(0, (-(-size // stride) - 1) * stride + kernel - size)
        return total // 2, total - total // 2


class Block(nn.Module):
    """Widened, looked at channel by channel, made narrow again; and added to what it began with, if that has the same shape."""

    def __init__(self, inside: int, outside: int, *, kernel: int, stride: int, wider: int) -> None:
        super().__init__()
        middle = inside * wider
        self.expand = Convolution(inside, middle, squashed=True) if wider > 1 else None
        self.depthwise = Convolution(middle, middle, kernel, stride=stride, groups=middle, squashed=True)
        self.project = Convolution(middle, outside, squashed=False)
        self.added = stride == 1 and inside == outside

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, C, H, W] -> [B, C', H', W']."""
        wide = images if self.expand is None else self.expand(images)
        results: Tensor = self.project(self.depthwise(wide))
        return results.add_(images) if self.added else results


class EfficientNetLite0(nn.Module):
    """The network up to the features that are asked for. channels: how many there are; halvings: of the sides."""

    def __init__(self, level: Level) -> None:
        super().__init__()
        stages = _STAGES if level == "last" else _STAGES[:_MIDDLE]
        self.stem = Convolution(3, _STEM, 3, stride=2, squashed=True)
        self.blocks = nn.Sequential()
        widths = [_STEM, *(channels for *_, channels in stages)]
        for (inside, outside), (count, kernel, stride, wider, _) in zip(pairwise(widths), stages, strict=True):
            self.blocks.append(Block(inside, outside, kernel=kernel, stride=stride, wider=wider))
            for _ in range(count - 1):
                self.blocks.append(Block(outside, outside, kernel=kernel, stride=1, wider=wider))
        self.head = Convolution(widths[-1], _HEAD, squashed=True) if level == "last" else None
        self.channels = _HEAD if self.head is not None else widths[-1]
        self.halvings = 1 + sum(stride == 2 for _, _, stride, _, _ in stages)

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, 3, H, W], scaled -> features [B, C, rows, columns]."""
        seen: Tensor = self.blocks(self.stem(images))
        return seen if self.head is None else self.head(seen)

    def load_pretrained(self) -> None:
        """Take over what was learnt on ImageNet."""
        weights = pretrained_weights()
        self.load_state_dict({name: weights[name] for name in self.state_dict()})
