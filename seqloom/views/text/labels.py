"""Symbols as labels: what to print for a space, a lone combining mark or a control character, and how wide it will be."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from seqloom.views.text.graphemes import ZERO_WIDTH_JOINER, ZERO_WIDTH_NON_JOINER, clusters

LONGEST = 24
END_SIGN = "<end>"
"""What `Candidate.tokens` has for the end of a finished output."""

_DOTTED_CIRCLE = "\u25cc"
_ISOLATE, _END_OF_ISOLATE = "\u2068", "\u2069"
_TURNING = frozenset({"R", "AL", "AN", "RLE", "RLO", "LRE", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"})
"""Classes of characters that can turn what stands beside them around."""

_NAMED = {
    "": "\u2205",
    " ": "\u2423",
    "\t": "\u21e5",
    "\n": "\u21b5",
    "\r": "\u21b5",
    "\u00a0": "\u237d",
    "\u3000": "\u2423",
    ZERO_WIDTH_JOINER: "ZWJ",
    ZERO_WIDTH_NON_JOINER: "ZWNJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\ufe0e": "VS15",
    "\ufe0f": "VS16",
}


@dataclass(frozen=True)
class Label:
    """One symbol as it is printed beside a map.

    full: the whole symbol for tooltips. rtl: it begins with a right-to-left letter. mark: `<begin>`, `<end>` or a feature,
    printed more quietly. single: one letter to the eye. unknown: the model does not know it.
    """

    text: str
    full: str
    rtl: bool
    mark: bool
    single: bool
    unknown: bool = False

    @property
    def kind(self) -> str:
        """The theme's colour of it."""
        return "doubt" if self.unknown else "quiet" if self.mark else "ink"


def label(symbol: str, *, mark: bool = False, unknown: bool = False) -> Label:
    """Make the label of a symbol; mark says that it is no part of the text, unknown that the model cannot read it."""
    full = visible(symbol)
    single = len(clusters(full)) == 1
    return Label(shortened(full), full, starts_right_to_left(full), mark, single, unknown)


def visible(symbol: str) -> str:
    """Write the symbol in a form that shows on paper: spaces and controls by a sign, a lone mark on a dotted circle."""
    if symbol in _NAMED:
        return _NAMED[symbol]
    if len(symbol) == 1 and unicodedata.category(symbol) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"U+{ord(symbol):04X}"
    shown = clean(symbol).replace("\t", _NAMED["\t"]).replace("\n", _NAMED["\n"])
    return _DOTTED_CIRCLE + shown if unicodedata.category(shown[0])[0] == "M" else shown


def clean(text: str) -> str:
    """Replace each character that XML forbids by U+FFFD; the length in UTF-16 stays the same."""
    return "".join(character if _allowed(character) else "\ufffd" for character in text)


def shortened(text: str, longest: int = LONGEST) -> str:
    """Give the text, cut between clusters with an ellipsis if it has more of them than fit."""
    parts = clusters(text)
    return text if len(parts) <= longest else text[: parts[longest - 1][0]] + "\u2026"


def isolated(text: str) -> str:
    """The text in a direction of its own, for a line on which something else stands beside it.

    Without it, a number after an Arabic word belongs to the Arabic, and `2009-12-31` is shown as `31-12-2009`.
    """
    turns = any(unicodedata.bidirectional(character) in _TURNING for character in text)
    return f"{_ISOLATE}{text}{_END_OF_ISOLATE}" if turns else text


def titled(sources: Mapping[str, str]) -> str:
    """Sources as a title names them."""
    return ", ".join(isolated(shortened(one, 60)) for one in sources.values())


def starts_right_to_left(text: str) -> bool:
    """Whether the first letter with a direction is one of a right-to-left script, as `dir="auto"` decides.

    What is isolated has no say in the direction of the line that it stands on.
    """
    depth = 0
    for character in text:
        direction = unicodedata.bidirectional(character)
        depth += (direction in ("LRI", "RLI", "FSI")) - (direction == "PDI")
        if depth > 0:
            continue
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False


def estimated_width(text: str) -> float:
    """Estimate the width in ems; generous, because margins are made from it before any font is known."""
    return sum(_character_width(character) for character in text)


def wrapped(text: str, ems: float) -> list[str]:
    """Break a text into lines of about this width: between words, and inside of one that is longer than a line."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".lstrip()
        if estimated_width(joined) <= ems:
            lines[-1] = joined
            continue
        lines.append("")
        for start, end in clusters(word):
            if lines[-1] and estimated_width(lines[-1] + word[start:end]) > ems:
                lines.append("")
            lines[-1] += word[start:end]
    return lines if lines[0] or len(lines) == 1 else lines[1:]


def _character_width(character: str) -> float:
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F") or category == "So":
        return 1.05
    if character in "mwMW@%<>=+~\u2026":
        return 0.88
    if category == "Lu":
        return 0.72
    return 0.4 if character in "iljtfrI.,:;'|!()[]" else 0.62


def _allowed(character: str) -> bool:
    code = ord(character)
    forbidden = code < 0x20 or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF)
    return not forbidden or character in "\t\n"
