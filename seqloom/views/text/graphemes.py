"""What a reader takes for one letter: grapheme clusters, with whole conjuncts of Indic scripts.

Shading must never cut between a letter and its marks, or between the halves of a conjunct, because they are drawn as one shape.
The rules follow Unicode's text segmentation (UAX 29, with GB9c for conjuncts) as far as the standard library's tables reach.
"""

import unicodedata
from itertools import pairwise

ZERO_WIDTH_JOINER = "\u200d"
ZERO_WIDTH_NON_JOINER = "\u200c"

# Viramas that fuse the consonants around them. Tamil's is left out: it is drawn as a dot and joins nothing.
_FUSING = frozenset(
    "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0ccd\u0d4d\u1039\u17d2\u1a60\u1b44\ua9c0\U00011046\U000110b9\U00011133\U000111c0"
)
_SINHALA_VIRAMA = "\u0dca"
_SPACING_VOWELS = frozenset("\u0e33\u0eb3")  # Thai and Lao AM: letters by category, marks to the eye


def clusters(text: str) -> list[tuple[int, int]]:
    """Start and end of every cluster, in code points; together they cover the text."""
    starts = [index for index in range(len(text)) if index == 0 or _breaks_before(text, index)]
    return list(pairwise([*starts, len(text)]))


def split(text: str) -> list[str]:
    """Cut the text into its clusters."""
    return [text[start:end] for start, end in clusters(text)]


def utf16_offsets(text: str) -> list[int]:
    """For every code point index, and the end, its index in UTF-16, which is how a browser counts."""
    offsets = [0]
    for character in text:
        offsets.append(offsets[-1] + (2 if ord(character) > 0xFFFF else 1))
    return offsets


def _breaks_before(text: str, index: int) -> bool:
    before, here = text[index - 1], text[index]
    if before == "\r" and here == "\n":
        return False
    if before < "\u0080" and here < "\u0080":
        return True
    return not (
        (_extends(here) and before not in "\r\n")
        or _continues_conjunct(text, index)
        or _continues_emoji(before, here)
        or _continues_syllable(before, here)
        or _completes_flag(text, index)
    )


def _extends(character: str) -> bool:
    return (
        unicodedata.category(character)[0] == "M"
        or character in (ZERO_WIDTH_JOINER, ZERO_WIDTH_NON_JOINER)
        or character in _SPACING_VOWELS
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags, as in the flag of Scotland
    )


def _continues_conjunct(text: str, index: int) -> bool:
    """Tell whether a letter fuses with what precedes it: only marks stand between, one of them a virama that fuses."""
    if unicodedata.category(text[index]) != "Lo":
        return False
    fuses = False
    for position in range(index - 1, -1, -1):
        character = text[position]
        if character in _FUSING or (character == _SINHALA_VIRAMA and text[position + 1] == ZERO_WIDTH_JOINER):
            fuses = True
        elif character != ZERO_WIDTH_JOINER and not unicodedata.combining(character):
            return fuses and unicodedata.category(character) == "Lo"
    return False


def _continues_emoji(before: str, here: str) -> bool:
    return before == ZERO_WIDTH_JOINER and unicodedata.category(here) == "So"


def _continues_syllable(before: str, here: str) -> bool:
    """Hangul written as jamo: leading consonants, then vowels and final consonants."""
    leads = _is_lead(before)
    if _is_lead(here):
        return leads
    if "\uac00" <= here <= "\ud7a3":
        return leads
    return _is_jamo_tail(here) and (leads or _is_jamo_tail(before) or "\uac00" <= before <= "\ud7a3")


def _is_lead(character: str) -> bool:
    return "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c"


def _is_jamo_tail(character: str) -> bool:
    return "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb"


def _completes_flag(text: str, index: int) -> bool:
    """Tell whether a flag ends here: flags are pairs of regional indicators, counted from the start of their row."""
    if not _is_regional(text[index]):
        return False
    first = index
    while first > 0 and _is_regional(text[first - 1]):
        first -= 1
    return (index - first) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
