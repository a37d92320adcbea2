"""The sections of a recipe: plain validated data, a closed union (`kind:`) per slot, unknown keys refused.

Defaults are those we would choose ourselves for small data on a CPU. Nothing here imports torch.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Metric = Literal["loss", "exact_match", "symbol_error_rate", "cer", "wer", "bleu", "chrf"]


class Section(BaseModel):
    """Base of all sections: immutable, and a key that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


# --- data -----------------------------------------------------------------------------------------------------------


class VocabularySection(Section):
    """What all vocabularies share."""

    lowercase: bool = False
    normalise: Literal["none", "nfc", "nfd", "nfkc", "nfkd"] = "nfc"
    begin_end: bool = False
    """Put `begin` and `end` around a source (a target always has them)."""


class Characters(VocabularySection):
    """One symbol per character, or per grapheme cluster (what a reader calls a character)."""

    kind: Literal["characters"] = "characters"
    graphemes: bool = False
    minimum_count: Positive = 1


class Words(VocabularySection):
    """One symbol per word or punctuation mark; rarer words than `minimum_count` are unknown."""

    kind: Literal["words"] = "words"
    size: Positive | None = None
    minimum_count: Positive = 1


class Symbols(VocabularySection):
    """One symbol per piece between spaces: phonemes, tags, tokenised text."""

    kind: Literal["symbols"] = "symbols"
    size: Positive | None = None
    minimum_count: Positive = 1


class Bpe(VocabularySection):
    """Subwords by byte-pair encoding."""

    kind: Literal["bpe"] = "bpe"
    size: Annotated[int, Field(ge=8)] = 8000


class Unigram(VocabularySection):
    """Subwords by a unigram language model."""

    kind: Literal["unigram"] = "unigram"
    size: Annotated[int, Field(ge=8)] = 8000


Vocabulary = Annotated[Characters | Words | Symbols | Bpe | Unigram, Field(discriminator="kind")]

ColumnName = Annotated[int, Field(ge=1)] | str
"""A column by its number, counted from 1, or by its name in the header line."""


class Columns(Section):
    """Which columns of a table hold what."""

    source: ColumnName = 1
    target: ColumnName = 2
    weight: ColumnName | None = None
    features: tuple[ColumnName, ...] = ()


class Aligned(Section):
    """Two text files, line i of one belonging to line i of the other."""

    source: str | tuple[str, ...]
    target: str | tuple[str, ...]


Files = str | tuple[str, ...] | Aligned


class Split(Section):
    """Shares of `train` that become validation and test, chosen by a hash of the source: equal sources stay together."""

    validation: Fraction = 0.05
    test: Fraction = 0.05

    @model_validator(mode="after")
    def _something_is_left(self) -> Self:
        if self.validation + self.test >= 1:
            raise ValueError(
                f"validation {self.validation} and test {self.test} leave nothing to train on. Make their sum less than 1"
            )
        return self


class Vocabularies(Section):
    """One vocabulary per side, or one for both (`shared`: the source's section then serves both)."""

    source: Vocabulary = Characters()
    target: Vocabulary = Characters()
    shared: bool = False


class Data(Section):
    """Where examples come from and how text becomes symbols."""

    builtin: Literal["dates"] | None = None
    train: Files | None = None
    validation: Files | None = None
    test: Files | None = None
    split: Split = Split()
    format: Literal["auto", "tsv", "csv", "jsonl", "parquet", "text"] = "auto"
    columns: Columns = Columns()
    vocabularies: Vocabularies = Vocabularies()
    maximum_length: Positive = 500
    """Longer sides, in symbols, are left out of training, counted and reported."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        for name in ("train", "validation", "test"):
            if getattr(self, name) == ():
                raise ValueError(f"`{name}` lists no files. Name at least one, or leave `{name}` out")
        if self.builtin is None and self.train is None:
            raise ValueError("give `train` (a file or a list of files) or `builtin` (the name of a built-in task)")
        if self.builtin is not None and (self.train or self.validation or self.test):
            raise ValueError("`builtin` brings its own examples: remove `train`, `validation` and `test`, or remove `builtin`")
        return self


# --- model ----------------------------------------------------------------------------------------------------------


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

    @model_validator(mode="after")
    def _reset_is_of_gru(self) -> Self:
        if self.reset is not None and self.cell != "gru":
            raise ValueError(f"`reset` belongs to the cell gru; this cell is {self.cell}. Remove `reset` or write `cell: gru`")
        return self


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
    tied: Literal["none", "output", "all"] = "none"
    """`output`: the output layer is the target embedding; `all`: and the source embedding too (needs a shared vocabulary)."""


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


# --- training -------------------------------------------------------------------------------------------------------


class Adam(Section):
    """Adam; `epsilon` is torch's eps."""

    kind: Literal["adam"] = "adam"
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    epsilon: Annotated[float, Field(gt=0)] = 1e-8


class AdamW(Section):
    """Adam with decoupled weight decay."""

    kind: Literal["adamw"] = "adamw"
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    epsilon: Annotated[float, Field(gt=0)] = 1e-8
    weight_decay: Annotated[float, Field(ge=0)] = 0.01


class Sgd(Section):
    """Gradient descent, with momentum if wanted."""

    kind: Literal["sgd"] = "sgd"
    momentum: Fraction = 0.0
    weight_decay: Annotated[float, Field(ge=0)] = 0.0


Optimiser = Annotated[Adam | AdamW | Sgd, Field(discriminator="kind")]


class Constant(Section):
    """The learning rate stays, after `warmup` steps of linear rise."""

    kind: Literal["constant"] = "constant"
    warmup: Count = 0


class Linear(Section):
    """Linear fall to `final` times the learning rate at the last step, after `warmup`."""

    kind: Literal["linear"] = "linear"
    warmup: Count = 0
    final: Annotated[float, Field(ge=0, le=1)] = 0.0


class Cosine(Section):
    """Half a cosine down to `final` times the learning rate at the last step, after `warmup`."""

    kind: Literal["cosine"] = "cosine"
    warmup: Count = 0
    final: Annotated[float, Field(ge=0, le=1)] = 0.0


class InverseSqrt(Section):
    """Falls as 1/sqrt(step) after `warmup`."""

    kind: Literal["inverse_sqrt"] = "inverse_sqrt"
    warmup: Positive = 1000


class Plateau(Section):
    """Multiplied by `factor` whenever `patience` validations bring nothing better."""

    kind: Literal["plateau"] = "plateau"
    warmup: Count = 0
    factor: Annotated[float, Field(gt=0, lt=1)] = 0.5
    patience: Positive = 1


Schedule = Annotated[Constant | Linear | Cosine | InverseSqrt | Plateau, Field(discriminator="kind")]


class Validation(Section):
    """When the model is judged, and by what."""

    every_steps: Positive | None = None
    """Validate every so many steps; once an epoch if not given. The last step is always validated."""
    metric: Metric = "loss"
    examples: Positive = 500
    """How many validation examples are decoded (greedily) for metrics and samples; the loss is over all of them."""
    patience: Positive | None = None
    """Stop after so many validations without an improvement."""


class Checkpoint(Section):
    """How often the state of training is saved, whichever comes first."""

    seconds: Annotated[float, Field(gt=0)] = 60.0
    steps: Positive | None = None


class Training(Section):
    """How the model learns."""

    epochs: Positive = 10
    steps: Positive | None = None
    """Stop after so many updates, even within an epoch."""
    batch_tokens: Positive = 4000
    """A batch holds at most so many symbols on its longer side, padding included."""
    batch_size: Positive | None = None
    accumulate: Positive = 1
    optimiser: Optimiser = Adam()
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    schedule: Schedule = Constant()
    clip: Annotated[float, Field(gt=0)] | None = 1.0
    label_smoothing: Fraction = 0.0
    average: Literal["tokens", "sequences"] = "tokens"
    validation: Validation = Validation()
    checkpoint: Checkpoint = Checkpoint()
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    threads: Positive | None = None
    tensorboard: bool = False


# --- search ---------------------------------------------------------------------------------------------------------


class SearchSection(Section):
    """What all searches share. The longest output is `length_factor * source length + length_extra` symbols, `end` included."""

    length_factor: Annotated[float, Field(ge=0)] = 2.0
    length_extra: Count = 10
    minimum_length: Count = 0
    """So many symbols before `end` may come."""
    forbid: tuple[str, ...] = ()
    """Symbols that may not be written, as they stand in the vocabulary."""


class Greedy(SearchSection):
    """The most probable symbol at every step (S1)."""

    kind: Literal["greedy"] = "greedy"


class Beam(SearchSection):
    """Keep the `width` best beginnings at every step (S3); the final choice is by `log_prob / length^length_power` (S4)."""

    kind: Literal["beam"] = "beam"
    width: Positive = 5
    length_power: Annotated[float, Field(ge=0)] = 1.0
    coverage: Annotated[float, Field(ge=0)] = 0.0
    """Weight of `sum_j log(min(1, sum_t a_jt))`, which prefers outputs that looked at every source position."""


class Sample(SearchSection):
    """Draw symbols at random: `count` outputs per source, best first."""

    kind: Literal["sample"] = "sample"
    count: Positive = 1
    temperature: Annotated[float, Field(gt=0)] = 1.0
    top_k: Positive | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Count = 1


class Exhaustive(SearchSection):
    """Every sequence up to the longest length (S2); for tiny vocabularies only."""

    kind: Literal["exhaustive"] = "exhaustive"
    count: Positive = 5
    length_power: Annotated[float, Field(ge=0)] = 1.0


Search = Annotated[Greedy | Beam | Sample | Exhaustive, Field(discriminator="kind")]


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
