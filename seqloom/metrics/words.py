"""Words as the tools for captions and for summaries make them, and how often each run of words occurs."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

Ngram = tuple[str, ...]

_APOSTROPHES = str.maketrans("\u2018\u2019", "''")
# All but spaces and punctuation, so that the marks of Indic scripts stay in their words, as \w would not let them.
_LETTER = (
    r"[^\s!-/:-@\[-^`{-~\u00a1-\u00bf\u060c\u061b\u061f\u0964\u0965\u2010-\u205e"
    r"\u3001-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20]"
)
_END = rf"(?!{_LETTER})"
_CAPTION_WORD = re.compile(
    rf"""
      (?:[a-z]\.)+{_END}                                                 # initials: u.s.
    | (?:mr|mrs|ms|dr|st|jr|sr|vs|etc|co|inc)\.{_END}                    # abbreviations
    | (?:o'clock|ma'am){_END}
    | {_LETTER}+(?=n't{_END}) | n't{_END}                                # do + n't
    | '(?:s|m|d|re|ve|ll){_END}                                          # man + 's
    | {_LETTER}+(?:(?:[-./&@]|(?<=\d)[,:](?=\d)){_LETTER}+)*             # t-shirt, 3.5, 10:30
    | [#$%&*+/<=>@\\^|~(){{}}\[\]]                                       # signs that are no punctuation
    """,
    re.VERBOSE,
)
_REWRITTEN: dict[str, Sequence[str]] = {
    "cannot": ("can", "not"),
    "gonna": ("gon", "na"),
    "(": ("-lrb-",),
    ")": ("-rrb-",),
    "[": ("-lsb-",),
    "]": ("-rsb-",),
    "{": ("-lcb-",),
    "}": ("-rcb-",),
}


def caption_words(text: str) -> list[str]:
    """Lower-cased words without punctuation, as the COCO caption tools make them of plain captions.

    Those run Stanford's PTBTokenizer, a Java program, and leave out its tokens of punctuation; brackets, which it renames,
    stay. What is rare in captions (addresses, smileys, amounts of money) may differ.
    """
    found = _CAPTION_WORD.findall(text.lower().translate(_APOSTROPHES))
    return [word for one in found for word in _REWRITTEN.get(one, (one,))]


def summary_words(text: str) -> list[str]:
    """Lower-cased runs of letters and digits: on ASCII text those of the library rouge-score.

    That library takes every other letter for a space. We keep letters, and the marks that belong to them, of all scripts.
    """
    return "".join(character if unicodedata.category(character)[0] in "LMN" else " " for character in text.lower()).split()


def ngrams(words: Sequence[str], order: int) -> Counter[Ngram]:
    """How often each run of `order` words occurs."""
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))
