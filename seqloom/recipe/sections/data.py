"""Where examples come from, and how text becomes symbols."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from seqloom.recipe.sections.base import Fraction, Positive, Section


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

Vocabulary = Annotated[BuiltVocabulary | VocabularyFile, Field(discriminator="kind")]


class TextSource(Section):
    """The source is text, which a vocabulary makes symbols of."""

    kind: Literal["text"] = "text"


class VectorSource(Section):
    """The source is a vector of `size` numbers: between spaces or commas in a table, a list in JSON lines and Parquet."""

    kind: Literal["vector"] = "vector"
    size: Positive


Source = Annotated[TextSource | VectorSource, Field(discriminator="kind")]


class Sources(Section):
    """What each source is, by its name."""

    source: Source = TextSource()


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
    """Shares of `train` that become validation and test, chosen by a hash of the source: equal sources stay together.

    Of plain text the line itself is hashed; of a stream, whose order matters, validation and test are the last lines.
    """

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
    """One vocabulary per side, or one for both (`shared`: the source's section then serves both). Text has a target only."""

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
    text: Literal["lines", "stream"] | None = None
    """Plain text, for a language model: every line a sequence of its own, or all lines one running text."""
    columns: Columns = Columns()
    sources: Sources = Sources()
    """What is read: text unless said otherwise."""
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

    @model_validator(mode="after")
    def _text_is_plain(self) -> Self:
        if self.text is None:
            return self
        if self.builtin is not None or any(isinstance(one, Aligned) for one in (self.train, self.validation, self.test)):
            raise ValueError(
                f"`text: {self.text}` reads plain text files, which have no source. Name such files, or remove `text`"
            )
        if self.format not in ("auto", "text"):
            raise ValueError(f"`text: {self.text}` reads plain text, but `format` says {self.format}. Remove one of them")
        if self.vocabularies.shared:
            raise ValueError("`text` has one side, so there is nothing to share. Remove `shared`")
        return self

    @model_validator(mode="after")
    def _a_vector_stands_alone(self) -> Self:
        if isinstance(self.sources.source, TextSource):
            return self
        if self.text is not None or self.builtin is not None:
            raise ValueError("`sources` says what the sources of pairs are; here there is text alone. Remove `sources`")
        if self.vocabularies.shared:
            raise ValueError("`vocabularies: {shared: true}` needs text on both sides, and the source is a vector. Remove it")
        if self.columns.features:
            raise ValueError(
                "`columns.features` are symbols in front of a text, and the source is a vector. Make them numbers of it"
            )
        return self

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of what an example consists of."""
        return ("target",) if self.text is not None else ("source", "target")

    @property
    def symbol_sides(self) -> tuple[str, ...]:
        """The names of what is text, and has a vocabulary."""
        return self.sides if isinstance(self.sources.source, TextSource) else ("target",)
