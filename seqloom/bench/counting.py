"""How many floating-point operations a model costs on a batch.

Only matrix products count, two operations for each multiplication and addition, as is the custom (and as torch's own
counter does): everything else is of lower order. The way back costs twice the way forward, one product for each factor.
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass

import numpy as np
import torch

from seqloom.data.arrays import IntArray
from seqloom.data.kinds.contract import InputSize
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.recipe import sections


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


def count_operations(model: sections.Model, sizes: Mapping[str, InputSize], shape: BatchShape) -> Operations:
    """Operations of a recipe's model on a batch of the given shape, as its parts count them. sizes: as it is built with."""
    with torch.device("meta"):  # nothing is computed
        each = EncoderDecoder(model, sizes).multiplications
    return Operations(2 * sum(count * times for count, times in zip(astuple(each), astuple(shape), strict=True)))
