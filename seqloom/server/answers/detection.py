"""Which of the served languages a text is in, by its letters.

Each language has a profile: how often one, two and three characters follow one another in what its models were trained on; or,
where that data is not there, in the symbols of their vocabularies, which know letters better than frequencies. A text is in
the language under whose profile it is most probable. With two languages of one alphabet and a short text this is a guess, and
the confidence says so.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from seqloom.data.preparing.corpus import Corpus
from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import SeqloomError
from seqloom.symbols import SPECIALS

_LONGEST = 3
_EXAMPLES = 3000
_READ = 2000
"""So many characters of a text are looked at."""
_UNSEEN = 1e-4
"""What a character that a language has never shown is worth."""
_BACK = 0.3
"""What is left of a probability when fewer characters before are looked at."""


@dataclass(frozen=True)
class Profile:
    """How often sequences of one to three characters occur, and those of one less before them."""

    counts: Mapping[str, int]
    total: int

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Profile":
        """Count the sequences of some texts; a space stands at either end."""
        counts: Counter[str] = Counter()
        for text in texts:
            padded = f" {' '.join(text.lower().split())} "
            for length in range(1, _LONGEST + 1):
                counts.update(padded[start : start + length] for start in range(len(padded) - length + 1))
        return cls(counts, sum(count for sequence, count in counts.items() if len(sequence) == 1))

    def log_prob(self, text: str) -> float:
        """The mean log-probability of a character."""
        padded = f" {' '.join(text.lower().split())[:_READ]} "
        values = [self._of(padded[max(0, end - _LONGEST) : end]) for end in range(2, len(padded) + 1)]
        return math.fsum(map(math.log, values)) / max(1, len(values))

    def _of(self, sequence: str) -> float:
        """Of the last character after those before it; backs off to fewer of them."""
        share = 1.0
        for start in range(len(sequence)):
            part = sequence[start:]
            before = self.counts.get(part[:-1], 0) if len(part) > 1 else self.total
            if before and self.counts.get(part, 0):
                return share * self.counts[part] / before
            share *= _BACK
        return share * _UNSEEN


def training_texts(corpus: Corpus, side: str) -> Iterator[str]:
    """Some texts of one side of the training data; raises `SeqloomError` if it is not there."""
    for example in islice(corpus.examples("train"), _EXAMPLES):
        yield example.sources.get(side) or example.target or ""


def profile_of(corpus: Corpus, side: str, vocabulary: Vocabulary) -> Profile:
    """The profile of a side, from training data if that is there, else from the vocabulary."""
    try:
        return Profile.of(training_texts(corpus, side))
    except (SeqloomError, OSError):
        indexes = range(len(SPECIALS), vocabulary.size - len(vocabulary.features))
        return Profile.of(vocabulary.symbol(index) for index in indexes)


def ranked(text: str, profiles: Mapping[str, Profile]) -> list[tuple[str, float]]:
    """Languages with how sure one may be of each, in per cent, most probable first."""
    scores = {code: profile.log_prob(text) for code, profile in profiles.items()}
    length = min(_READ, len(text.strip()))
    best = max(scores.values(), default=0.0)
    # Characters are not independent of one another: their joint weight grows with the root of their number.
    weights = {code: math.exp((score - best) * math.sqrt(length)) for code, score in scores.items()}
    total = math.fsum(weights.values())
    return sorted(((code, 100 * weight / total) for code, weight in weights.items()), key=lambda one: -one[1])


def codes_of(languages: Sequence[tuple[str, str]]) -> list[str]:
    """All source languages, in their order, each once."""
    return list(dict.fromkeys(source for source, _ in languages))
