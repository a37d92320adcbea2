"""Transformers: encoders and decoders whose positions read one another by attention."""

from typing import Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.attention import check_heads
from seqloom.recipe.sections.base import Fraction, Layers, Positive, Section, sized
from seqloom.recipe.sections.inputs import SymbolInputs, TeacherInputs
from seqloom.wording import counted


class Transformer(Section):
    """What transformer encoders and decoders share. Every layer is normalised before each of its parts (pre-norm)."""

    size: Positive = 128
    """The width of states, embeddings, and all heads together."""
    layers: Layers = 2
    heads: Positive = 4
    feed_forward: Positive | None = None
    """The width between the two matrices that follow the attention of a layer; `None` means four times `size`."""
    dropout: Fraction = 0.0
    """On embeddings, and on what each part of a layer adds."""

    @property
    def embedding(self) -> int:
        """The width of the embedding."""
        return self.size

    @property
    def feed_forward_size(self) -> int:
        """The width between the two matrices of a layer."""
        return 4 * self.size if self.feed_forward is None else self.feed_forward

    def _words(self, role: str) -> str:
        return f"a transformer {role} ({sized(self.size, self.layers)}, {counted(self.heads, 'head')})"

    @model_validator(mode="after")
    def _heads_share_the_size(self) -> Self:
        check_heads(self.heads, self.size)
        return self


class TransformerEncoder(Transformer):
    """Reads a sequence of symbols: in every layer, each position attends to all."""

    kind: Literal["transformer"] = "transformer"

    @property
    def memory_size(self) -> int:
        """The width of each state that the encoder writes."""
        return self.size

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        return self._words("encoder")


class TransformerDecoder(Transformer):
    """Writes the target one symbol at a time: in every layer, each position attends to itself and those before it."""

    kind: Literal["transformer"] = "transformer"
    inputs: SymbolInputs = Field(default_factory=TeacherInputs)
    """What each step is given of the step before."""
    tied: Literal["none", "output", "all"] = "none"
    """`output`: the output layer is the target embedding; `all`: and the source embedding too (needs a shared vocabulary)."""

    @property
    def reads_symbols(self) -> bool:
        """Whether what was written is read by the next step."""
        return True

    @property
    def words(self) -> str:
        """The decoder in a summary of the recipe."""
        return self._words("decoder")
