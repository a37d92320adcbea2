"""From text to symbol ids and back. The only user of HuggingFace tokenizers.

A vocabulary is a tokenizers pipeline (normaliser, splitter, model, decoder) whose first ids are `begin`, `end` and
`unknown`, followed by the symbols of the text and, last, the features: leading source symbols such as a language tag.

A corpus need not go through the pipeline text by text: in most kinds (not `characters`, not `whole`) the symbols of a text
are those of its words, one after the other, and words repeat. `parts_of` cuts texts into what can be encoded and counted once.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from seqloom.data.pipelines import ANY_CHARACTER, GRAPHEME, WHITE_SPACE, require_known
from seqloom.errors import DataError, RecipeError, RunError, UsageError
from seqloom.recipe import sections
from seqloom.symbols import BEGIN, END, SPECIALS, UNKNOWN
from seqloom.system.json_parsing import parse_object, require_types

IdArray = npt.NDArray[np.int64]

FORMAT = "seqloom-vocabulary"
VERSION = 1
_SPACE = "▁"
"""How words and subwords write the space before them."""
_UNKNOWN_NAME = SPECIALS[UNKNOWN]
_SUBWORD_SAMPLE = 2_000_000
"""Subwords are learnt from at most so many texts, the first ones: more change the pieces little and cost memory."""
_CHUNK = 16384
_SEQUENCE = 10_000
"""How many characters of counted pieces a trainer is given at once: enough for a thread to be worth it."""


@dataclass(frozen=True)
class Encoded:
    """One text as symbols: their ids, how a person reads them, and where each stands in the text (marks stand nowhere).

    copies: symbols outside the vocabulary, as it would store them, by ids that they have in this text alone; none unless they
    are told apart.
    """

    ids: npt.NDArray[Any]
    symbols: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    copies: Mapping[int, str] = field(default_factory=dict)

    def unknown_in(self, text: str) -> tuple[str, ...]:
        """The pieces of the text that are unknown symbols."""
        return tuple(text[slice(*self.spans[place])] for place in np.flatnonzero(self.ids == UNKNOWN))


@dataclass(frozen=True)
class Sequences:
    """Many sequences of ids in two arrays. ids: one sequence after the other; lengths [N]: how long each is.

    Sequences of vectors have a row of numbers for each position in the place of an id.
    """

    ids: npt.NDArray[Any]
    lengths: IdArray

    def __len__(self) -> int:
        return len(self.lengths)

    def kept(self, wanted: npt.NDArray[np.bool_]) -> "Sequences":
        """The sequences for which `wanted` [N] is True."""
        return self if wanted.all() else Sequences(self.ids[np.repeat(wanted, self.lengths)], self.lengths[wanted])

    @classmethod
    def of(cls, sequences: Sequence[Sequence[int]]) -> "Sequences":
        """Lay sequences one after the other."""
        lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
        return cls(np.fromiter(chain.from_iterable(sequences), dtype=np.int64, count=int(lengths.sum())), lengths)

    def chained(self, numbers: npt.NDArray[np.integer], counts: IdArray) -> "Sequences":
        """Longer sequences made of these: the first of the first counts[0] numbers, the second of the next counts[1] ones."""
        lengths = self.lengths[numbers]
        ids = self.ids[_positions((np.cumsum(self.lengths) - self.lengths)[numbers], lengths)]
        return Sequences(ids, np.add.reduceat(lengths, np.cumsum(counts) - counts))

    @classmethod
    def joined(cls, parts: Sequence["Sequences"]) -> "Sequences":
        """Sequence i of each part, one behind the other, as sequence i."""
        lengths: IdArray = np.stack([part.lengths for part in parts]).sum(axis=0)
        ids = np.empty(int(lengths.sum()), dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        for part in parts:
            ids[_positions(starts, part.lengths)] = part.ids
            starts = starts + part.lengths
        return cls(ids, lengths)


def _positions(starts: IdArray, lengths: IdArray) -> IdArray:
    """All positions of the stretches that begin at `starts` and are `lengths` long, stretch by stretch."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


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
        self._before_unknown = _SPACE if words else ""
        self._feature_ids = {feature: self._text_size + index for index, feature in enumerate(self.features)}

    def __repr__(self) -> str:
        return f"Vocabulary({self.size} symbols)"

    @property
    def size(self) -> int:
        """How many symbols there are, specials and features included."""
        return self._text_size + len(self.features)

    def with_features(self, features: Sequence[str]) -> "Vocabulary":
        """The same symbols of text with the given features after them."""
        return Vocabulary(self._tokenizer, begin_end=self._begin_end, features=features)

    @property
    def by_words(self) -> bool:
        """Whether the symbols of a text are those of its words: not in `characters` and `whole`, which keep the spaces."""
        return not self.whole and not isinstance(self._tokenizer.pre_tokenizer, pre_tokenizers.Split)

    @property
    def whole(self) -> bool:
        """Whether a text is one symbol, so that outputs are classes."""
        splitter = self._tokenizer.pre_tokenizer
        return splitter is not None and len(splitter.pre_tokenize_str("a b")) == 1

    @property
    def by_frequency(self) -> bool:
        """Whether the symbols of a text are in the order of their frequency, the most frequent first. Learnt ones are not."""
        return isinstance(self._tokenizer.model, models.WordLevel)

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
        return Vocabulary(tokenizer, begin_end=self._begin_end, features=[*self.features, *new])

    @property
    def feature_ids(self) -> tuple[int, ...]:
        """The ids of the features: symbols that are read, never written."""
        return tuple(self._feature_ids.values())

    def encode_source(self, text: str, features: Sequence[str] = ()) -> Encoded:
        """A source as a model reads it: features first, then the text, with `begin` and `end` if the vocabulary has them."""
        encoding = self._tokenizer.encode(text)
        ids = self.framed(Sequences.of([encoding.ids]), [features]).ids
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
        starts = range(0, len(parts), _CHUNK)
        chunks = (self._tokenizer.encode_batch_fast(list(parts[start : start + _CHUNK])) for start in starts)
        encoded = [Sequences.of([one.ids for one in chunk]) for chunk in chunks] or [Sequences.of([])]
        return Sequences(np.concatenate([one.ids for one in encoded]), np.concatenate([one.lengths for one in encoded]))

    def told_apart(self, source: Encoded, text: str) -> Encoded:
        """A source whose unknown symbols have ids of their own, so that they can be copied.

        They are V plus the position of the first that is written alike, V being the size of the vocabulary.
        """
        ids, firsts, symbols = source.ids.copy(), dict[str, int](), list(source.symbols)
        for position in np.flatnonzero(ids == UNKNOWN).tolist():
            spelled = self._spelled(text, *source.spans[position])
            ids[position], symbols[position] = self.size + firsts.setdefault(spelled, position), _readable(spelled)
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
        return f"{self._before_unknown if spaced else ''}{text[start:end]}"

    def pieces(self, text: str, *, as_read: bool) -> list[str]:
        """What a text is cut into: characters, symbols between spaces, words and punctuation marks, or the text itself.

        Of subwords it is the words that they are parts of. as_read: normalised and lower-cased as a model reads it, else as it
        stands.
        """
        normaliser, splitter = self._tokenizer.normalizer, self._tokenizer.pre_tokenizer
        if splitter is None:
            return [text]
        found = [
            piece for piece, _ in splitter.pre_tokenize_str(normaliser.normalize_str(text) if normaliser and as_read else text)
        ]
        if self.by_words and not self.by_frequency:
            mark = pre_tokenizers.Punctuation("isolated")
            found = [piece for word in found for piece, _ in mark.pre_tokenize_str(word)]
        return [_readable(piece) for piece in found if self.by_words is False or piece != _SPACE]

    def decode(self, ids: Iterable[int], copies: Mapping[int, str] | None = None) -> str:
        """The text that the symbols spell; `begin`, `end` and features spell nothing. copies: those of the source."""
        own = {UNKNOWN: f"{self._before_unknown}<unknown>", **(copies or {})}
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
        return _readable(str(self._tokenizer.id_to_token(index)))

    def symbols(self, ids: Iterable[int], copies: Mapping[int, str] | None = None) -> tuple[str, ...]:
        """Several symbols as a person reads them. copies: those of the source."""
        own = copies or {}
        return tuple(_readable(own[int(one)]) if int(one) in own else self.symbol(int(one)) for one in ids)

    def find(self, symbol: str) -> int:
        """The id of a symbol given as it stands in the text; `<unknown>` is what outputs call the symbol `unknown`."""
        for spelling in (symbol, f"{_SPACE}{symbol.replace(' ', _SPACE)}"):
            found = self._tokenizer.token_to_id(spelling)
            if found is not None:
                return int(found)
        if symbol == self.symbol(UNKNOWN):
            return UNKNOWN
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
            body = parse_object(text)
            if body["format"] != FORMAT or body["version"] != VERSION:
                raise RunError(f"{where}: expected a {FORMAT} of version {VERSION}, found {body['format']} {body['version']}")
            require_types(body, {"begin_end": bool, "features": list, "tokenizer": dict})
            require_known(body["tokenizer"])
            tokenizer = Tokenizer.from_str(json.dumps(body["tokenizer"]))
            return cls(tokenizer, begin_end=body["begin_end"], features=[str(one) for one in body["features"]])
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
            known = ", ".join(self.features[:60]) or "none"
            raise DataError(
                f"the feature {feature!r} did not occur in training. Known features: {known}. Leave it out, or use one of them"
            )
        return self._feature_ids[feature]


def parts_of(texts: Sequence[str], *, by_words: bool) -> tuple[list[str], IdArray]:
    """Cut texts into parts whose symbols, one after the other, are theirs; how many parts each text has (one or more).

    Normalisation commutes with cutting at spaces: a space never composes with what follows, and runs of white space and
    white space at the ends vanish. A text that holds the splitter's own mark of a space is left whole.
    """
    if not by_words:
        return list(texts), np.ones(len(texts), dtype=np.int64)
    everything = " ".join(texts)
    if _SPACE not in everything:
        return everything.split(" "), np.fromiter([text.count(" ") for text in texts], dtype=np.int64) + 1
    parts = [[text] if _SPACE in text else text.split(" ") for text in texts]
    return list(chain.from_iterable(parts)), np.fromiter(map(len, parts), dtype=np.int64)


def splits_at_spaces(section: sections.BuiltVocabulary) -> bool:
    """Whether a vocabulary of this section will be `by_words`."""
    return not isinstance(section, sections.Characters | sections.Whole)


def sample_size(section: sections.BuiltVocabulary) -> int:
    """From how many texts a vocabulary is made at most, the first ones."""
    return _SUBWORD_SAMPLE if isinstance(section, sections.Bpe | sections.Unigram) else sys.maxsize


def build_vocabulary(section: sections.Vocabulary, texts: Iterable[str]) -> Vocabulary:
    """Collect or learn the symbols of the given texts."""
    if isinstance(section, sections.VocabularyFile):
        raise TypeError(section)  # there already
    builder, sample = VocabularyBuilder(section), islice(texts, sample_size(section))
    while chunk := list(islice(sample, _CHUNK)):
        builder.count(Counter(parts_of(chunk, by_words=splits_at_spaces(section))[0]))
    return builder.build()


class VocabularyBuilder:
    """Collects or learns symbols. Holds how often what the splitter yields occurs, never the texts."""

    def __init__(self, section: sections.BuiltVocabulary) -> None:
        self._section = section
        self._normaliser = _normaliser(section)
        self._splitter = _splitter(section)
        self._counts: Counter[str] = Counter()

    def count(self, parts: Mapping[str, int]) -> None:
        """Count parts of texts, given with how often each occurs."""
        counts = self._counts
        for part, occurrences in parts.items():
            for piece in self._pieces(part):
                counts[piece] += occurrences

    def build(self) -> Vocabulary:
        """Make the vocabulary of all that was counted."""
        section = self._section
        if isinstance(section, sections.Bpe | sections.Unigram):
            tokenizer = _learnt(section, self._counts)
        else:
            tokenizer = Tokenizer(_collected(section, self._counts))
        tokenizer.normalizer = self._normaliser
        tokenizer.pre_tokenizer = self._splitter
        tokenizer.decoder = _decoder(section)
        return Vocabulary(tokenizer, begin_end=section.begin_end)

    def beyond(self, vocabulary: Vocabulary) -> list[str]:
        """The symbols that this would collect and another vocabulary lacks, as it would store them.

        Learnt pieces are made of characters, so that a vocabulary of such lacks those that it has no characters for.
        """
        section = self._section
        if isinstance(section, sections.Bpe | sections.Unigram):
            letters: Counter[str] = Counter()
            for piece, count in self._counts.items():
                for letter in piece:
                    letters[letter] += count
            wanted = sorted(letters, key=lambda letter: (-letters[letter], letter))
        else:
            wanted = _frequent(section, self._counts)
        known = set(vocabulary.stored)
        return [symbol for symbol in wanted if symbol not in known]

    def _pieces(self, text: str) -> Iterable[str]:
        """What the splitter cuts a text into."""
        normalised = self._normaliser.normalize_str(text)
        if isinstance(self._section, sections.Characters) and not self._section.graphemes:
            return normalised
        return [piece for piece, _ in self._splitter.pre_tokenize_str(normalised)]


def _collected(
    section: sections.Characters | sections.Words | sections.Symbols | sections.Whole, counts: Mapping[str, int]
) -> models.WordLevel:
    """The pieces themselves as symbols."""
    pieces = [*SPECIALS, *_frequent(section, counts)]
    return models.WordLevel({piece: number for number, piece in enumerate(pieces)}, unk_token=_UNKNOWN_NAME)


def _frequent(
    section: sections.Characters | sections.Words | sections.Symbols | sections.Whole, counts: Mapping[str, int]
) -> list[str]:
    """The pieces that become symbols, the most frequent first; pieces of one count in the order of their code points."""
    frequent = [piece for piece, count in counts.items() if count >= section.minimum_count]
    frequent.sort(key=lambda piece: (-counts[piece], piece))
    return frequent[: section.size] if isinstance(section, sections.Words | sections.Symbols) else frequent


def _learnt(section: sections.Bpe | sections.Unigram, counts: Mapping[str, int]) -> Tokenizer:
    """Parts of the pieces as symbols."""
    tokenizer = Tokenizer(models.BPE(unk_token=_UNKNOWN_NAME) if isinstance(section, sections.Bpe) else models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit("\n")
    try:
        tokenizer.train_from_iterator(_repeated(counts), _trainer(section))
    except Exception as problem:  # tokenizers raises bare Exception
        raise RecipeError(
            f"data.vocabularies: a vocabulary of kind {section.kind} could not be learnt from the training data ({problem}). "
            "Raise its size, or use the kind characters"
        ) from problem
    return _without_added_tokens(tokenizer)


def _repeated(counts: Mapping[str, int]) -> Iterator[str]:
    """Each piece as often as it was counted, a line each time: tokenizers takes texts, not counts. No piece has a line end."""
    lines: list[str] = []
    size = 0
    for piece, count in counts.items():
        line = f"{piece}\n"
        at_once = max(1, _SEQUENCE // len(line))
        for start in range(0, count, at_once):
            lines.append(line * min(at_once, count - start))
            size += len(lines[-1])
            if size >= _SEQUENCE:
                yield "".join(lines)
                lines, size = [], 0
    yield "".join(lines)


def _readable(token: str) -> str:
    return token.replace(_SPACE, " ").strip() or " "


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


def _without_added_tokens(tokenizer: Tokenizer) -> Tokenizer:
    """Keep the specials' ids but not their matching in raw text, so that no text can forge them."""
    body = json.loads(tokenizer.to_str())
    body["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(body))


def _normaliser(section: sections.BuiltVocabulary) -> normalizers.Normalizer:
    forms = {"nfc": normalizers.NFC, "nfd": normalizers.NFD, "nfkc": normalizers.NFKC, "nfkd": normalizers.NFKD}
    stages: list[normalizers.Normalizer] = []
    if section.normalise != "none":
        stages.append(forms[section.normalise]())
    if section.lowercase:
        stages.append(normalizers.Lowercase())
    if not isinstance(section, sections.Characters):
        stages += [normalizers.Replace(Regex(WHITE_SPACE), " "), normalizers.Strip()]
    return normalizers.Sequence(stages)


def _splitter(section: sections.BuiltVocabulary) -> pre_tokenizers.PreTokenizer:
    match section:
        case sections.Characters(graphemes=graphemes):
            return pre_tokenizers.Split(Regex(GRAPHEME if graphemes else ANY_CHARACTER), "isolated")
        case sections.Whole():
            # Without spaces inside, a class cannot be taken for a special symbol, which has one.
            return pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
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


def _decoder(section: sections.BuiltVocabulary) -> decoders.Decoder | None:
    match section:
        case sections.Characters():
            return decoders.Fuse()
        case sections.Symbols():
            return None  # tokens are joined with spaces
        case sections.Whole():  # the decoder of the others drops every space of the first symbol
            return decoders.Sequence([decoders.Replace(_SPACE, " "), decoders.Strip(" ", 1, 0)])
        case sections.Words() | sections.Bpe() | sections.Unigram():
            return decoders.Metaspace(prepend_scheme="always")
        case _:
            assert_never(section)


def _trainer(section: sections.Bpe | sections.Unigram) -> trainers.Trainer:
    specials = list(SPECIALS)
    match section:
        case sections.Bpe(size=size):
            return trainers.BpeTrainer(vocab_size=size, special_tokens=specials, show_progress=False)
        case sections.Unigram(size=size):
            return trainers.UnigramTrainer(
                vocab_size=size, special_tokens=specials, unk_token=_UNKNOWN_NAME, show_progress=False
            )
        case _:
            assert_never(section)
