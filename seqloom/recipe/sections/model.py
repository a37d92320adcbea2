"""Encoder, decoder, and the bridge between them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from seqloom.recipe.sections.attention import Attention, Dot, MultiHead, score_of
from seqloom.recipe.sections.base import Fraction, Layers, Named, Positive, Section, sized
from seqloom.recipe.sections.bridges import AttentionBridge, Bridge, CrossAttentionBridge, MonotonicBridge, NoBridge, Start
from seqloom.recipe.sections.columns import SOURCE
from seqloom.recipe.sections.frames import FrameTransformerEncoder, PyramidEncoder
from seqloom.recipe.sections.neighbours import check_neighbours
from seqloom.recipe.sections.recurrent import ComparingEncoder, RecurrentDecoder, SameEncoder, TextEncoder
from seqloom.recipe.sections.sentences import AskedEncoder, RelatedEncoder, SentenceEncoder, SentencesEncoder
from seqloom.recipe.sections.transformer import TransformerDecoder, TransformerEncoder
from seqloom.recipe.sections.video import VideoEncoder
from seqloom.recipe.sections.vision import ConvolutionalEncoder, EfficientNetLite0Encoder, GridEncoder


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

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        return f"a dense encoder ({sized(self.size, self.layers)})"

    @model_validator(mode="after")
    def _dropout_acts_somewhere(self) -> Self:
        if self.dropout and self.layers == 1:
            raise ValueError("`dropout` acts between layers, and there is one layer. Remove `dropout`, or use more layers")
        return self


AnyEncoder = (
    TextEncoder
    | TransformerEncoder
    | SentenceEncoder
    | AskedEncoder
    | RelatedEncoder
    | ComparingEncoder
    | DenseEncoder
    | ConvolutionalEncoder
    | EfficientNetLite0Encoder
    | PyramidEncoder
    | FrameTransformerEncoder
    | VideoEncoder
)
Encoder = Annotated[AnyEncoder | SameEncoder, Field(discriminator="kind")]
Encoders = Annotated[dict[str, Encoder], AfterValidator(Named)]
"""An encoder for each source, by the source's name."""
SymbolEncoder = TextEncoder | TransformerEncoder | SentenceEncoder | AskedEncoder | RelatedEncoder | ComparingEncoder
"""The encoders that read symbols."""


Decoder = Annotated[RecurrentDecoder | TransformerDecoder, Field(discriminator="kind")]


class Ctc(Section):
    """A second way to the target: every position of a source says some symbols of it or nothing, in their order."""

    weight: Annotated[float, Field(gt=0, lt=1)] = 0.3
    """Its share of the loss; the rest is cross-entropy."""
    symbols: Annotated[int, Field(ge=1, le=8)] = 1
    """How many symbols a position can say. A frame of sound is a part of one; a letter may stand for two or three."""
    source: str | None = None
    """Whose positions speak, where there are several sources."""


class Model(Section):
    """The encoder of the one source, or the encoders of several; the decoder, and the bridge between them."""

    encoder: Encoder | None = Field(default_factory=TextEncoder)
    encoders: Encoders | None = None
    """Instead of `encoder`, where there are several sources."""
    decoder: Decoder = Field(default_factory=RecurrentDecoder)
    bridge: Bridge = Field(default_factory=AttentionBridge)
    ctc: Ctc | None = None
    """Learned beside attention, so that a search can listen to both. For targets that run along with their sources."""

    @property
    def all_encoders(self) -> tuple[AnyEncoder, ...]:
        """The encoders of all sources, one that reads several as often."""
        if self.encoders is not None:
            return tuple(map(self.encoder_of, self.encoders))
        return () if self.encoder is None or isinstance(self.encoder, SameEncoder) else (self.encoder,)

    def encoder_of(self, name: str) -> AnyEncoder:
        """What reads a source that has a name: its own encoder, or that of another source."""
        encoder = (self.encoders or {})[name]
        return self.encoder_of(encoder.source) if isinstance(encoder, SameEncoder) else encoder

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
        check_neighbours(self.encoder, self.encoders or {})
        encoders = self.all_encoders
        _check_ctc(self.ctc, self.encoders, alone=self.encoder is not None)
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
        if isinstance(self.bridge, CrossAttentionBridge | MonotonicBridge):
            _check_summary(encoders, self.bridge)
        else:
            _check_started(self.encoders or {}, self.bridge.start)
            _check_start(self._starting(self.bridge.start), self.decoder, self.bridge.start)
        if isinstance(self.bridge, MonotonicBridge):
            _check_monotonic(self.encoders, self.decoder)
            _check_dot(encoders, self.decoder, self.bridge.score)
        if isinstance(self.bridge, AttentionBridge) and isinstance(self.decoder, RecurrentDecoder):
            _check_dot(encoders, self.decoder, self.bridge.attention)
            _check_state(encoders, self.decoder, self.bridge)
            _check_copy(self._copyable(), self.decoder, self.bridge)
        return self

    def _copyable(self) -> dict[str, AnyEncoder]:
        """The encoders by the names of their sources."""
        if self.encoders is None:
            return {SOURCE: self.all_encoders[0]}
        return {name: self.encoder_of(name) for name in self.encoders}

    def _starting(self, start: Start) -> tuple[AnyEncoder, ...]:
        """The encoders of the sources that give the first state."""
        return tuple(map(self.encoder_of, start.sources)) or self.all_encoders


def _check_started(encoders: Mapping[str, object], start: Start) -> None:
    """Check that the first state comes from sources that there are, and as many as can be compared."""
    if unknown := [name for name in start.sources if name not in encoders]:
        there = f"`encoders` names {', '.join(encoders)}" if encoders else "there is one source"
        raise ValueError(f"`start: {{sources: [{unknown[0]}]}}` names no source: {there}. Name one of these, or none")
    count = len(start.sources or encoders) or 1
    if start.compare and count != 2:
        raise ValueError(f"`compare: true` compares the last states of two sources, found {count}. Name two in `sources`")


def _check_ctc(ctc: Ctc | None, encoders: Encoders | None, *, alone: bool) -> None:
    """Check that it is clear whose positions speak."""
    if ctc is None:
        return
    if not alone and not encoders:
        raise ValueError("`ctc` lets the positions of a source speak, and there is none. Remove `ctc`")
    if encoders is not None and ctc.source not in encoders:
        raise ValueError(f"`ctc` needs the name of a source whose positions speak: `source: {next(iter(encoders))}`, say")
    if encoders is None and ctc.source is not None:
        raise ValueError("`ctc.source` is for models of several sources, and there is one. Remove it")


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
    if any(isinstance(encoder, ComparingEncoder) for encoder in encoders):
        raise ValueError(
            "`start: {dense: 0}` would hand what a comparing encoder sums up, twice as wide as its states, to the decoder as "
            "it is. Use `start: {dense: 1}`"
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


def _check_monotonic(encoders: Encoders | None, decoder: Decoder) -> None:
    """Check that there is one source to walk along, and a decoder that knows what was read off it."""
    if not isinstance(decoder, RecurrentDecoder):
        raise ValueError(
            "`bridge: {kind: monotonic}` reads a symbol off one position for each state of a recurrent decoder; a "
            f"{decoder.kind} decoder reads in every layer. Write `decoder: {{kind: recurrent}}`, or leave the bridge out"
        )
    if encoders is not None and len(encoders) > 1:
        raise ValueError(
            f"`bridge: {{kind: monotonic}}` walks along one source, and there are {len(encoders)}. "
            "Write `bridge: {kind: attention}`"
        )
    if not decoder.reads_symbols:
        raise ValueError(
            f"`inputs: {{kind: {decoder.inputs.kind}}}` keeps from the decoder which symbols were written, and "
            "`bridge: {kind: monotonic}` knows by them how far it has come. Write `inputs: {kind: teacher}`"
        )


def _check_summary(encoders: Sequence[AnyEncoder], bridge: CrossAttentionBridge | MonotonicBridge) -> None:
    """Check that nothing is said of summaries, where none is read."""
    for encoder in encoders:
        if isinstance(encoder, GridEncoder) and encoder.summary != "pool":
            raise ValueError(
                f"`summary: {encoder.summary}` makes one vector of an image, and `bridge: {{kind: {bridge.kind}}}` reads the "
                "states alone. Remove `summary`"
            )


def _check_dot(encoders: Sequence[AnyEncoder], decoder: Decoder, attention: Attention) -> None:
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


def _check_copy(encoders: Mapping[str, AnyEncoder], decoder: RecurrentDecoder, bridge: AttentionBridge) -> None:
    if not bridge.copy:
        return
    texts = [name for name, one in encoders.items() if isinstance(one, SymbolEncoder) and not isinstance(one, SentencesEncoder)]
    if not texts:
        raise ValueError(
            f"`copy: true` copies symbols of the source, and the encoder {next(iter(encoders.values())).kind} has no positions "
            "for them. Use the encoder text or transformer, or remove `copy`"
        )
    if bridge.copy is True and len(texts) > 1:
        raise ValueError(
            f"`copy: true` copies symbols of one source, and {' and '.join(texts)} have symbols. Name it: `copy: {texts[0]}`"
        )
    if bridge.copy is not True and bridge.copy not in texts:
        raise ValueError(
            f"`copy: {bridge.copy}` names no source whose symbols can be copied; found {', '.join(texts)}. Name one of them"
        )
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
        key = "embedding" if isinstance(texts[0], TextEncoder | ComparingEncoder) else "size"
        raise ValueError(
            f"`tied: all` needs one embedding width on both sides; the encoder has {texts[0].embedding}, the decoder "
            f"{decoder.embedding}. Write `{key}: {decoder.embedding}` in the encoder, or `tied: output`"
        )
