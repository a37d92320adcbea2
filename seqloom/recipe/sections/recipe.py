"""The whole recipe."""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.base import Count, Section
from seqloom.recipe.sections.bridges import AttentionBridge, LookingBridge, MonotonicBridge
from seqloom.recipe.sections.data import Data
from seqloom.recipe.sections.frames import FrameTransformerEncoder, PyramidEncoder
from seqloom.recipe.sections.model import AnyEncoder, DenseEncoder, Model
from seqloom.recipe.sections.neighbours import neighbour_of
from seqloom.recipe.sections.recurrent import ComparingEncoder, TextEncoder
from seqloom.recipe.sections.search import Beam, Search
from seqloom.recipe.sections.sentences import AskedEncoder, RelatedEncoder, SentenceEncoder, SentencesEncoder
from seqloom.recipe.sections.sources import FeaturesSource, VideoSource
from seqloom.recipe.sections.training import Training
from seqloom.recipe.sections.transformer import TransformerDecoder, TransformerEncoder
from seqloom.recipe.sections.video import VideoEncoder
from seqloom.recipe.sections.vision import ConvolutionalEncoder, EfficientNetLite0Encoder
from seqloom.recipe.sections.vocabularies import Bpe, MarkedVocabulary, VocabularyFile

_READS: dict[type[AnyEncoder], str] = {
    TextEncoder: "text",
    TransformerEncoder: "text",
    SentenceEncoder: "text",
    AskedEncoder: "text",
    RelatedEncoder: "text",
    ComparingEncoder: "text",
    DenseEncoder: "vector",
    ConvolutionalEncoder: "image",
    EfficientNetLite0Encoder: "image",
    PyramidEncoder: "frames",
    FrameTransformerEncoder: "frames",
    VideoEncoder: "video",
}
"""What each encoder reads: the `content` of a source."""

_WORDS = {
    "text": "text",
    "vector": "a vector",
    "image": "an image",
    "frames": "frames, which are rows of numbers",
    "video": "a video",
}
"""What sources are, in a sentence."""


class Recipe(Section):
    """All that decides a run. The fully resolved recipe is written into the run folder."""

    data: Data
    model: Model = Field(default_factory=Model)
    training: Training = Field(default_factory=Training)
    search: Search = Field(default_factory=Beam)
    seed: Count = 1
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"

    @property
    def is_language_model(self) -> bool:
        """Whether it learns from plain text: there is no source."""
        return self.data.text is not None

    @property
    def copies(self) -> bool:
        """Whether symbols of the source can be written as they are, also those that no vocabulary has."""
        return self.copied is not None

    @property
    def copied(self) -> str | None:
        """The source whose symbols can be written as they are; None if they cannot."""
        if not isinstance(self.model.bridge, AttentionBridge) or not self.model.bridge.copy:
            return None
        return self.data.text_sources[0] if self.model.bridge.copy is True else self.model.bridge.copy

    @property
    def encoders(self) -> dict[str, AnyEncoder]:
        """The encoder of each source, in the order of the sources; none for a language model."""
        if self.data.text is not None:
            return {}
        if self.model.encoders is not None:
            return {name: self.model.encoder_of(name) for name in self.data.sources}
        return dict(zip(self.data.sources, self.model.all_encoders, strict=True))

    @model_validator(mode="after")
    def _every_source_has_an_encoder(self) -> Self:
        sources, encoders = self.data.sources, self.model.encoders
        if self.data.text is not None:
            return self
        named = ", ".join(sources)
        if encoders is None and self.model.encoder is not None and len(sources) > 1:
            raise ValueError(
                f"model.encoder: it reads one source, and data.sources names {named}. "
                f"Write `encoders: {{{', '.join(f'{name}: ...' for name in sources)}}}` in its place"
            )
        if encoders is not None and encoders.keys() != sources.keys():
            raise ValueError(
                f"model.encoders: it has encoders for {', '.join(encoders)}, and data.sources names {named}. "
                "Give each source an encoder of its name"
            )
        return self

    @model_validator(mode="after")
    def _neighbours_have_one_vocabulary(self) -> Self:
        for name, encoder in (self.model.encoders or {}).items():
            found = neighbour_of(encoder)
            if found is None or isinstance(encoder, AskedEncoder) or not {name, found[1]} <= set(self.data.text_sources):
                continue
            if not self.data.share_a_vocabulary(name, found[1]):
                raise ValueError(
                    f"model.encoders.{name}: it reads {name} as {found[1]} is read, and both have vocabularies of their own. "
                    "Write `vocabularies: {together: true}` in data"
                )
        return self

    @model_validator(mode="after")
    def _sentences_have_ends(self) -> Self:
        for name, encoder in self._readable_pairs():
            if isinstance(encoder, SentencesEncoder) and name in self.data.text_sources:
                vocabulary = self.data.vocabulary_of(name)
                marked = vocabulary.sentences if isinstance(vocabulary, MarkedVocabulary) else False
                if not marked and not isinstance(vocabulary, VocabularyFile):
                    raise ValueError(
                        f"data.sources.{name}: an encoder of sentences must know where they end. "
                        "Write `vocabulary: {kind: words, sentences: true}` there"
                    )
        return self

    @model_validator(mode="after")
    def _tied_needs_shared(self) -> Self:
        if self.model.decoder.tied == "all" and not self.data.vocabularies.shared:
            raise ValueError(
                "model.decoder: `tied: all` needs one vocabulary for both sides. "
                "Write `vocabularies: {shared: true}` in data, or `tied: output`"
            )
        return self

    @model_validator(mode="after")
    def _copies_can_be_written(self) -> Self:
        if not self.copies:
            return self
        if not self.data.vocabularies.shared:
            raise ValueError(
                "model.bridge: `copy: true` needs one vocabulary for both sides, so that a symbol of the source is one of the "
                "target. Write `vocabularies: {shared: true}` in data, or remove `copy`"
            )
        if self.training.label_smoothing:
            raise ValueError(
                "training.label_smoothing: it spreads a label over the whole vocabulary, and with `copy: true` an output may "
                "lie outside of it. Write `label_smoothing: 0`, or remove `copy`"
            )
        return self

    @model_validator(mode="after")
    def _samples_suffice(self) -> Self:
        if self.training.sampled_softmax is None:
            return self
        if self.training.label_smoothing:
            raise ValueError(
                "training.sampled_softmax: it looks at part of the vocabulary, and `label_smoothing` spreads a label over all "
                "of it. Write `label_smoothing: 0`, or remove `sampled_softmax`"
            )
        if self.copies:
            raise ValueError(
                "training.sampled_softmax: it looks at part of the vocabulary, and with `copy: true` an output may be any "
                "symbol of the source. Remove one of them"
            )
        if isinstance(self.model.bridge, MonotonicBridge):
            raise ValueError(
                "training.sampled_softmax: it looks at part of the vocabulary, and with `bridge: {kind: monotonic}` every "
                "position speaks of all of it. Remove `sampled_softmax`"
            )
        return self

    @model_validator(mode="after")
    def _text_needs_a_language_model(self) -> Self:
        if (self.data.text is not None) == (not self.model.all_encoders):
            return self
        if self.data.text is None:
            raise ValueError(
                "model: without an encoder it is a language model, which learns from plain text. "
                "Write `text: lines` or `text: stream` in data, or give `model.encoder` and a bridge"
            )
        raise ValueError(
            f"data: `text: {self.data.text}` has no source to encode. "
            "Write `encoder: null` and `bridge: {kind: none}` in model"
        )

    @model_validator(mode="after")
    def _running_text_is_read_as_it_is(self) -> Self:
        kind = self.model.decoder.inputs.kind
        if self.data.text == "stream" and kind != "teacher":
            raise ValueError(
                f"model.decoder: `inputs: {{kind: {kind}}}` lets the decoder go its own way from the beginning of an output, "
                "and running text has no beginning. Write `inputs: {kind: teacher}`, or `text: lines` in data"
            )
        return self

    @model_validator(mode="after")
    def _running_text_is_not_looked_back_at(self) -> Self:
        if self.data.text == "stream" and isinstance(self.model.decoder, TransformerDecoder):
            raise ValueError(
                "model.decoder: a transformer decoder looks back at all that it has read, and running text has no end. "
                "Write `text: lines` in data, or `decoder: {kind: recurrent}`"
            )
        return self

    @model_validator(mode="after")
    def _the_encoder_reads_what_there_is(self) -> Self:
        for name, encoder in self._readable_pairs():
            source, reads = self.data.sources[name], _READS[type(encoder)]
            if reads == source.content:
                continue
            fitting = [kind.model_fields["kind"].default for kind, what in _READS.items() if what == source.content]
            remedy = f"Write `{{kind: {fitting[0]}}}`" if fitting else "No encoder reads it yet"
            called = "the source" if len(self.data.sources) == 1 else f"the source `{name}`"
            place = "model.encoder" if self.model.encoders is None else f"model.encoders.{name}"
            raise ValueError(
                f"{place}: an encoder of kind {encoder.kind} reads {_WORDS[reads]}, and {called} is {_WORDS[source.content]}. "
                f"{remedy}, or another kind in `data.sources`"
            )
        return self

    @model_validator(mode="after")
    def _a_pretrained_network_sees_colours(self) -> Self:
        for name, encoder in self._readable_pairs():
            source = self.data.sources[name]
            if isinstance(encoder, VideoEncoder) and encoder.is_pretrained and isinstance(source, VideoSource) and source.grey:
                raise ValueError(
                    f"data.sources.{name}: `grey: true` leaves no colours, and EfficientNet-Lite0 has learnt to see with them. "
                    "Remove `grey`, or write `frames: {kind: cnn}` in the encoder"
                )
        return self

    @model_validator(mode="after")
    def _there_is_something_to_augment(self) -> Self:
        augment, kinds = self.training.augment, {source.kind for source in self.data.sources.values()}
        if augment is None:
            return self
        if augment.hidden and (self.data.text is not None or "text" not in kinds):
            raise ValueError("training.augment.hidden: symbols of texts are hidden, and no source is a text. Remove it")
        if not augment.hidden and not any(source.content == "frames" for source in self.data.sources.values()):
            raise ValueError(
                "training.augment: it covers parts of sounds or other frames, and no source is one. Remove it, or write "
                "`hidden: 0.1` in it, which hides symbols of texts"
            )
        if augment.speeds and "sound" not in kinds:
            raise ValueError("training.augment.speeds: sounds are played at them, and no source is a sound. Remove them")
        if augment.flip and "movement" not in kinds:
            raise ValueError(
                "training.augment.flip: it mirrors sources of kind movement, and there is none. Remove it; the encoder of a "
                "video has a `flip` of its own"
            )
        return self

    @model_validator(mode="after")
    def _there_is_something_to_hear(self) -> Self:
        if self.search.speeds and not any(source.kind == "sound" for source in self.data.sources.values()):
            raise ValueError("search.speeds: sounds are heard at them, and no source is a sound. Remove them")
        return self

    @model_validator(mode="after")
    def _running_text_has_one_form(self) -> Self:
        target = self.data.vocabularies.target
        if self.data.text == "stream" and isinstance(target, Bpe) and target.dropout:
            raise ValueError(
                "data.vocabularies.target.dropout: running text is cut into windows of symbols before training begins, so its "
                "words cannot come in other pieces each time. Remove it, or read lines by themselves (`text: lines`)"
            )
        return self

    @model_validator(mode="after")
    def _widths_are_said(self) -> Self:
        for name, source in self.data.sources.items():
            if isinstance(source, FeaturesSource) and source.width is None:
                raise ValueError(
                    f"data.sources.{name}: a model has to know how many numbers a row of its features has. Write `width: 40`, "
                    "or whatever the arrays' second size is"
                )
        return self

    def _readable_pairs(self) -> Iterator[tuple[str, AnyEncoder]]:
        """Sources with the encoders that are meant for them, as far as names agree; else there is another complaint."""
        if self.model.encoders is not None:
            yield from ((name, self.model.encoder_of(name)) for name in self.model.encoders if name in self.data.sources)
        elif self.model.all_encoders and len(self.data.sources) == 1:
            yield next(iter(self.data.sources)), self.model.all_encoders[0]

    @model_validator(mode="after")
    def _text_is_judged_by_its_loss(self) -> Self:
        metric = self.training.validation.metric
        if self.data.text is not None and metric != "loss":
            raise ValueError(
                f"training.validation.metric: {metric} compares an output with what was wanted, and a language model's texts "
                "are not wanted ones. Write `metric: loss`"
            )
        if self.data.text == "stream" and self.training.loss_per == "sequences":
            raise ValueError("training.loss_per: running text has no sequences to average over. Write `loss_per: tokens`")
        return self

    @model_validator(mode="after")
    def _ctc_was_learned(self) -> Self:
        if self.search.ctc and self.model.ctc is None:
            raise ValueError(
                "search.ctc: a search can listen to CTC only if the model learns it. Write `ctc: {weight: 0.3}` in model, or "
                "remove `search.ctc`"
            )
        return self

    @model_validator(mode="after")
    def _values_are_read(self) -> Self:
        if isinstance(self.search, Beam) and self.search.values and (self.data.text is not None or not self.data.text_sources):
            raise ValueError(
                "search.values: values of acts (`slot = value ; ...`) stand in a text, and no source is one. Remove it"
            )
        return self

    @model_validator(mode="after")
    def _coverage_needs_attention(self) -> Self:
        if isinstance(self.search, Beam) and self.search.coverage and not isinstance(self.model.bridge, LookingBridge):
            raise ValueError(
                f"search.coverage: it judges where the model looked, and the bridge {self.model.bridge.kind} does not look. "
                "Remove `coverage`, or write `bridge: {kind: attention}` in model"
            )
        return self
