"""The sections of a recipe: plain validated data, a closed union (`kind:`) per slot, unknown keys refused.

Defaults are those we would choose ourselves for small data on a CPU. Nothing here imports torch.
All that is imported here is offered to others; the type checker and ruff are told so in pyproject.toml.
"""

from seqloom.recipe.sections.attention import (
    Additive,
    Attention,
    Bilinear,
    Concat,
    Dot,
    Hard,
    InStep,
    Local,
    Location,
    MultiHead,
    Projected,
    Score,
    score_of,
)
from seqloom.recipe.sections.base import Count, Fraction, Named, Positive, Rate, Section
from seqloom.recipe.sections.bridges import (
    AttentionBridge,
    Bridge,
    CrossAttentionBridge,
    EveryStepBridge,
    InitialBridge,
    LookingBridge,
    MonotonicBridge,
    NoBridge,
    Start,
)
from seqloom.recipe.sections.columns import SOURCE, TARGET, Columns, Form, form_of, is_lone
from seqloom.recipe.sections.data import Aligned, BuiltinTask, Data, Files, Split
from seqloom.recipe.sections.frames import Convolution, FrameEncoder, FramesReader, FrameTransformerEncoder, PyramidEncoder
from seqloom.recipe.sections.inputs import DistributionInputs, Inputs, MixedInputs, NoInputs, OwnInputs, TeacherInputs
from seqloom.recipe.sections.model import AnyEncoder, Ctc, Decoder, DenseEncoder, Encoder, Model, SymbolEncoder, context_size
from seqloom.recipe.sections.neighbours import in_reading_order, neighbour_of
from seqloom.recipe.sections.recipe import Recipe
from seqloom.recipe.sections.recurrent import (
    Cells,
    ComparingEncoder,
    Recurrence,
    RecurrentDecoder,
    SameEncoder,
    TextEncoder,
)
from seqloom.recipe.sections.search import Beam, Exhaustive, Greedy, Sample, Search, SearchSection
from seqloom.recipe.sections.sentences import AskedEncoder, RelatedEncoder, SentenceEncoder, SentencesEncoder
from seqloom.recipe.sections.sources import (
    AnySource,
    ColumnName,
    FeaturesSource,
    FileSource,
    FilmedSource,
    ImageSource,
    MovementSource,
    PictureSource,
    SoundSource,
    Source,
    Sources,
    SourceSection,
    TextSource,
    VectorSource,
    VideoSource,
)
from seqloom.recipe.sections.training import (
    Adam,
    AdamW,
    Augment,
    Checkpoint,
    Constant,
    Cosine,
    Ema,
    InverseSqrt,
    Keep,
    Linear,
    Metric,
    MetricName,
    Optimiser,
    Plateau,
    Schedule,
    Sgd,
    Training,
    Validation,
)
from seqloom.recipe.sections.transformer import Transformer, TransformerDecoder, TransformerEncoder
from seqloom.recipe.sections.video import NoTime, Time, VideoEncoder
from seqloom.recipe.sections.vision import ConvolutionalEncoder, EfficientNetLite0Encoder, GridEncoder, ImageEncoder
from seqloom.recipe.sections.vocabularies import (
    AnyVocabulary,
    Bpe,
    BuiltVocabulary,
    Characters,
    MarkedVocabulary,
    Symbols,
    Unigram,
    Vocabularies,
    Vocabulary,
    VocabularyFile,
    VocabularySection,
    Whole,
    Words,
)
