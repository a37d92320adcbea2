"""The encoder that a recipe names."""

from seqloom.data.kinds.contract import InputSize
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.dense import DenseEncoder
from seqloom.models.encoders.frames import FrameTransformerEncoder, PyramidEncoder
from seqloom.models.encoders.text import TextEncoder
from seqloom.models.encoders.transformer import TransformerEncoder
from seqloom.models.encoders.video import VideoEncoder
from seqloom.models.encoders.vision import ImageEncoder
from seqloom.recipe import sections


def build_encoder(section: sections.AnyEncoder, input_size: InputSize) -> Encoder:
    """The encoder that a recipe names. input_size: of its vocabulary or its vectors, or the shape of images."""
    match section, input_size:
        case sections.TextEncoder(), int():
            return TextEncoder(section, input_size)
        case sections.TransformerEncoder(), int():
            return TransformerEncoder(section, input_size)
        case sections.DenseEncoder(), int():
            return DenseEncoder(section, input_size)
        case sections.PyramidEncoder(), int():
            return PyramidEncoder(section, input_size)
        case sections.FrameTransformerEncoder(), int():
            return FrameTransformerEncoder(section, input_size)
        case ((sections.ConvolutionalEncoder() | sections.EfficientNetLite0Encoder()), (height, width, _)):
            return ImageEncoder(section, height, width)
        case sections.VideoEncoder(), (height, width, colours):
            return VideoEncoder(section, height, width, colours)
        case _:
            raise TypeError(f"an encoder of kind {section.kind} cannot read a source of size {input_size}")
