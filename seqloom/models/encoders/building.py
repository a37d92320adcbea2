"""The encoder that a recipe names."""

from collections.abc import Mapping

from seqloom.data.kinds.contract import InputSize
from seqloom.models.encoders.comparing import ComparingEncoder
from seqloom.models.encoders.contract import Encoder
from seqloom.models.encoders.dense import DenseEncoder
from seqloom.models.encoders.frames import FrameTransformerEncoder, PyramidEncoder
from seqloom.models.encoders.related import RelatedEncoder
from seqloom.models.encoders.sentences import AskedEncoder, SentenceEncoder
from seqloom.models.encoders.text import TextEncoder
from seqloom.models.encoders.transformer import TransformerEncoder
from seqloom.models.encoders.video import VideoEncoder
from seqloom.models.encoders.vision import ImageEncoder
from seqloom.recipe import sections


def build_encoder(
    section: sections.AnyEncoder | sections.SameEncoder, input_size: InputSize, others: Mapping[str, Encoder] | None = None
) -> Encoder:
    """The encoder that a recipe names. input_size: of its vocabulary or its vectors, or the shape of images.

    others: those of sources that are read before this one, on which it may build.
    """
    before = others or {}
    found = sections.neighbour_of(section)
    beside = before[found[1]].memory_size if found is not None else 0
    match section, input_size:
        case sections.SameEncoder(source=name), _:
            return before[name]
        case sections.ComparingEncoder(source=name), int():
            return ComparingEncoder(section, before[name])
        case sections.AskedEncoder(source=name), int():
            return AskedEncoder(section, input_size, before[name].summary_size)
        case sections.RelatedEncoder(), int():
            return RelatedEncoder(section, input_size)
        case sections.SentenceEncoder(), int():
            return SentenceEncoder(section, input_size)
        case sections.TextEncoder(after=str(name)), int():
            return TextEncoder(section, input_size, before[name].symbol_embedding)
        case sections.TextEncoder(), int():
            return TextEncoder(section, input_size)
        case sections.TransformerEncoder(), int():
            return TransformerEncoder(section, input_size)
        case sections.DenseEncoder(), int():
            return DenseEncoder(section, input_size)
        case sections.PyramidEncoder(), int():
            return PyramidEncoder(section, input_size, beside)
        case sections.FrameTransformerEncoder(), int():
            return FrameTransformerEncoder(section, input_size, beside)
        case ((sections.ConvolutionalEncoder() | sections.EfficientNetLite0Encoder()), (height, width, _)):
            return ImageEncoder(section, height, width)
        case sections.VideoEncoder(), (height, width, colours):
            return VideoEncoder(section, height, width, colours, beside)
        case _:
            raise TypeError(f"an encoder of kind {section.kind} cannot read a source of size {input_size}")
