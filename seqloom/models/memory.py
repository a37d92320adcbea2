"""What an encoder writes and a bridge reads.

Letters in this package: B batch, S source positions, T target positions, Q queries (target positions, or rows of a beam),
K rows of a beam, H heads, D width, V vocabulary.
"""

from dataclasses import dataclass

from torch import Tensor

CellState = tuple[Tensor, ...]
"""A layer's state: first what the rest of the model sees (s of a GRU, h of an LSTM), then what only the layer itself does (s of
an LSTM, the keys and values to which a transformer's layer looks back)."""


@dataclass(frozen=True)
class MemorySize:
    """How wide what an encoder writes is: each of its states, and the summary."""

    states: int
    summary: int


@dataclass(frozen=True)
class Memory:
    """One source as the encoder wrote it.

    states [B, S, D], one vector per position; mask [B, S], True where real; summary [B, D'], one vector for all of it, from
    real positions only; finals: the last state of each layer, leaves [B, D'], from which a decoder may start; symbols [B, S]:
    what was read, if it was symbols. D' is D but for pictures, of which the summary may be all states side by side. looked:
    where an encoder that reads a source beside another one looked, round by round, [B, H, N, M] from N places to M.
    """

    states: Tensor
    mask: Tensor
    summary: Tensor
    finals: tuple[CellState, ...]
    symbols: Tensor | None = None
    looked: tuple[Tensor, ...] = ()
