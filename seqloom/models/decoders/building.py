"""The decoder that a recipe names."""

from typing import assert_never

from torch import nn

from seqloom.models.decoders.contract import Decoder
from seqloom.models.decoders.monotonic import MonotonicDecoder
from seqloom.models.decoders.recurrent import RecurrentDecoder
from seqloom.models.decoders.transformer import TransformerDecoder
from seqloom.models.starts import MemorySizes
from seqloom.recipe import sections


def build_decoder(
    section: sections.Decoder,
    bridge: sections.Bridge,
    memory_sizes: MemorySizes,
    vocabulary_size: int,
    source_embedding: nn.Embedding | None = None,
) -> Decoder:
    """The decoder that a recipe names, over sources of the given memory widths."""
    match section:
        case sections.RecurrentDecoder() if isinstance(bridge, sections.MonotonicBridge):
            return MonotonicDecoder(section, bridge, memory_sizes, vocabulary_size, source_embedding)
        case sections.RecurrentDecoder():
            return RecurrentDecoder(section, bridge, memory_sizes, vocabulary_size, source_embedding)
        case sections.TransformerDecoder():
            return TransformerDecoder(section, bridge, memory_sizes, vocabulary_size, source_embedding)
        case _:
            assert_never(section)
