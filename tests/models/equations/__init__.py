"""The lectures' equations in plain NumPy, one sentence, one step and one position at a time: to read, and to test with.

Letters are the lectures': x source symbols, y target symbols, h encoder states, s decoder states, e energies (and e(y) an
embedding), a weights, c contexts. The ids, C1 to E5, are those of docs/equations.md. Nothing here knows the models.
"""

from .attention import (
    Additive,
    Attention,
    Bilinear,
    Concat,
    Covering,
    Dot,
    Gated,
    Hard,
    Head,
    Local,
    MultiHead,
    Projected,
    Score,
    Several,
    Soft,
)
from .basics import Matrix, Squash, Vector, logistic, tanh
from .cells import Cell, Gate, Gru, GruResetAfter, Lstm, Rnn
from .decoder import Decoder, Dense, Given, decode
from .encoder import Encoded, Encoder, EncoderLayer, encode, side_by_side
from .frames import Convolution, encode_frames_at_once, encode_pyramid, look
from .transformers import (
    FeedForward,
    Norm,
    TransformerDecoder,
    TransformerEncoder,
    TransformerLayer,
    decode_looking_back,
    encode_at_once,
)

__all__ = [
    "Additive",
    "Attention",
    "Bilinear",
    "Cell",
    "Concat",
    "Convolution",
    "Covering",
    "Decoder",
    "Dense",
    "Dot",
    "Encoded",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "Gate",
    "Gated",
    "Given",
    "Gru",
    "GruResetAfter",
    "Hard",
    "Head",
    "Local",
    "Lstm",
    "Matrix",
    "MultiHead",
    "Norm",
    "Projected",
    "Rnn",
    "Score",
    "Several",
    "Soft",
    "Squash",
    "TransformerDecoder",
    "TransformerEncoder",
    "TransformerLayer",
    "Vector",
    "decode",
    "decode_looking_back",
    "encode",
    "encode_at_once",
    "encode_frames_at_once",
    "encode_pyramid",
    "logistic",
    "look",
    "side_by_side",
    "tanh",
]
