"""Vocabularies from texts: symbols that are collected, or learnt.

A corpus need not go through the pipeline text by text: in most kinds the symbols of a text are those of its words, one after
the other, and words repeat. `parts_of` cuts texts into what can be encoded and counted once.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from seqloom.data.vocabulary.kinds import KINDS, SPACE
from seqloom.data.vocabulary.sequences import IdArray
from seqloom.data.vocabulary.vocabulary import CHUNK, Vocabulary
from seqloom.errors import RecipeError
from seqloom.recipe import sections
from seqloom.symbols import SPECIALS, UNKNOWN

_SUBWORD_SAMPLE = 2_000_000
"""Subwords are learnt from at most so many texts, the first ones: more change the pieces little and cost memory."""
_SEQUENCE = 10_000
"""How many characters of counted pieces a trainer is given at once: enough for a thread to be worth it."""
_Collected = sections.Characters | sections.Words | sections.Symbols | sections.Whole


def parts_of(texts: Sequence[str], *, by_words: bool) -> tuple[list[str], IdArray]:
    """Cut texts into parts whose symbols, one after the other, are theirs; how many parts each text has (one or more).

    Normalisation commutes with cutting at spaces: a space never composes with what follows, and runs of white space and
    white space at the ends vanish. A text that holds the splitter's own mark of a space is left whole.
    """
    if not by_words:
        return list(texts), np.ones(len(texts), dtype=np.int64)
    everything = " ".join(texts)
    if SPACE not in everything:
        return everything.split(" "), np.fromiter([text.count(" ") for text in texts], dtype=np.int64) + 1
    parts = [[text] if SPACE in text else text.split(" ") for text in texts]
    return list(chain.from_iterable(parts)), np.fromiter(map(len, parts), dtype=np.int64)


def sample_size(section: sections.BuiltVocabulary) -> int:
    """From how many texts a vocabulary is made at most, the first ones."""
    return _SUBWORD_SAMPLE if KINDS[section.kind].learnt else sys.maxsize


def build_vocabulary(section: sections.Vocabulary, texts: Iterable[str]) -> Vocabulary:
    """Collect or learn the symbols of the given texts."""
    if isinstance(section, sections.VocabularyFile):
        raise TypeError(section)  # there already
    builder, sample = VocabularyBuilder(section), islice(texts, sample_size(section))
    while chunk := list(islice(sample, CHUNK)):
        builder.count(Counter(parts_of(chunk, by_words=KINDS[section.kind].by_words)[0]))
    return builder.build()


class VocabularyBuilder:
    """Collects or learns symbols. Holds how often what the splitter yields occurs, never the texts."""

    def __init__(self, section: sections.BuiltVocabulary) -> None:
        self._section = section
        self._kind = KINDS[section.kind]
        self._normaliser = self._kind.normaliser(section)
        self._splitter = self._kind.splitter(section)
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
        tokenizer.decoder = self._kind.decoder()
        return Vocabulary(
            tokenizer,
            self._kind,
            begin_end=section.begin_end,
            sentences=isinstance(section, sections.MarkedVocabulary) and section.sentences,
        )

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


def _collected(section: _Collected, counts: Mapping[str, int]) -> models.WordLevel:
    """The pieces themselves as symbols."""
    pieces = [*SPECIALS, *_frequent(section, counts)]
    return models.WordLevel({piece: number for number, piece in enumerate(pieces)}, unk_token=SPECIALS[UNKNOWN])


def _frequent(section: _Collected, counts: Mapping[str, int]) -> list[str]:
    """The pieces that become symbols, the most frequent first; pieces of one count in the order of their code points."""
    frequent = [piece for piece, count in counts.items() if count >= section.minimum_count]
    frequent.sort(key=lambda piece: (-counts[piece], piece))
    return frequent[: section.size] if isinstance(section, sections.Words | sections.Symbols) else frequent


def _learnt(section: sections.Bpe | sections.Unigram, counts: Mapping[str, int]) -> Tokenizer:
    """Parts of the pieces as symbols."""
    tokenizer = Tokenizer(models.BPE(unk_token=SPECIALS[UNKNOWN]) if isinstance(section, sections.Bpe) else models.Unigram())
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


def _without_added_tokens(tokenizer: Tokenizer) -> Tokenizer:
    """Keep the specials' ids but not their matching in raw text, so that no text can forge them."""
    body = json.loads(tokenizer.to_str())
    body["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(body))


def _trainer(section: sections.Bpe | sections.Unigram) -> trainers.Trainer:
    specials = list(SPECIALS)
    if isinstance(section, sections.Bpe):
        return trainers.BpeTrainer(vocab_size=section.size, special_tokens=specials, show_progress=False)
    return trainers.UnigramTrainer(
        vocab_size=section.size, special_tokens=specials, unk_token=SPECIALS[UNKNOWN], show_progress=False
    )
