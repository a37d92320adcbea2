"""Bridges: how the decoder sees the source."""

import warnings
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.attention import Additive, Attention, Bilinear, BuiltOnScore, Hard, InStep, Local, Score
from seqloom.recipe.sections.base import MOST_LAYERS, Positive, Rate, Section, SourceName


class Start(Section):
    """How the first state comes from the source: `dense: 0` is the identity, else that many dense layers."""

    dense: Annotated[int, Field(ge=0, le=MOST_LAYERS)] = 1
    sources: tuple[SourceName, ...] = ()
    """Whose last states make it, by name; none named means those of all sources, side by side."""
    compare: bool = False
    """Whether two last states u and v come as [u; v; |u - v|; u * v], so that what they share stands out (Conneau 2017)."""

    @model_validator(mode="after")
    def _a_comparison_is_made_into_a_state(self) -> Self:
        if self.compare and self.dense == 0:
            raise ValueError(
                "`compare: true` makes four vectors of two, which no decoder can take as they are. Use `dense: 1`, or remove it"
            )
        return self


class NoBridge(Section):
    """No source: the decoder is a language model."""

    kind: Literal["none"] = "none"

    def words(self, *, several: bool) -> str:  # noqa: ARG002
        """How the decoder sees the source, or `several` of them, in a summary of the recipe."""
        return "no source"


class InitialBridge(Section):
    """Only the decoder's first state depends on the source. A transformer's stands before its first symbol."""

    kind: Literal["initial"] = "initial"
    start: Start = Field(default_factory=Start)

    def words(self, *, several: bool) -> str:
        """How the decoder sees the source, or `several` of them, in a summary of the recipe."""
        return f"{'the sources give' if several else 'the source gives'} the first state only"


class EveryStepBridge(Section):
    """The first state, and the same summary of the source in the decoder's input at every step."""

    kind: Literal["every_step"] = "every_step"
    start: Start = Field(default_factory=Start)

    def words(self, *, several: bool) -> str:
        """How the decoder sees the source, or `several` of them, in a summary of the recipe."""
        whose = "the sources' summaries are" if several else "the source's summary is"
        return f"{whose} seen at every step"


with warnings.catch_warnings():
    # The key hides a method of pydantic's that is deprecated and not used here.
    warnings.simplefilter("ignore", UserWarning)

    class Pointing(Section):
        """What a bridge that points at source positions can do beside."""

        copy: bool | SourceName = False  # type: ignore[assignment]
        """Whether the symbols that it points at can be written as they are, so that new names and numbers can (See 2017); of
        several texts, the name of that one whose symbols are."""


_USES = {
    "input": "into the input",
    "output": "into the output",
    "combined": "combined with the state",
    "state": "as the new state",
    "concatenated": "concatenated to the state",
}


class AttentionBridge(Pointing):
    """The first state, and a fresh context read from the source at every step."""

    kind: Literal["attention"] = "attention"
    start: Start = Field(default_factory=Start)
    query: Literal["previous", "current"] = "previous"
    into: tuple[Literal["input", "output", "combined", "state", "concatenated"], ...] = ("input",)
    feed: bool = False
    gate: bool = False
    """Whether a share between 0 and 1, learnt from the query, says how much of the context counts (Xu et al. 2015)."""
    attention: Attention = Field(default_factory=Additive)
    looks: Annotated[int, Field(ge=1, le=MOST_LAYERS)] = 1
    """How often a step looks at the sources before it goes on: each look asks with what the one before has read
    (end-to-end memory networks, Sukhbaatar et al. 2015)."""
    coverage_loss: Rate = 0.0
    """Weight of `sum_t sum_j min(a_jt, sum_{i<t} a_ji)` in the loss: do not look again at what was looked at (See 2017)."""
    doubly_stochastic: Rate = 0.0
    """Weight of `sum_j (1 - sum_t a_jt)^2` in the loss: look at every position about once (Xu et al. 2015)."""

    def words(self, *, several: bool) -> str:  # noqa: ARG002
        """How the decoder sees the source, or `several` of them, in a summary of the recipe."""
        uses = " and ".join(_USES[use] for use in self.into)
        feed = " and fed to the next step" if self.feed else ""
        copied = f"; symbols of {'the source' if self.copy is True else self.copy} can be copied" if self.copy else ""
        gated = ", behind a gate" if self.gate else ""
        looks = f", {self.looks} looks one after the other" if self.looks > 1 else ""
        return f"{self.attention.words}{looks}{gated}, queried by the {self.query} state, {uses}{feed}{copied}"

    @model_validator(mode="after")
    def _uses_make_sense(self) -> Self:
        if not self.into:
            raise ValueError(
                "`into` is empty, so the context would be unused. "
                "List at least one of input, output, combined, state, concatenated"
            )
        if len(set(self.into)) != len(self.into):
            raise ValueError(f"`into` names a use twice: {list(self.into)}. Name each once")
        if "input" in self.into and self.query == "current":
            raise ValueError(
                "`into: [input]` needs the context before the current state exists, so it cannot be queried by it. "
                "Use `query: previous`, or `into: [combined]` with `feed: true`"
            )
        if {"output", "combined"} <= set(self.into):
            raise ValueError("`output` and `combined` both bring the context to the output layer. Keep one of them")
        if self.feed and "combined" not in self.into:
            raise ValueError(
                "`feed: true` feeds the combined vector to the next step. Add `combined` to `into`, or remove `feed`"
            )
        self._states_make_sense()
        return self

    @model_validator(mode="after")
    def _weights_can_be_taught(self) -> Self:
        for key, rate in (("coverage_loss", self.coverage_loss), ("doubly_stochastic", self.doubly_stochastic)):
            if rate and isinstance(self.attention, Hard):
                raise ValueError(
                    f"`{key}` teaches soft weights where to lie, and those of hard attention are drawn. "
                    f"Remove `{key}`, or use another kind of attention"
                )
        return self

    @model_validator(mode="after")
    def _one_look_after_the_other_makes_sense(self) -> Self:
        if self.looks == 1:
            return self
        odd = {
            "copy": self.copy,
            "coverage_loss": self.coverage_loss,
            "doubly_stochastic": self.doubly_stochastic,
            "into: [state]": "state" in self.into,
            f"attention: {{kind: {self.attention.kind}}}": isinstance(self.attention, Hard | InStep | Local),
            "coverage: true": isinstance(self.attention, Additive) and self.attention.coverage,
        }
        for key, used in odd.items():
            if used:
                raise ValueError(
                    f"`looks: {self.looks}` looks several times at every step, and `{key}` goes by the one look of a step. "
                    f"Remove `{key}`, or write `looks: 1`"
                )
        return self

    def _states_make_sense(self) -> None:
        """Check the uses that change the state itself."""
        for use in ("state", "concatenated"):
            if use in self.into and len(self.into) > 1:
                raise ValueError(
                    f"`into: [{use}]` decides alone what the output layer and the next step see, so it goes with no other use; "
                    f"found {list(self.into)}. Keep one of them"
                )
        if "state" in self.into and self.query == "previous":
            raise ValueError(
                "`into: [state]` puts the context in the place of the state that asked for it; with `query: previous` nothing "
                "would be left of the current one. Use `query: current`, or `into: [concatenated]`"
            )


class MonotonicBridge(BuiltOnScore):
    """Every symbol is read off one position, and positions never go back. Which ones they are stays open: all ways count.

    For targets that run along with their sources, such as sounds and letters (Wu and Cotterell 2019).
    """

    kind: Literal["monotonic"] = "monotonic"
    score: Score = Field(default_factory=Bilinear)
    reach: Annotated[int, Field(ge=1, le=100)] = 12
    """Up to how many positions forward moves differ by how far they go; all further ones are alike."""

    def words(self, *, several: bool) -> str:  # noqa: ARG002
        """How the decoder sees the source, or `several` of them, in a summary of the recipe."""
        return f"one position for each symbol by {self.score.words}, never back, all ways to go summed"


class CrossAttentionBridge(Section):
    """Every layer of a transformer decoder reads the source by multi-head attention, with the decoder's heads."""

    kind: Literal["cross_attention"] = "cross_attention"
    weights_of: Literal["last", "mean"] | Positive = "last"
    """Whose weights are shown: those of the last layer, the mean of all layers, or those of one layer, counted from 1."""

    def words(self, *, several: bool) -> str:
        """How the decoder sees the source, or `several` of them, in a summary of the recipe."""
        shown = {"last": "of the last", "mean": "the mean of all"}.get(str(self.weights_of), f"of layer {self.weights_of}")
        seen = "every source" if several else "the source"
        return f"every layer of the decoder attends to {seen} (weights shown: {shown})"


Bridge = Annotated[
    NoBridge | InitialBridge | EveryStepBridge | AttentionBridge | MonotonicBridge | CrossAttentionBridge,
    Field(discriminator="kind"),
]
LookingBridge = AttentionBridge | MonotonicBridge | CrossAttentionBridge
"""The bridges that have weights over source positions."""
