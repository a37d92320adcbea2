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
    def _coverage_needs_attention(self) -> Self:
        if isinstance(self.search, Beam) and self.search.coverage and not isinstance(self.model.bridge, AttentionBridge):
            raise ValueError(
                f"search.coverage: it judges where the model looked, and the bridge {self.model.bridge.kind} does not look. "
                "Remove `coverage`, or write `bridge: {kind: attention}` in model"
            )
        return self
