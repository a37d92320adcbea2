"""Encoders: each reads one source into a Memory."""

from seqloom.models.encoders.building import build_encoder
from seqloom.models.encoders.comparing import ComparingEncoder
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.dense import DenseEncoder
from seqloom.models.encoders.frames import FrameTransformerEncoder, PyramidEncoder
from seqloom.models.encoders.related import RelatedEncoder
from seqloom.models.encoders.sentences import AskedEncoder, SentenceEncoder
from seqloom.models.encoders.text import TextEncoder
from seqloom.models.encoders.transformer import TransformerEncoder
from seqloom.models.encoders.vision import ImageEncoder

__all__ = [
    "AskedEncoder",
    "ComparingEncoder",
    "DenseEncoder",
    "Encoder",
    "FrameTransformerEncoder",
    "ImageEncoder",
    "PyramidEncoder",
    "RelatedEncoder",
    "SentenceEncoder",
    "TextEncoder",
    "TransformerEncoder",
    "build_encoder",
]
