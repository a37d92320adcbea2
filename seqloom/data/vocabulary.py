"""From text to symbol ids and back. The only user of HuggingFace tokenizers.

A vocabulary is a tokenizers pipeline (normaliser, splitter, model, decoder) whose first ids are `begin`, `end` and
`unknown`, followed by the symbols of the text and, last, the features: leading source symbols such as a language tag.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from seqloom.errors import DataError, RecipeError, RunError, SeqloomError, UsageError
from seqloom.recipe import sections
from seqloom.symbols import BEGIN, END, SPECIALS, UNKNOWN

IdArray = npt.NDArray[np.int64]

FORMAT = "seqloom-vocabulary"
VERSION = 1
_SPACE = "▁"
"""How words and subwords write the space before them."""
_UNKNOWN_NAME = SPECIALS[UNKNOWN]
_UNLIMITED = 2**31 - 1
_SUBWORD_SAMPLE = 2_000_000
"""Subwords are learnt from at most so many texts, the first ones: more change the pieces little and cost memory."""


@dataclass(frozen=True)
class Encoded:
    """One text as symbols: their ids, how a person reads them, and where each stands in the text (marks stand nowhere)."""

    ids: IdArray
    symbols: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


class Vocabulary:
    """The symbols of one side of the data.

    begin_end: whether an encoded source carries `begin` and `end`. features: known leading symbols, in id order.
    """

    def __init__(self, tokenizer: Tokenizer, *, begin_end: bool, features: Sequence[str] = ()) -> None:
        self._tokenizer = tokenizer
        self._begin_end = begin_end
        self.features = tuple(features)
        self._text_size = tokenizer.get_vocab_size()
        # An unknown word takes the space before it along; an unknown character has none.
        words = isinstance(tokenizer.model, models.WordLevel) and isinstance(tokenizer.decoder, decoders.Metaspace)
        self._unknown = f"{_SPACE}<unknown>" if words else "<unknown>"
        self._feature_ids = {feature: self._text_size + index for index, feature in enumerate(self.features)}

    @property
    def size(self) -> int:
        """How many symbols there are, specials and features included."""
        return self._text_size + len(self.features)

    def with_features(self, features: Sequence[str]) -> "Vocabulary":
        """The same symbols of text with the given features after them."""
        return Vocabulary(self._tokenizer, begin_end=self._begin_end, features=features)

    @property
    def feature_ids(self) -> tuple[int, ...]:
        """The ids of the features: symbols that are read, never written."""
        return tuple(self._feature_ids.values())

    def encode_source(self, text: str, features: Sequence[str] = ()) -> Encoded:
        """A source as a model reads it: features first, then the text, with `begin` and `end` if the vocabulary has them."""
        encoding = self._tokenizer.encode(text)
        ids = self._framed(np.asarray(encoding.ids, dtype=np.int64), features)
        following = [*(start for start, _ in encoding.offsets[1:]), len(text)]
        inner = tuple(
            _place(text, token, start, end, follower)
            for token, (start, end), follower in zip(encoding.tokens, encoding.offsets, following, strict=False)
        )
        lead = len(features) + (1 if self._begin_end else 0)
        tail = len(ids) - lead - len(inner)
        spans = ((0, 0),) * lead + inner + ((len(text), len(text)),) * tail
        return Encoded(ids, tuple(self.symbol(int(one)) for one in ids), spans)

    def encode_sources(self, texts: Sequence[str], features: Sequence[Sequence[str]]) -> list[IdArray]:
        """Many sources at once, on all cores; ids only."""
        return [self._framed(ids, feature) for ids, feature in zip(self.encode_targets(texts), features, strict=True)]

    def encode_targets(self, texts: Sequence[str]) -> list[IdArray]:
        """Many targets at once, on all cores: ids without `begin` and `end`, which a Batch adds."""
        return [np.asarray(one.ids, dtype=np.int64) for one in self._tokenizer.encode_batch_fast(list(texts))]

    def decode(self, ids: Iterable[int]) -> str:
        """The text that the symbols spell; `begin`, `end` and features spell nothing."""
        written = [int(one) for one in ids if int(one) not in (BEGIN, END) and int(one) < self._text_size]
        tokens = [self._unknown if one == UNKNOWN else str(self._tokenizer.id_to_token(one)) for one in written]
        decoder = self._tokenizer.decoder
        return str(decoder.decode(tokens)) if decoder is not None else " ".join(tokens)

    def symbol(self, index: int) -> str:
        """One symbol as a person reads it."""
        if index >= self._text_size:
            return f"<{self.features[index - self._text_size]}>"
        if index <= UNKNOWN:
            return SPECIALS[index].replace(" ", "")
        token = str(self._tokenizer.id_to_token(index))
        return token.replace(_SPACE, " ").strip() or " "

    def symbols(self, ids: Iterable[int]) -> tuple[str, ...]:
        """Several symbols as a person reads them."""
        return tuple(self.symbol(int(one)) for one in ids)

    def find(self, symbol: str) -> int:
        """The id of a symbol given as it stands in the text."""
        for spelling in (symbol, f"{_SPACE}{symbol}"):
            found = self._tokenizer.token_to_id(spelling)
            if found is not None:
                return int(found)
        raise UsageError(f"the symbol {symbol!r} is not in the vocabulary of {self.size} symbols. Check its spelling")

    def to_json(self) -> str:
        """The vocabulary as text for a run folder."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "begin_end": self._begin_end,
            "features": list(self.features),
            "tokenizer": json.loads(self._tokenizer.to_str()),
        }
        return json.dumps(body, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str, *, where: str) -> "Vocabulary":
        """Read back what `to_json` wrote; `where` names the file in errors."""
        try:
            body = json.loads(text)
            if body["format"] != FORMAT or body["version"] != VERSION:
                raise RunError(f"{where}: expected a {FORMAT} of version {VERSION}, found {body['format']} {body['version']}")
            tokenizer = Tokenizer.from_str(json.dumps(body["tokenizer"]))
            return cls(tokenizer, begin_end=bool(body["begin_end"]), features=[str(one) for one in body["features"]])
        except RunError:
            raise
        except Exception as problem:  # tokenizers raises bare Exception for a malformed pipeline
            raise RunError(f"{where}: not a vocabulary that seqloom wrote ({problem})") from problem

    def _framed(self, ids: IdArray, features: Sequence[str]) -> IdArray:
        lead = [self._feature_id(feature) for feature in features]
        if self._begin_end:
            return np.concatenate([np.asarray([*lead, BEGIN], dtype=np.int64), ids, np.asarray([END], dtype=np.int64)])
        if not lead and len(ids):
            return ids
        # An empty source is the sequence with nothing before its end, so that an encoder always has a position to read.
        return np.concatenate([np.asarray(lead, dtype=np.int64), ids if len(ids) else np.asarray([END], dtype=np.int64)])

    def _feature_id(self, feature: str) -> int:
        if feature not in self._feature_ids:
            known = ", ".join(self.features[:60]) or "none"
            raise DataError(
                f"the feature {feature!r} did not occur in training. Known features: {known}. Leave it out, or use one of them"
            )
        return self._feature_ids[feature]


def build_vocabulary(section: sections.Vocabulary, texts: Iterable[str]) -> Vocabulary:
    """Collect or learn the symbols of the given texts."""
    tokenizer = Tokenizer(_untrained_model(section))
    tokenizer.normalizer = _normaliser(section)
    tokenizer.pre_tokenizer = _splitter(section)
    tokenizer.decoder = _decoder(section)
    if isinstance(section, sections.Bpe | sections.Unigram):
        texts = _first(texts, _SUBWORD_SAMPLE)
    try:
        tokenizer.train_from_iterator(texts, _trainer(section))
    except SeqloomError:  # the texts themselves could not be read
        raise
    except Exception as problem:  # tokenizers raises bare Exception
        raise RecipeError(
            f"data.vocabularies: a vocabulary of kind {section.kind} could not be learnt from the training data ({problem}). "
            "Raise its size, or use the kind characters"
        ) from problem
    return Vocabulary(_without_added_tokens(tokenizer), begin_end=section.begin_end)


def _place(text: str, token: str, start: int, end: int, following: int) -> tuple[int, int]:
    """Where a symbol stands in the text as it was given, from the offsets that tokenizers reports.

    What normalisation merged into the symbol (a combining mark, the vowel of a Hangul syllable) lies before the following
    symbol and belongs to it; spaces around a word do not; a space that only the splitter put in front stands nowhere.
    """
    if not token.strip(_SPACE).strip():
        return (start, end) if not text[start:end].strip(_SPACE).strip() else (start, start)
    end = max(end, end + len(text[end:following].rstrip()))
    carries_space = token.startswith(_SPACE) or token == _UNKNOWN_NAME
    return (end - len(text[start:end].lstrip()) if carries_space and text[start:end].strip() else start), end


def _first(texts: Iterable[str], count: int) -> Iterator[str]:
    for _, text in zip(range(count), texts, strict=False):
        yield text


def _without_added_tokens(tokenizer: Tokenizer) -> Tokenizer:
    """Keep the specials' ids but not their matching in raw text, so that no text can forge them."""
    body = json.loads(tokenizer.to_str())
    body["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(body))


def _untrained_model(section: sections.Vocabulary) -> models.Model:
    match section:
        case sections.Bpe():
            return models.BPE(unk_token=_UNKNOWN_NAME)
        case sections.Unigram():
            return models.Unigram()
        case sections.Characters() | sections.Words() | sections.Symbols():
            return models.WordLevel({}, unk_token=_UNKNOWN_NAME)
        case _:
            assert_never(section)


def _normaliser(section: sections.Vocabulary) -> normalizers.Normalizer:
    forms = {"nfc": normalizers.NFC, "nfd": normalizers.NFD, "nfkc": normalizers.NFKC, "nfkd": normalizers.NFKD}
    stages: list[normalizers.Normalizer] = []
    if section.normalise != "none":
        stages.append(forms[section.normalise]())
    if section.lowercase:
        stages.append(normalizers.Lowercase())
    if not isinstance(section, sections.Characters):
        stages += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    return normalizers.Sequence(stages)


def _splitter(section: sections.Vocabulary) -> pre_tokenizers.PreTokenizer:
    match section:
        case sections.Characters(graphemes=graphemes):
            return pre_tokenizers.Split(Regex(r"\X" if graphemes else r"[\s\S]"), "isolated")
        case sections.Symbols():
            return pre_tokenizers.WhitespaceSplit()
        case sections.Words():
            # The space travels with the word that follows it, so that joining the symbols gives the text back.
            return pre_tokenizers.Sequence(
                [pre_tokenizers.Metaspace(prepend_scheme="always"), pre_tokenizers.Punctuation("isolated")]
            )
        case sections.Bpe() | sections.Unigram():
            return pre_tokenizers.Metaspace(prepend_scheme="always")
        case _:
            assert_never(section)


def _decoder(section: sections.Vocabulary) -> decoders.Decoder | None:
    match section:
        case sections.Characters():
            return decoders.Fuse()
        case sections.Symbols():
            return None  # tokens are joined with spaces
        case sections.Words() | sections.Bpe() | sections.Unigram():
            return decoders.Metaspace(prepend_scheme="always")
        case _:
            assert_never(section)


def _trainer(section: sections.Vocabulary) -> trainers.Trainer:
    specials = list(SPECIALS)
    match section:
        case sections.Characters(minimum_count=least):
            return trainers.WordLevelTrainer(
                vocab_size=_UNLIMITED, min_frequency=least, special_tokens=specials, show_progress=False
            )
        case sections.Words(minimum_count=least, size=size) | sections.Symbols(minimum_count=least, size=size):
            most = _UNLIMITED if size is None else size + len(specials)
            return trainers.WordLevelTrainer(vocab_size=most, min_frequency=least, special_tokens=specials, show_progress=False)
        case sections.Bpe(size=size):
            return trainers.BpeTrainer(vocab_size=size, special_tokens=specials, show_progress=False)
        case sections.Unigram(size=size):
            return trainers.UnigramTrainer(
                vocab_size=size, special_tokens=specials, unk_token=_UNKNOWN_NAME, show_progress=False
            )
        case _:
            assert_never(section)
