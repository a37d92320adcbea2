"""The kinds of vocabularies: how each cuts text into pieces, and how its symbols become text again."""

from typing import ClassVar, Literal

from tokenizers import Regex, decoders, normalizers, pre_tokenizers

from seqloom.data.vocabulary.pipelines import ANY_CHARACTER, GRAPHEME, MARKS, WHITE_SPACE
from seqloom.recipe.sections import BuiltVocabulary, Characters

SPACE = "▁"
"""How words and subwords write the space before them."""

Unit = Literal["character", "symbol", "word", "class"]

_FORMS = {"nfc": normalizers.NFC, "nfd": normalizers.NFD, "nfkc": normalizers.NFKC, "nfkd": normalizers.NFKD}


class Kind:
    """What is so for all vocabularies of a kind. name: that in recipes and in stored vocabularies.

    unit: what a person counts in such texts. by_words: the symbols of a text are those of its words, one after the other, so
    that each word is encoded once. learnt: symbols are parts of pieces, in no order; else the pieces, the most frequent first.
    before_unknown: what an unknown symbol takes along of the text before it.
    """

    name: ClassVar[str]
    unit: ClassVar[Unit] = "word"
    by_words: ClassVar[bool] = True
    learnt: ClassVar[bool] = False
    before_unknown: ClassVar[str] = ""
    white_space: ClassVar[tuple[normalizers.Normalizer, ...]] = (
        normalizers.Replace(Regex(WHITE_SPACE), " "),
        normalizers.Strip(),
    )

    def normaliser(self, section: BuiltVocabulary) -> normalizers.Normalizer:
        """What a text goes through first: its form, its case, its white space."""
        form = [] if section.normalise == "none" else [_FORMS[section.normalise]()]
        case = [normalizers.Lowercase()] if section.lowercase else []
        return normalizers.Sequence([*form, *case, *self.white_space])

    def splitter(self, section: BuiltVocabulary) -> pre_tokenizers.PreTokenizer:
        """What cuts a text into pieces: at spaces, each of which travels with the word that follows it."""
        del section
        return pre_tokenizers.Metaspace(prepend_scheme="always")

    def decoder(self) -> decoders.Decoder | None:
        """What makes a text of symbols; None joins them with spaces."""
        return decoders.Metaspace(prepend_scheme="always")

    def readable(self, pieces: list[str]) -> list[str]:
        """Pieces as a person counts them."""
        return [readable(piece) for piece in pieces if not self.by_words or piece != SPACE]


class CharacterKind(Kind):
    """Characters, or grapheme clusters; white space is text as all else."""

    name = "characters"
    unit = "character"
    by_words = False
    white_space = ()

    def splitter(self, section: BuiltVocabulary) -> pre_tokenizers.PreTokenizer:
        """Cut everywhere."""
        graphemes = isinstance(section, Characters) and section.graphemes
        return pre_tokenizers.Split(Regex(GRAPHEME if graphemes else ANY_CHARACTER), "isolated")

    def decoder(self) -> decoders.Decoder | None:
        """Write one after the other."""
        return decoders.Fuse()


class WordKind(Kind):
    """Words and punctuation marks."""

    name = "words"
    before_unknown = SPACE

    def splitter(self, section: BuiltVocabulary) -> pre_tokenizers.PreTokenizer:
        """Cut at spaces and around punctuation."""
        return pre_tokenizers.Sequence([super().splitter(section), pre_tokenizers.Punctuation("isolated")])


class SymbolKind(Kind):
    """What stands between spaces."""

    name = "symbols"
    unit = "symbol"

    def splitter(self, section: BuiltVocabulary) -> pre_tokenizers.PreTokenizer:
        """Cut at spaces, and drop them."""
        del section
        return pre_tokenizers.WhitespaceSplit()

    def decoder(self) -> decoders.Decoder | None:
        """Join with spaces."""
        return None


class WholeKind(Kind):
    """Whole texts: outputs are classes."""

    name = "whole"
    unit = "class"
    by_words = False

    def splitter(self, section: BuiltVocabulary) -> pre_tokenizers.PreTokenizer:
        """Cut nothing. Without spaces inside, a class cannot be taken for a special symbol, which has one."""
        del section
        return pre_tokenizers.Metaspace(prepend_scheme="always", split=False)

    def decoder(self) -> decoders.Decoder | None:
        """Write the spaces again. The decoder of the others drops every space of the first symbol."""
        return decoders.Sequence([decoders.Replace(SPACE, " "), decoders.Strip(" ", 1, 0)])


class SubwordKind(Kind):
    """Parts of words, learnt from how often they occur. A person counts the words that they are parts of."""

    learnt = True

    def splitter(self, section: BuiltVocabulary) -> pre_tokenizers.PreTokenizer:
        """Cut at spaces and around punctuation: else *street.* would be learnt as another word than *street*."""
        return pre_tokenizers.Sequence([super().splitter(section), pre_tokenizers.Split(Regex(MARKS), "isolated")])

    def readable(self, pieces: list[str]) -> list[str]:
        """Words and punctuation marks."""
        mark = pre_tokenizers.Punctuation("isolated")
        return super().readable([piece for word in pieces for piece, _ in mark.pre_tokenize_str(word)])


class BpeKind(SubwordKind):
    """Subwords by byte-pair encoding."""

    name = "bpe"


class UnigramKind(SubwordKind):
    """Subwords by a unigram language model."""

    name = "unigram"


KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (CharacterKind(), WordKind(), SymbolKind(), WholeKind(), BpeKind(), UnigramKind())
}


def readable(token: str) -> str:
    """A stored piece as a person reads it."""
    return token.replace(SPACE, " ").strip() or " "
