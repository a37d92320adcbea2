"""Encoder, decoder, and the bridge between them."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from seqloom.recipe.sections.attention import Additive, Attention, Dot, Hard, MultiHead, score_of
from seqloom.recipe.sections.base import MOST_LAYERS, Fraction, Layers, Named, Positive, Rate, Section
from seqloom.recipe.sections.inputs import DistributionInputs, Inputs, NoInputs, TeacherInputs
from seqloom.recipe.sections.transformer import TransformerDecoder, TransformerEncoder
from seqloom.recipe.sections.vision import ConvolutionalEncoder, EfficientNetLite0Encoder, GridEncoder


class Recurrence(Section):
    """What recurrent encoders and decoders share: the cell (C1-C3) and its sizes."""

    cell: Literal["rnn", "gru", "lstm"] = "gru"
    reset: Literal["before", "after"] | None = None
    """GRU only. `before`, the default: W (o * s), as in the lectures; `after`: o * (W s), as torch computes it."""
    activation: Literal["tanh", "logistic"] = "tanh"
    size: Positive = 256
    layers: Layers = 1
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


class DenseEncoder(Section):
    """Reads a vector of numbers with fully connected layers. The decoder sees one position, as wide as `size`."""

    kind: Literal["dense"] = "dense"
    size: Positive = 128
    layers: Layers = 1
    activation: Literal["tanh", "logistic", "relu"] = "tanh"
    dropout: Fraction = 0.0
    """On what each layer but the last hands on."""

    @property
    def memory_size(self) -> int:
        """The width of the one state that the encoder writes."""
        return self.size

    @model_validator(mode="after")
    def _dropout_acts_somewhere(self) -> Self:
        if self.dropout and self.layers == 1:
            raise ValueError("`dropout` acts between layers, and there is one layer. Remove `dropout`, or use more layers")
        return self


AnyEncoder = TextEncoder | TransformerEncoder | DenseEncoder | ConvolutionalEncoder | EfficientNetLite0Encoder
Encoder = Annotated[AnyEncoder, Field(discriminator="kind")]
Encoders = Annotated[dict[str, Encoder], AfterValidator(Named)]
"""An encoder for each source, by the source's name."""
SymbolEncoder = TextEncoder | TransformerEncoder
"""The encoders that read symbols."""


class RecurrentDecoder(Recurrence):
    """Writes the target one symbol at a time."""

    kind: Literal["recurrent"] = "recurrent"
    inputs: Inputs = TeacherInputs()
    """What each step is given of the step before."""
    output_dropout: Fraction | None = None
    """On what the output layer sees; `None` means as `dropout`."""
    tied: Literal["none", "output", "all"] = "none"
    """`output`: the output layer is the target embedding; `all`: and the source embedding too (needs a shared vocabulary)."""

    @property
    def reads_symbols(self) -> bool:
        """Whether what was written is read by the next step; else outputs depend on the source alone."""
        return not isinstance(self.inputs, DistributionInputs | NoInputs)

    @property
    def output_rate(self) -> float:
        """The rate of dropout before the output layer."""
        return self.dropout if self.output_dropout is None else self.output_dropout

    def own_rates(self) -> dict[str, float | None]:
        """The rates that replace `dropout` in one place each, by key."""
        return {**super().own_rates(), "output_dropout": self.output_dropout}

    @model_validator(mode="after")
    def _symbols_left_out_are_read(self) -> Self:
        if self.embedding_dropout and isinstance(self.inputs, NoInputs):
            raise ValueError(
                "`embedding_dropout` leaves out symbols that the decoder reads, and with `inputs: {kind: none}` it reads none. "
                "Remove `embedding_dropout`, or give the decoder inputs"
            )
        return self


Decoder = Annotated[RecurrentDecoder | TransformerDecoder, Field(discriminator="kind")]


class Start(Section):
    """How the first state comes from the source: `dense: 0` is the identity, else that many dense layers."""

    dense: Annotated[int, Field(ge=0, le=MOST_LAYERS)] = 1


class NoBridge(Section):
    """No source: the decoder is a language model."""

    kind: Literal["none"] = "none"


class InitialBridge(Section):
    """Only the decoder's first state depends on the source. A transformer's stands before its first symbol."""

    kind: Literal["initial"] = "initial"
    start: Start = Start()


class EveryStepBridge(Section):
    """The first state, and the same summary of the source in the decoder's input at every step."""

    kind: Literal["every_step"] = "every_step"
    start: Start = Start()


with warnings.catch_warnings():
    # The key hides a method of pydantic's that is deprecated and not used here.
    warnings.simplefilter("ignore", UserWarning)

    class Pointing(Section):
        """What a bridge that points at source positions can do beside."""

        copy: bool = False  # type: ignore[assignment]
        """Whether the symbols that it points at can be written as they are, so that new names and numbers can (See 2017)."""


class AttentionBridge(Pointing):
    """The first state, and a fresh context read from the source at every step."""

    kind: Literal["attention"] = "attention"
    start: Start = Start()
    query: Literal["previous", "current"] = "previous"
    into: tuple[Literal["input", "output", "combined", "state", "concatenated"], ...] = ("input",)
    feed: bool = False
    gate: bool = False
    """Whether a share between 0 and 1, learnt from the query, says how much of the context counts (Xu et al. 2015)."""
    attention: Attention = Additive()
    coverage_loss: Rate = 0.0
    """Weight of `sum_t sum_j min(a_jt, sum_{i<t} a_ji)` in the loss: do not look again at what was looked at (See 2017)."""
    doubly_stochastic: Rate = 0.0
    """Weight of `sum_j (1 - sum_t a_jt)^2` in the loss: look at every position about once (Xu et al. 2015)."""

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


class CrossAttentionBridge(Section):
    """Every layer of a transformer decoder reads the source by multi-head attention, with the decoder's heads."""

    kind: Literal["cross_attention"] = "cross_attention"
    weights_of: Literal["last", "mean"] | Positive = "last"
    """Whose weights are shown: those of the last layer, the mean of all layers, or those of one layer, counted from 1."""


Bridge = Annotated[
    NoBridge | InitialBridge | EveryStepBridge | AttentionBridge | CrossAttentionBridge, Field(discriminator="kind")
]
LookingBridge = AttentionBridge | CrossAttentionBridge
"""The bridges that have weights over source positions."""


class Model(Section):
    """The encoder of the one source, or the encoders of several; the decoder, and the bridge between them."""

    encoder: Encoder | None = TextEncoder()
    encoders: Encoders | None = None
    """Instead of `encoder`, where there are several sources."""
    decoder: Decoder = RecurrentDecoder()
    bridge: Bridge = AttentionBridge()

    @property
    def all_encoders(self) -> tuple[AnyEncoder, ...]:
        """The encoders of all sources."""
        if self.encoders is not None:
            return tuple(self.encoders.values())
        return () if self.encoder is None else (self.encoder,)

    @model_validator(mode="before")
    @classmethod
    def _encoders_take_the_place_of_one(cls, body: Any) -> Any:
        """Leave the default encoder out where there are encoders by name."""
        if isinstance(body, dict) and body.get("encoders") is not None and "encoder" not in body:
            return {**body, "encoder": None}
        return body

    @model_validator(mode="before")
    @classmethod
    def _a_transformer_reads_in_every_layer(cls, body: Any) -> Any:
        """Give a transformer decoder the bridge that is made for it, if none is named."""
        if not isinstance(body, dict) or "bridge" in body:
            return body
        decoder = body.get("decoder")
        kind = decoder.get("kind") if isinstance(decoder, dict) else getattr(decoder, "kind", None)
        return {**body, "bridge": CrossAttentionBridge()} if kind == "transformer" else body

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.encoders is not None and self.encoder is not None:
            raise ValueError("`encoder` is for one source and `encoders` for several, by their names. Remove one of them")
        if self.encoders is not None and not self.encoders:
            raise ValueError("`encoders` names no source. Give an encoder for each source, or write `encoder` for the only one")
        encoders = self.all_encoders
        _check_tied(encoders, self.decoder)
        _check_reading(self.decoder, self.bridge)
        if isinstance(self.bridge, NoBridge):
            if encoders:
                key = "encoder" if self.encoders is None else "encoders"
                raise ValueError(f"`bridge: {{kind: none}}` is a language model and reads no source. Write `{key}: null` too")
            _check_language_model(self.decoder)
            return self
        if not encoders:
            raise ValueError(f"the bridge {self.bridge.kind} needs an encoder. Add one, or write `bridge: {{kind: none}}`")
        if isinstance(self.bridge, CrossAttentionBridge):
            _check_summary(encoders)
        else:
            _check_start(encoders, self.decoder, self.bridge.start)
        if isinstance(self.bridge, AttentionBridge) and isinstance(self.decoder, RecurrentDecoder):
            _check_dot(encoders, self.decoder, self.bridge.attention)
            _check_state(encoders, self.decoder, self.bridge)
            _check_copy(encoders, self.decoder, self.bridge)
        return self


def _check_reading(decoder: Decoder, bridge: Bridge) -> None:
    """Check that the decoder can read the source in the bridge's way."""
    if isinstance(decoder, TransformerDecoder) and isinstance(bridge, AttentionBridge):
        raise ValueError(
            "`bridge: {kind: attention}` reads one context a step for the state of a recurrent decoder, and its keys say what "
            "becomes of it; a transformer decoder reads one in every layer. Write `bridge: {kind: cross_attention}`, or "
            "`decoder: {kind: recurrent}`"
        )
    if not isinstance(bridge, CrossAttentionBridge):
        return
    if not isinstance(decoder, TransformerDecoder):
        raise ValueError(
            "`bridge: {kind: cross_attention}` reads the source in every layer of a transformer decoder, and this decoder is "
            f"{decoder.kind}. Write `bridge: {{kind: attention, attention: {{kind: multi_head}}}}`, or `decoder: {{kind: "
            "transformer}`"
        )
    if isinstance(bridge.weights_of, int) and bridge.weights_of > decoder.layers:
        raise ValueError(
            f"`weights_of: {bridge.weights_of}` names a layer of the decoder, which has {decoder.layers}. "
            f"Use a number up to {decoder.layers}, last or mean"
        )


def _check_language_model(decoder: Decoder) -> None:
    if not decoder.reads_symbols:
        raise ValueError(
            f"`inputs: {{kind: {decoder.inputs.kind}}}` keeps from the decoder which symbols were written, and a language "
            "model has nothing else to go by. Write `inputs: {kind: teacher}`, or give the model an encoder and a bridge"
        )


def _check_start(encoders: Sequence[AnyEncoder], decoder: Decoder, start: Start) -> None:
    if start.dense > 0:
        return
    if any(isinstance(encoder, GridEncoder) and encoder.summary == "flatten" for encoder in encoders):
        raise ValueError(
            "`start: {dense: 0}` would hand all states side by side, which `summary: flatten` makes of an image, to the "
            "decoder as they are. Use `start: {dense: 1}`, or another `summary`"
        )
    width = sum(encoder.memory_size for encoder in encoders)
    if width != decoder.size:
        last = "the encoder's last state" if len(encoders) == 1 else "the encoders' last states side by side"
        raise ValueError(
            f"`start: {{dense: 0}}` hands {last} ({width} wide) to a decoder of size "
            f"{decoder.size} as it is. Make the widths agree, or use `start: {{dense: 1}}`"
        )
    if not isinstance(decoder, RecurrentDecoder) or decoder.cell != "lstm":
        return
    for encoder in encoders:
        if not isinstance(encoder, TextEncoder):
            raise ValueError(
                f"`start: {{dense: 0}}` cannot start an lstm decoder, which has two states, from a {encoder.kind} encoder, "
                "which has one. Use `cell: gru` in the decoder, or `start: {dense: 1}`"
            )
        if encoder.cell != "lstm":
            raise ValueError(
                f"`start: {{dense: 0}}` cannot start an lstm decoder, which has two states, from an encoder of cell "
                f"{encoder.cell}, which has one. Use `cell: lstm` in the encoder, or `start: {{dense: 1}}`"
            )


def _check_summary(encoders: Sequence[AnyEncoder]) -> None:
    """Check that nothing is said of summaries, where none is read."""
    for encoder in encoders:
        if isinstance(encoder, GridEncoder) and encoder.summary != "pool":
            raise ValueError(
                f"`summary: {encoder.summary}` makes one vector of an image, and `bridge: {{kind: cross_attention}}` reads the "
                "states alone. Remove `summary`"
            )


def _check_dot(encoders: Sequence[AnyEncoder], decoder: RecurrentDecoder, attention: Attention) -> None:
    for encoder in encoders:
        if isinstance(score_of(attention), Dot) and encoder.memory_size != decoder.size:
            raise ValueError(
                f"dot attention multiplies a decoder state of size {decoder.size} with encoder states of size "
                f"{encoder.memory_size}. Make them agree (a bidirectional encoder writes twice its size), or use "
                "`kind: bilinear`"
            )


def _check_state(encoders: Sequence[AnyEncoder], decoder: RecurrentDecoder, bridge: AttentionBridge) -> None:
    width = sum(context_size(bridge.attention, encoder.memory_size) for encoder in encoders)
    if "state" in bridge.into and width != decoder.size:
        raise ValueError(
            f"`into: [state]` puts a context {width} wide in the place of a decoder state of size {decoder.size}. Make them "
            "agree (a bidirectional encoder writes twice its size), or use `into: [concatenated]`"
        )


def _check_copy(encoders: Sequence[AnyEncoder], decoder: RecurrentDecoder, bridge: AttentionBridge) -> None:
    if not bridge.copy:
        return
    texts = [encoder for encoder in encoders if isinstance(encoder, SymbolEncoder)]
    if not texts:
        raise ValueError(
            f"`copy: true` copies symbols of the source, and the encoder {encoders[0].kind} reads none. "
            "Use the encoder text or transformer, or remove `copy`"
        )
    if len(texts) > 1:
        raise ValueError("`copy: true` copies symbols of one source, and several encoders read symbols. Remove `copy`")
    if not decoder.reads_symbols:
        raise ValueError(
            f"`copy: true` goes with a decoder that reads what it wrote, copies too; with `inputs: {{kind: "
            f"{decoder.inputs.kind}}}` it does not. Write `inputs: {{kind: teacher}}`, or remove `copy`"
        )


def context_size(attention: Attention, memory_size: int) -> int:
    """The width of what an attention reads from states of the given width."""
    return attention.size if isinstance(attention, MultiHead) else memory_size


def _check_tied(encoders: Sequence[AnyEncoder], decoder: Decoder) -> None:
    if decoder.tied != "none" and decoder.embedding != decoder.size:
        raise ValueError(
            f"`tied: {decoder.tied}` uses the embedding ({decoder.embedding} wide) as the output layer of a decoder of size "
            f"{decoder.size}. Write `embedding: {decoder.size}` in the decoder, or `tied: none`"
        )
    if decoder.tied != "all" or not encoders:
        return
    texts = [encoder for encoder in encoders if isinstance(encoder, SymbolEncoder)]
    if not texts:
        raise ValueError(
            f"`tied: all` shares the source's embedding, and a {encoders[0].kind} encoder has none. Write `tied: output`"
        )
    if len(texts) > 1:
        raise ValueError("`tied: all` shares the embedding of one source, and several encoders have one. Write `tied: output`")
    if texts[0].embedding != decoder.embedding:
        key = "embedding" if isinstance(texts[0], TextEncoder) else "size"
        raise ValueError(
            f"`tied: all` needs one embedding width on both sides; the encoder has {texts[0].embedding}, the decoder "
            f"{decoder.embedding}. Write `{key}: {decoder.embedding}` in the encoder, or `tied: output`"
        )
