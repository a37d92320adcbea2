"""Sequences of a padded batch, turned round within their own lengths and picked at their own ends.

Why no step needs a mask: docs/decisions/encoders-without-step-masks.md.
"""

import torch
from torch import Tensor

from seqloom.models.memory import CellState


def turn_round(width: int, lengths: Tensor) -> Tensor:
    """Positions [B, S] that turn each sequence round within its own length and leave padding where it is."""
    positions = torch.arange(width, device=lengths.device)
    mirrored = lengths[:, None] - 1 - positions
    return torch.where(mirrored >= 0, mirrored, positions)


def gathered(states: Tensor, positions: Tensor) -> Tensor:
    """The states [B, S, D] at positions [B, S], in their order."""
    return states.gather(1, positions[:, :, None].expand_as(states))


def at_positions(leaves: CellState, positions: Tensor, first: CellState | None = None) -> CellState:
    """The states at one position of each sequence; at -1, that before the first position: `first`, or zeros."""
    rows, before = torch.arange(len(positions), device=positions.device), positions[:, None] < 0
    found = tuple(leaf[rows, positions] for leaf in leaves)
    if first is None:
        return tuple(leaf.masked_fill(before, 0.0) for leaf in found)
    return tuple(torch.where(before, one, leaf) for one, leaf in zip(first, found, strict=True))


def real_positions(width: int, lengths: Tensor) -> Tensor:
    """The mask [B, S] of a batch so wide: True where real."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]
