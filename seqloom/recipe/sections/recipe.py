"""The whole recipe."""

from typing import Literal, Self

from pydantic import model_validator

from seqloom.recipe.sections.base import Count, Section
from seqloom.recipe.sections.data import Data
from seqloom.recipe.sections.model import AttentionBridge, Model
from seqloom.recipe.sections.search import Beam, Search
from seqloom.recipe.sections.training import Training


class Recipe(Section):
    """All that decides a run. The fully resolved recipe is written into the run folder."""

    data: Data
    model: Model = Model()
    training: Training = Training()
    search: Search = Beam()
    seed: Count = 1
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"

    @model_validator(mode="after")
    def _tied_needs_shared(self) -> Self:
        if self.model.decoder.tied == "all" and not self.data.vocabularies.shared:
            raise ValueError(
                "model.decoder: `tied: all` needs one vocabulary for both sides. "
                "Write `vocabularies: {shared: true}` in data, or `tied: output`"
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
        if isinstance(self.search, Beam) and self.search.coverage and not isinstance(self.model.bridge, AttentionBridge):
            raise ValueError(
                f"search.coverage: it judges where the model looked, and the bridge {self.model.bridge.kind} does not look. "
                "Remove `coverage`, or write `bridge: {kind: attention}` in model"
            )
        return self
