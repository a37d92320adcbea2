"""Symbols, and the positions at which they stand, as vectors."""

import math

import torch
from torch import Tensor, nn

from seqloom.models.initialisation import start_embedding


def build_embedding(vocabulary_size: int, size: int, *, length: float = 1.0) -> nn.Embedding:
    """An embedding. length: that of its rows at the start."""
    embedding = nn.Embedding(vocabulary_size, size)
    start_embedding(embedding.weight, length=length)
    return embedding


def at_positions(vectors: Tensor, first: int) -> Tensor:
    """`sqrt(D) e_t + p_t` for embeddings [..., T, D] of symbols that stand at the positions first, first + 1, ...

    The root makes the entries of both parts alike in size. There is no longest sequence: positions are computed, not learned.
    """
    positions = sinusoids(first, vectors.shape[-2], like=vectors)
    return torch.add(positions, vectors, alpha=math.sqrt(vectors.shape[-1]))


def sinusoids(first: int, count: int, *, like: Tensor) -> Tensor:
    """Vectors [T, D] of so many positions: sines, then cosines, of `t / 10000^(2i / D)` (Vaswani et al. 2017)."""
    size = like.shape[-1]
    rates = 10_000.0 ** (-2.0 / size * torch.arange((size + 1) // 2, device=like.device, dtype=like.dtype))
    angles = torch.arange(first, first + count, device=like.device, dtype=like.dtype)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[:, :size]
