"""How text becomes symbols."""

from typing import Annotated, Literal

from pydantic import Field

from seqloom.recipe.sections.base import Fraction, Positive, Section


class VocabularySection(Section):
    """What all vocabularies share."""

    lowercase: bool = False
    normalise: Literal["none", "nfc", "nfd", "nfkc", "nfkd"] = "nfc"
    begin_end: bool = False
    """Put `begin` and `end` around a source (a target always has them)."""


class MarkedVocabulary(VocabularySection):
    """What vocabularies share in which marks are symbols by themselves."""

    sentences: bool = False
    """Read the marks . ! ? of a source as `end`, so that an encoder of sentences sees where they end."""


class Characters(VocabularySection):
    """One symbol per character, or per grapheme cluster (what a reader calls a character)."""

    kind: Literal["characters"] = "characters"
    graphemes: bool = False
    minimum_count: Positive = 1


class Words(MarkedVocabulary):
    """One symbol per word or punctuation mark; rarer words than `minimum_count` are unknown."""

    kind: Literal["words"] = "words"
    size: Positive | None = None
    minimum_count: Positive = 1


class Symbols(MarkedVocabulary):
    """One symbol per piece between spaces: phonemes, tags, tokenised text."""

    kind: Literal["symbols"] = "symbols"
    size: Positive | None = None
    minimum_count: Positive = 1


class Bpe(VocabularySection):
    """Subwords by byte-pair encoding."""

    kind: Literal["bpe"] = "bpe"
    size: Annotated[int, Field(ge=8)] = 8000
    dropout: Fraction = 0.0
    """While a model learns, each merge is left out with this probability, so that it seldom reads a word in the same pieces."""


class Unigram(VocabularySection):
    """Subwords by a unigram language model."""

    kind: Literal["unigram"] = "unigram"
    size: Annotated[int, Field(ge=8)] = 8000


class Whole(VocabularySection):
    """One symbol per text: the text is a class, spaces and all."""

    kind: Literal["whole"] = "whole"
    minimum_count: Positive = 1


class VocabularyFile(Section):
    """A vocabulary that is there already: `tokenizers/<name>.json` of another run. Fusion needs two models that share one."""

    kind: Literal["file"] = "file"
    file: str


BuiltVocabulary = Characters | Words | Symbols | Bpe | Unigram | Whole
"""Vocabularies that come from the training data."""

AnyVocabulary = BuiltVocabulary | VocabularyFile
Vocabulary = Annotated[AnyVocabulary, Field(discriminator="kind")]


class Vocabularies(Section):
    """One vocabulary per side, or one for both (`shared`: the source's section then serves both). Text has a target only."""

    source: Vocabulary = Field(default_factory=Characters)
    target: Vocabulary = Field(default_factory=Characters)
    shared: bool = False
    together: bool = False
    """Whether the text sources that name no vocabulary of their own have one for all of them, in place of one each."""
