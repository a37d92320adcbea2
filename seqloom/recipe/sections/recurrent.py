"""Recurrent encoders and decoders."""

from collections.abc import Iterable
from typing import Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.base import Fraction, Layers, Positive, Section, SourceName, sized
from seqloom.recipe.sections.inputs import DistributionInputs, Inputs, NoInputs, TeacherInputs


class Cells(Section):
    """Recurrent cells (C1-C3), layer upon layer."""

    cell: Literal["rnn", "gru", "lstm"] = "gru"
    reset: Literal["before", "after"] | None = None
    """GRU only. `before`, the default: W (o * s), as in the lectures; `after`: o * (W s), as torch computes it."""
    activation: Literal["tanh", "logistic"] = "tanh"
    size: Positive = 256
    layers: Layers = 1

    def _words(self, role: str, quality: str = "") -> str:
        # An LSTM and an RNN are spoken as their letters, a GRU as a word.
        article = "a" if quality or self.cell == "gru" else "an"
        return f"{article} {quality}{self.cell.upper()} {role} ({sized(self.size, self.layers)})"

    @model_validator(mode="after")
    def _reset_is_of_gru(self) -> Self:
        if self.reset is not None and self.cell != "gru":
            raise ValueError(f"`reset` belongs to the cell gru; this cell is {self.cell}. Remove `reset` or write `cell: gru`")
        return self


class Recurrence(Cells):
    """What recurrent readers and writers of symbols share: cells, embeddings, and what dropout leaves out."""

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


def _listed(keys: Iterable[str], joint: str = " and ") -> str:
    return joint.join(f"`{key}`" for key in keys)


class Directed(Recurrence):
    """What recurrent encoders share. With `bidirectional`, `size` is that of one direction."""

    size: Positive = 128
    bidirectional: bool = True

    @property
    def memory_size(self) -> int:
        """The width of each state that the encoder writes."""
        return self.size * (2 if self.bidirectional else 1)

    @property
    def _direction(self) -> str:
        return "bidirectional " if self.bidirectional else ""


class TextEncoder(Directed):
    """Reads a sequence of symbols with a recurrent network. With `bidirectional`, `size` is that of one direction."""

    kind: Literal["text"] = "text"
    after: SourceName | None = None
    """The source on which this one is read on from: it begins with that one's last state, and has its embedding."""
    summary: Literal["last", "max"] = "last"
    """What stands for the whole text: the last state, or the largest entries of all states (Conneau et al. 2017)."""

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        pooled = ", summed up by its largest entries" if self.summary == "max" else ""
        following = f" that reads on from {self.after}" if self.after else ""
        return f"{self._words('encoder', self._direction)}{following}{pooled}"

    @model_validator(mode="after")
    def _a_text_that_is_read_on_has_last_states(self) -> Self:
        if self.after and self.summary == "max":
            raise ValueError("`after` reads on from one last state to another, and `summary: max` has none. Remove one of them")
        return self


class ComparingEncoder(Directed):
    """Reads a text beside another one, word by word.

    Both are read by the other source's encoder. Each word then attends to that source, is compared with what it found there,
    and a recurrent network reads the comparisons (Rocktäschel et al. 2016; Chen et al. 2017). Their largest entries and their
    mean sum them up.
    """

    kind: Literal["comparing"] = "comparing"
    source: SourceName
    """The source to which it is compared, a text."""
    embedding: Literal[0] = 0
    """It has none of its own: words have the embedding of the other source."""

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        return self._words(f"encoder that compares with {self.source} word by word", self._direction)


class SameEncoder(Section):
    """Reads a source by the encoder of another one, with the same weights."""

    kind: Literal["same"] = "same"
    source: SourceName
    """Whose encoder it is."""


class RecurrentDecoder(Recurrence):
    """Writes the target one symbol at a time."""

    kind: Literal["recurrent"] = "recurrent"
    inputs: Inputs = Field(default_factory=TeacherInputs)
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

    @property
    def words(self) -> str:
        """The decoder in a summary of the recipe."""
        return self._words("decoder")

    @model_validator(mode="after")
    def _symbols_left_out_are_read(self) -> Self:
        if self.embedding_dropout and isinstance(self.inputs, NoInputs):
            raise ValueError(
                "`embedding_dropout` leaves out symbols that the decoder reads, and with `inputs: {kind: none}` it reads none. "
                "Remove `embedding_dropout`, or give the decoder inputs"
            )
        return self
