"""Texts that consist of sentences, each of which is one position."""

from typing import Literal

from seqloom.recipe.sections.base import Fraction, Positive, Section, sized


class SentenceEncoder(Section):
    """Reads a text sentence by sentence: words with their places make a vector, and so does how long ago it was said.

    Each sentence is one position. Where sentences end must be marked: `vocabulary: {kind: words, sentences: true}`.
    """

    kind: Literal["sentences"] = "sentences"
    size: Positive = 64
    """The width of sentences and of the embedding of words."""
    ages: Positive = 128
    """How many sentences back are told apart; all before them count as equally old."""
    dropout: Fraction = 0.0
    """On embeddings and on sentences."""

    @property
    def embedding(self) -> int:
        """The width of the embedding."""
        return self.size

    @property
    def memory_size(self) -> int:
        """The width of each sentence."""
        return self.size

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        return f"an encoder of sentences ({sized(self.size, 1)})"
