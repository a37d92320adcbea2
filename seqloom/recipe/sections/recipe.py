"""The whole recipe."""

from typing import Literal, Self

from pydantic import model_validator

from seqloom.recipe.sections.base import Count, Section
from seqloom.recipe.sections.data import Data
from seqloom.recipe.sections.model import AttentionBridge, DenseEncoder, LookingBridge, Model
from seqloom.recipe.sections.search import Beam, Search
from seqloom.recipe.sections.training import Training
from seqloom.recipe.sections.transformer import TransformerDecoder


class Recipe(Section):
    """All that decides a run. The fully resolved recipe is written into the run folder."""

    data: Data
    model: Model = Model()
    training: Training = Training()
    search: Search = Beam()
    seed: Count = 1
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"

    @property
    def is_language_model(self) -> bool:
        """Whether it learns from plain text: there is no source."""
        return self.data.text is not None

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
        bridge = self.model.bridge
        if not isinstance(bridge, AttentionBridge) or not bridge.copy:
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
    def _text_needs_a_language_model(self) -> Self:
        if (self.data.text is not None) == (self.model.encoder is None):
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
        source, encoder = self.data.sources.source, self.model.encoder
        if encoder is None or (source.kind == "vector") == isinstance(encoder, DenseEncoder):
            return self
        if source.kind == "vector":
            raise ValueError(
                f"model.encoder: an encoder of kind {encoder.kind} reads symbols, and the source is a vector. "
                "Write `encoder: {kind: dense}`"
            )
        raise ValueError(
            "model.encoder: a dense encoder reads a vector of numbers, and the source is text. Write "
            "`sources: {source: {kind: vector, size: N}}` in data, or `encoder: {kind: text}`"
        )

    @model_validator(mode="after")
    def _text_is_judged_by_its_loss(self) -> Self:
        metric = self.training.validation.metric
        if self.data.text is not None and metric != "loss":
            raise ValueError(
                f"training.validation.metric: {metric} compares an output with what was wanted, and a language model's texts "
                "are not wanted ones. Write `metric: loss`"
            )
        if self.data.text == "stream" and self.training.average == "sequences":
            raise ValueError("training.average: running text has no sequences to average over. Write `average: tokens`")
        return self

    @model_validator(mode="after")
    def _coverage_needs_attention(self) -> Self:
        if isinstance(self.search, Beam) and self.search.coverage and not isinstance(self.model.bridge, LookingBridge):
            raise ValueError(
                f"search.coverage: it judges where the model looked, and the bridge {self.model.bridge.kind} does not look. "
                "Remove `coverage`, or write `bridge: {kind: attention}` in model"
            )
        return self
