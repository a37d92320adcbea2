"""Texts that consist of sentences, each of which is one position."""

from typing import Literal

from seqloom.recipe.sections.base import Fraction, Layers, Positive, Section, SourceName, sized
from seqloom.recipe.sections.recurrent import Directed
from seqloom.recipe.sections.transformer import Transformer


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


class AskedEncoder(Directed):
    """Reads a text sentence by sentence with a question in mind: a recurrent network is shown each sentence beside it.

    Sentences are as in the kind `sentences`; each is one position. What counts for an answer can so be kept, and counted, on
    the way, where `sentences` leaves all of it to attention.
    """

    kind: Literal["asked"] = "asked"
    source: SourceName
    """The question: another source, whose summary is kept in mind."""
    size: Positive = 64
    embedding: Positive = 64
    """The width of words and of sentences."""

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        return self._words(f"encoder that reads sentences with {self.source} in mind", self._direction)


class RelatedEncoder(Transformer):
    """Reads a text sentence by sentence together with a question: all of them look at each other, round after round.

    How they do depends on which words they have in common, and at which places; so facts can be chained that share a word.
    Each sentence is one position. Both sources need one vocabulary: `vocabularies: {together: true}`.
    """

    kind: Literal["related"] = "related"
    source: SourceName
    """The question: another source, which is text. What becomes of it is the summary."""
    size: Positive = 64
    layers: Layers = 4
    """How many rounds there are, all with the same weights."""
    places: Positive = 16
    """How many places of words in a sentence are told apart. Words behind them count as the last, and are not compared."""
    ages: Positive = 128
    """How many sentences back are told apart; all before them count as equally old."""

    @property
    def memory_size(self) -> int:
        """The width of each sentence."""
        return self.size

    @property
    def words(self) -> str:
        """The encoder in a summary of the recipe."""
        return self._words(f"encoder of sentences and {self.source} together")


SentencesEncoder = SentenceEncoder | AskedEncoder | RelatedEncoder
"""The encoders that make one position of each sentence."""
