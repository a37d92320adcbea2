"""Encoder, decoder, and the bridge between them."""

from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.base import Count, Fraction, Positive, Section


class Recurrence(Section):
    """What recurrent encoders and decoders share: the cell (C1-C3) and its sizes."""

    cell: Literal["rnn", "gru", "lstm"] = "gru"
    reset: Literal["before", "after"] | None = None
    """GRU only. `before`, the default: W (o * s), as in the lectures; `after`: o * (W s), as torch computes it."""
    activation: Literal["tanh", "logistic"] = "tanh"
    size: Positive = 256
    layers: Positive = 1
    embedding: Positive = 128
    dropout: Fraction = 0.0
    """On embeddings, between layers and before the output layer, unless a rate of its own is given there."""
    input_dropout: Fraction | None = None
    """On embeddings; `None` means as `dropout`."""
    embedding_dropout: Fraction = 0.0
    """Symbols whose whole embedding is left out of an update; as the rows of a tied output layer they stay."""
    weight_dropout: Fraction = 0.0
    """Entries of the matrices from state to gates that are left out of an update, the same ones at all steps."""
    locked: bool = False
    """Whether dropout leaves out the same at all steps of a sequence."""

    @property
    def input_rate(self) -> float:
        """The rate of dropout on embeddings."""
        return self.dropout if self.input_dropout is None else self.input_dropout

    def own_rates(self) -> dict[str, float | None]:
        """The rates that replace `dropout` in one place each, by key."""
        return {"input_dropout": self.input_dropout}

    @model_validator(mode="after")
    def _dropout_acts_somewhere(self) -> Self:
        own = self.own_rates()
        if self.dropout and self.layers == 1 and None not in own.values():
            says = "says" if len(own) == 1 else "say"
            raise ValueError(
                f"`dropout` would act between layers only, as {_listed(own)} {says} what happens elsewhere, and there is one "
                "layer. Remove `dropout`, or use more layers"
            )
        if self.locked and not self.dropout and not any(own.values()):
            raise ValueError(
                "`locked: true` says how dropout is drawn, and there is none here. "
                f"Give `dropout` or {_listed(own, ' or ')} a rate above 0, or remove `locked`"
            )
        return self

    @model_validator(mode="after")
    def _reset_is_of_gru(self) -> Self:
        if self.reset is not None and self.cell != "gru":
            raise ValueError(f"`reset` belongs to the cell gru; this cell is {self.cell}. Remove `reset` or write `cell: gru`")
        return self


def _listed(keys: Iterable[str], joint: str = " and ") -> str:
    return joint.join(f"`{key}`" for key in keys)


class TextEncoder(Recurrence):
    """Reads a sequence of symbols with a recurrent network. With `bidirectional`, `size` is that of one direction."""

    kind: Literal["text"] = "text"
    size: Positive = 128
    bidirectional: bool = True

    @property
    def memory_size(self) -> int:
        """The width of each state that the encoder writes."""
        return self.size * (2 if self.bidirectional else 1)


class RecurrentDecoder(Recurrence):
    """Writes the target one symbol at a time."""

    kind: Literal["recurrent"] = "recurrent"
    output_dropout: Fraction | None = None
    """On what the output layer sees; `None` means as `dropout`."""
    tied: Literal["none", "output", "all"] = "none"
    """`output`: the output layer is the target embedding; `all`: and the source embedding too (needs a shared vocabulary)."""

    @property
    def output_rate(self) -> float:
        """The rate of dropout before the output layer."""
        return self.dropout if self.output_dropout is None else self.output_dropout

    def own_rates(self) -> dict[str, float | None]:
        """The rates that replace `dropout` in one place each, by key."""
        return {**super().own_rates(), "output_dropout": self.output_dropout}


class Start(Section):
    """How the first state comes from the source: `dense: 0` is the identity, else that many dense layers."""

    dense: Count = 1


class Dot(Section):
    """`s^T h_j` (A4)."""

    kind: Literal["dot"] = "dot"
    scaled: bool = False


class Bilinear(Section):
    """`s^T W h_j` (A4)."""

    kind: Literal["bilinear"] = "bilinear"


class Additive(Section):
    """`V^T tanh(U s + W h_j)` (A2)."""

    kind: Literal["additive"] = "additive"
    size: Positive = 128


class Concat(Section):
    """`w_2^T tanh(W_1 [s; h_j])` (A4)."""

    kind: Literal["concat"] = "concat"
    size: Positive = 128


class MultiHead(Section):
    """Several scaled dot products side by side (A9). `size` is the width of all heads together."""

    kind: Literal["multi_head"] = "multi_head"
    heads: Positive = 4
    size: Positive = 256

    @model_validator(mode="after")
    def _heads_share_the_size(self) -> Self:
        if self.size % self.heads:
            near = [n for n in range(1, self.size + 1) if self.size % n == 0 and n <= 2 * self.heads]
            raise ValueError(
                f"{self.heads} heads cannot share a size of {self.size}. "
                f"Use a number of heads that divides {self.size}, such as {' or '.join(map(str, near[-2:]))}"
            )
        return self


Attention = Annotated[Dot | Bilinear | Additive | Concat | MultiHead, Field(discriminator="kind")]


class NoBridge(Section):
    """No source: the decoder is a language model."""

    kind: Literal["none"] = "none"


class InitialBridge(Section):
    """Option 1 (E3): only the decoder's first state depends on the source."""

    kind: Literal["initial"] = "initial"
    start: Start = Start()


class EveryStepBridge(Section):
    """Option 2 (E4): the first state, and the same summary of the source in the cell's input at every step."""

    kind: Literal["every_step"] = "every_step"
    start: Start = Start()


class AttentionBridge(Section):
    """The first state, and a fresh context read from the source at every step (A1)."""

    kind: Literal["attention"] = "attention"
    start: Start = Start()
    query: Literal["previous", "current"] = "previous"
    into: tuple[Literal["input", "output", "combined"], ...] = ("input",)
    feed: bool = False
    attention: Attention = Additive()

    @model_validator(mode="after")
    def _uses_make_sense(self) -> Self:
        if not self.into:
            raise ValueError("`into` is empty, so the context would be unused. List at least one of input, output, combined")
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
        return self


Bridge = Annotated[NoBridge | InitialBridge | EveryStepBridge | AttentionBridge, Field(discriminator="kind")]


class Model(Section):
    """The encoder, the decoder, and the bridge between them."""

    encoder: TextEncoder | None = TextEncoder()
    decoder: RecurrentDecoder = RecurrentDecoder()
    bridge: Bridge = AttentionBridge()

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        _check_tied(self.encoder, self.decoder)
        if isinstance(self.bridge, NoBridge):
            if self.encoder is not None:
                raise ValueError("`bridge: {kind: none}` is a language model and reads no source. Write `encoder: null` too")
            return self
        if self.encoder is None:
            raise ValueError(f"the bridge {self.bridge.kind} needs an encoder. Add one, or write `bridge: {{kind: none}}`")
        _check_start(self.encoder, self.decoder, self.bridge.start)
        if isinstance(self.bridge, AttentionBridge):
            _check_dot(self.encoder, self.decoder, self.bridge.attention)
        return self


def _check_start(encoder: TextEncoder, decoder: RecurrentDecoder, start: Start) -> None:
    if start.dense > 0:
        return
    if encoder.memory_size != decoder.size:
        raise ValueError(
            f"`start: {{dense: 0}}` hands the encoder's last state ({encoder.memory_size} wide) to a decoder of size "
            f"{decoder.size} as it is. Make the widths agree, or use `start: {{dense: 1}}`"
        )
    if decoder.cell == "lstm" and encoder.cell != "lstm":
        raise ValueError(
            f"`start: {{dense: 0}}` cannot start an lstm decoder, which has two states, from an encoder of cell "
            f"{encoder.cell}, which has one. Use `cell: lstm` in the encoder, or `start: {{dense: 1}}`"
        )


def _check_dot(encoder: TextEncoder, decoder: RecurrentDecoder, attention: Attention) -> None:
    if isinstance(attention, Dot) and encoder.memory_size != decoder.size:
        raise ValueError(
            f"dot attention multiplies a decoder state of size {decoder.size} with encoder states of size "
            f"{encoder.memory_size}. Make them agree (a bidirectional encoder writes twice its size), or use `kind: bilinear`"
        )


def _check_tied(encoder: TextEncoder | None, decoder: RecurrentDecoder) -> None:
    if decoder.tied != "none" and decoder.embedding != decoder.size:
        raise ValueError(
            f"`tied: {decoder.tied}` uses the embedding ({decoder.embedding} wide) as the output layer of a decoder of size "
            f"{decoder.size}. Write `embedding: {decoder.size}` in the decoder, or `tied: none`"
        )
    if decoder.tied == "all" and encoder is not None and encoder.embedding != decoder.embedding:
        raise ValueError(
            f"`tied: all` needs one embedding width on both sides; the encoder has {encoder.embedding}, the decoder "
            f"{decoder.embedding}. Write `embedding: {decoder.embedding}` in the encoder, or `tied: output`"
        )
