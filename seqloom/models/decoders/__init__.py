"""Decoders: they write the target one symbol at a time."""

from seqloom.models.decoders.building import build_decoder
from seqloom.models.decoders.contract import Decoded, Decoder, DecoderState, LogProbabilities, OutputLayer
from seqloom.models.decoders.monotonic import MonotonicDecoder
from seqloom.models.decoders.recurrent import RecurrentDecoder
from seqloom.models.decoders.transformer import TransformerDecoder

__all__ = [
    "Decoded",
    "Decoder",
    "DecoderState",
    "LogProbabilities",
    "MonotonicDecoder",
    "OutputLayer",
    "RecurrentDecoder",
    "TransformerDecoder",
    "build_decoder",
]
