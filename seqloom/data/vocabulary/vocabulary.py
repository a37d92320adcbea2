"""From text to symbol ids and back."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from seqloom.data.vocabulary.kinds import KINDS, SPACE, Kind, readable
from seqloom.data.vocabulary.pipelines import require_known
from seqloom.data.vocabulary.sequences import Encoded, IdArray, Sequences
from seqloom.errors import DataError, RunError, UsageError
from seqloom.symbols import BEGIN, END, SPECIALS, UNKNOWN
from seqloom.system.json_parsing import parse_object, require_types
from seqloom.wording import listed, nearest

FORMAT = "seqloom-vocabulary"
VERSION = 1
CHUNK = 16384
"""So many texts are encoded, or counted, at a time."""
SENTENCE_MARKS = (".", "!", "?")
"""What ends a sentence."""
_FEATURES_NAMED = 20
"""So many known features are named where one is not known: morphologies have hundreds."""


class Vocabulary:
    """The symbols of one side of the data: a tokenizers pipeline (normaliser, splitter, model, decoder) of a kind.

    Its first ids are `begin`, `end` and `unknown`, followed by the symbols of texts and, last, the features. begin_end: whether
    an encoded source carries `begin` and `end`. sentences: whether marks at the end of sentences are read as `end`.
    features: known leading symbols, such as a language tag, in id order.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        kind: Kind,
        *,
        begin_end: bool,
        features: Sequence[str] = (),
        sentences: bool = False,
    ) -> None:
        self._tokenizer = tokenizer
        self.kind = kind
        self._begin_end = begin_end
        self._sentences = sentences
        spellings = [f"{space}{mark}" for mark in SENTENCE_MARKS for space in ("", SPACE)] if sentences else []
        found = [tokenizer.token_to_id(one) for one in spellings]
        self._sentence_ends = np.asarray([one for one in found if one is not None], dtype=np.int64)
        self._spellings: dict[int, str] = {}
        self.features = tuple(features)
        self._text_size = tokenizer.get_vocab_size()
        self._feature_ids = {feature: self._text_size + index for index, feature in enumerate(self.features)}

    def __repr__(self) -> str:
        return f"Vocabulary({self.size} symbols)"

    @property
    def size(self) -> int:
        """How many symbols there are, specials and features included."""
        return self._text_size + len(self.features)

    def with_features(self, features: Sequence[str]) -> "Vocabulary":
        """The same symbols of text with the given features after them."""
        return Vocabulary(self._tokenizer, self.kind, begin_end=self._begin_end, features=features, sentences=self._sentences)

    @property
    def whole(self) -> bool:
        """Whether a text is one symbol, so that outputs are classes."""
        return self.kind.unit == "class"

    @property
    def stored(self) -> tuple[str, ...]:
        """Every symbol of texts as the vocabulary stores it, in the order of ids; features come after them."""
        return tuple(str(self._tokenizer.id_to_token(one)) for one in range(self._text_size))

    def grown(self, symbols: Sequence[str], features: Sequence[str] = ()) -> "Vocabulary":
        """The same symbols with the same ids, and further ones after them, given as they are stored; and further features."""
        body = json.loads(self._tokenizer.to_str())
        pieces = body["model"]["vocab"]
        if isinstance(pieces, dict):
            pieces |= {symbol: self._text_size + number for number, symbol in enumerate(symbols)}
        else:  # with log-probabilities: a new one is as rare as the rarest
            pieces += [[symbol, min(value for _, value in pieces)] for symbol in symbols]
        new = [feature for feature in features if feature not in self.features]
        tokenizer = Tokenizer.from_str(json.dumps(body))
        every = [*self.features, *new]
        return Vocabulary(tokenizer, self.kind, begin_end=self._begin_end, features=every, sentences=self._sentences)

    @property
    def feature_ids(self) -> tuple[int, ...]:
        """The ids of the features: symbols that are read, never written."""
        return tuple(self._feature_ids.values())

    def encode_source(self, text: str, features: Sequence[str] = ()) -> Encoded:
        """A source as a model reads it: features first, then the text, with `begin` and `end` if the vocabulary has them."""
        encoding = self._tokenizer.encode(text)
        ids = self.framed(self._with_ends(Sequences.of([encoding.ids])), [features]).ids
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
        framed = self.framed(self.encode_parts(texts), features)
        return np.split(framed.ids, np.cumsum(framed.lengths)[:-1]) if texts else []

    def encode_targets(self, texts: Sequence[str]) -> list[IdArray]:
        """Many targets at once, on all cores: ids without `begin` and `end`, which a Batch adds."""
        return [np.asarray(one.ids, dtype=np.int64) for one in self._tokenizer.encode_batch_fast(list(texts))]

    def encode_parts(self, parts: Sequence[str]) -> Sequences:
        """Many texts, or parts of them, at once, on all cores. What tokenizers says of each is dropped chunk by chunk."""
        starts = range(0, len(parts), CHUNK)
        chunks = (self._tokenizer.encode_batch_fast(list(parts[start : start + CHUNK])) for start in starts)
        encoded = [Sequences.of([one.ids for one in chunk]) for chunk in chunks] or [Sequences.of([])]
        lengths = np.concatenate([one.lengths for one in encoded])
        return self._with_ends(Sequences(np.concatenate([one.ids for one in encoded]), lengths))

    def _with_ends(self, texts: Sequences) -> Sequences:
        """Texts in which the marks at the end of sentences are `end`, if they are to be read so."""
        if not len(self._sentence_ends):
            return texts
        return replace(texts, ids=np.where(np.isin(texts.ids, self._sentence_ends), END, texts.ids).astype(texts.ids.dtype))

    def told_apart(self, source: Encoded, text: str) -> Encoded:
        """A source whose unknown symbols have ids of their own, so that they can be copied.

        They are V plus the position of the first that is written alike, V being the size of the vocabulary.
        """
        ids, firsts, symbols = source.ids.copy(), dict[str, int](), list(source.symbols)
        for position in np.flatnonzero(ids == UNKNOWN).tolist():
            spelled = self._spelled(text, *source.spans[position])
            ids[position], symbols[position] = self.size + firsts.setdefault(spelled, position), readable(spelled)
        copies = {self.size + position: word for word, position in firsts.items()}
        return replace(source, ids=ids, symbols=tuple(symbols), copies=copies)

    def encode_copying(self, text: str, copies: Mapping[int, str]) -> IdArray:
        """A target in which unknown symbols that its source has too are those of the source."""
        encoded, ids_of = self.encode_source(text), {word: one for one, word in copies.items()}
        pairs = zip(encoded.ids.tolist(), encoded.spans, strict=True)
        written = [(one, self._spelled(text, *span)) for one, span in pairs if one not in (BEGIN, END)]
        return np.asarray([ids_of.get(word, one) if one == UNKNOWN else one for one, word in written], dtype=np.int64)

    def _spelled(self, text: str, start: int, end: int) -> str:
        """An unknown symbol as a known one of the same text would be stored: a word takes the space before it along."""
        spaced = start == 0 or text[start - 1].isspace()
        return f"{self.kind.before_unknown if spaced else ''}{text[start:end]}"

    def normalised(self, text: str) -> str:
        """A text in the form, the case and the white space in which it is read, and could be written."""
        normaliser = self._tokenizer.normalizer
        return str(normaliser.normalize_str(text)) if normaliser is not None else text

    def pieces(self, text: str, *, as_read: bool) -> list[str]:
        """What a text is cut into: characters, symbols between spaces, words and punctuation marks, or the text itself.

        Of subwords it is the words that they are parts of. as_read: normalised and lower-cased as a model reads it, else as it
        stands.
        """
        splitter = self._tokenizer.pre_tokenizer
        if splitter is None:
            return [text]
        found = [piece for piece, _ in splitter.pre_tokenize_str(self.normalised(text) if as_read else text)]
        return self.kind.readable(found)

    def decode(self, ids: Iterable[int], copies: Mapping[int, str] | None = None) -> str:
        """The text that the symbols spell; `begin`, `end` and features spell nothing. copies: those of the source."""
        own = {UNKNOWN: f"{self.kind.before_unknown}<unknown>", **(copies or {})}
        known = range(UNKNOWN + 1, self._text_size)
        written = [int(one) for one in ids if int(one) in known or int(one) in own]
        tokens = [own[one] if one in own else str(self._tokenizer.id_to_token(one)) for one in written]
        decoder = self._tokenizer.decoder
        return str(decoder.decode(tokens)) if decoder is not None else " ".join(tokens)

    def symbol(self, index: int) -> str:
        """One symbol as a person reads it."""
        if index >= self._text_size:
            return f"<{self.features[index - self._text_size]}>"
        if index <= UNKNOWN:
            return SPECIALS[index].replace(" ", "")
        return self._readable(index)

    def _readable(self, index: int) -> str:
        found = self._spellings.get(index)
        if found is None:
            found = self._spellings[index] = readable(str(self._tokenizer.id_to_token(index)))
        return found

    def symbols(self, ids: Iterable[int], copies: Mapping[int, str] | None = None) -> tuple[str, ...]:
        """Several symbols as a person reads them. copies: those of the source."""
        own = copies or {}
        return tuple(readable(own[int(one)]) if int(one) in own else self.symbol(int(one)) for one in ids)

    def find(self, symbol: str) -> int:
        """The id of a symbol given as it stands in the text; `<unknown>` is what outputs call the symbol `unknown`."""
        for spelling in (symbol, f"{SPACE}{symbol.replace(' ', SPACE)}"):
            found = self._tokenizer.token_to_id(spelling)
            if found is not None:
                return int(found)
        if symbol == self.symbol(UNKNOWN):
            return UNKNOWN
        raise UsageError(f"the symbol {symbol!r} is not in the vocabulary of {self.size} symbols. Check its spelling")

    def by_ids(self, numbers: Mapping[str, float]) -> dict[int, float]:
        """Numbers of symbols, given as they stand in the text, by the symbols' ids."""
        return {self.find(symbol): number for symbol, number in numbers.items()}

    def to_json(self) -> str:
        """The vocabulary as text for a run folder."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind.name,
            "begin_end": self._begin_end,
            **({"sentences": True} if self._sentences else {}),
            "features": list(self.features),
            "tokenizer": json.loads(self._tokenizer.to_str()),
        }
        return json.dumps(body, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str, *, where: str) -> "Vocabulary":
        """Read back what `to_json` wrote; `where` names the file in errors."""
        try:
            body = parse_object(text)
            if body["format"] != FORMAT or body["version"] != VERSION:
                raise RunError(f"{where}: expected a {FORMAT} of version {VERSION}, found {body['format']} {body['version']}")
            require_types(body, {"begin_end": bool, "features": list, "tokenizer": dict})
            require_known(body["tokenizer"])
            tokenizer = Tokenizer.from_str(json.dumps(body["tokenizer"]))
            kind = KINDS[body["kind"]] if "kind" in body else _unstated_kind(body["tokenizer"])
            features, sentences = [str(one) for one in body["features"]], body.get("sentences") is True
            return cls(tokenizer, kind, begin_end=body["begin_end"], features=features, sentences=sentences)
        except RunError:
            raise
        except Exception as problem:  # tokenizers raises bare Exception for a malformed pipeline
            raise RunError(f"{where}: not a vocabulary that seqloom wrote ({problem})") from problem

    def framed(self, texts: Sequences, features: Sequence[Sequence[str]]) -> Sequences:
        """Encoded texts as sources: features in front of each, and `begin` and `end` around it if the vocabulary has them."""
        begin = [BEGIN] if self._begin_end else []
        # An empty source is the sequence with nothing before its end, so that an encoder always has a position to read.
        ends = np.ones(len(texts), dtype=np.int64) if self._begin_end else (texts.lengths == 0).astype(np.int64)
        if not begin and not any(features) and not ends.any():
            return texts
        leads = Sequences.of([[*map(self._feature_id, feature), *begin] for feature in features])
        return Sequences.joined([leads, texts, Sequences(np.full(int(ends.sum()), END, dtype=np.int64), ends)])

    def _feature_id(self, feature: str) -> int:
        if feature not in self._feature_ids:
            near = nearest(feature, self.features)
            meant = "" if near is None else f" Did you mean {near}?"
            known = listed(self.features[:_FEATURES_NAMED]) or "none"
            more = len(self.features) - _FEATURES_NAMED
            raise DataError(
                f"the feature {feature!r} did not occur in training.{meant} Known features: {known}"
                f"{f' and {more} more' if more > 0 else ''}. Leave it out, or use one of them"
            )
        return self._feature_ids[feature]


def _place(text: str, token: str, start: int, end: int, following: int) -> tuple[int, int]:
    """Where a symbol stands in the text as it was given, from the offsets that tokenizers reports.

    What normalisation merged into the symbol (a combining mark, the vowel of a Hangul syllable) lies before the following
    symbol and belongs to it; spaces around a word do not; a space that only the splitter put in front stands nowhere.
    """
    if end >= following and token.isalnum():  # most symbols of characters: nothing was merged, and no space is near
        return start, end
    if not token.strip(SPACE).strip():
        return (start, end) if not text[start:end].strip(SPACE).strip() else (start, start)
    end = max(end, end + len(text[end:following].rstrip()))
    carries_space = token.startswith(SPACE) or token == SPECIALS[UNKNOWN]
    return (end - len(text[start:end].lstrip()) if carries_space and text[start:end].strip() else start), end


def _unstated_kind(pipeline: Mapping[str, Any]) -> Kind:
    """The kind of a vocabulary that was stored before vocabularies said it."""
    model, splitter = pipeline["model"]["type"], pipeline["pre_tokenizer"]
    if model in ("BPE", "Unigram"):
        return KINDS[model.lower()]
    if splitter["type"] == "Metaspace":
        return KINDS["whole"]
    return KINDS[{"Split": "characters", "WhitespaceSplit": "symbols", "Sequence": "words"}[splitter["type"]]]
