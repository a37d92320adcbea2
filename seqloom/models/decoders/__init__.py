"""Decoders: they write the target one symbol at a time."""

from seqloom.models.decoders.building import build_decoder
from seqloom.models.decoders.contract import Decoded, Decoder, DecoderState, LinearOutput, LogProbabilities
from seqloom.models.decoders.monotonic import MonotonicDecoder
from seqloom.models.decoders.recurrent import RecurrentDecoder
from seqloom.models.decoders.transformer import TransformerDecoder

__all__ = [
    "Decoded",
    "Decoder",
    "DecoderState",
    "LinearOutput",
    "LogProbabilities",
    "MonotonicDecoder",
    "RecurrentDecoder",
    "TransformerDecoder",
    "build_decoder",
]
