"""What the data doctor looks for. Each check sees all examples once, in chunks, and then says what it found.

Memory stays bounded: a check keeps counts, a few examples and the set of characters.
Most checks ask one question of a whole chunk and look at its texts one by one only when the answer is yes.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from seqloom.data.examples import Example, abbreviated
from seqloom.data.reading.headings import role_of

Severity = Literal["error", "warning", "note"]
SHOWN = 5
"""How many examples a finding carries."""

TRAIN = "train"
SIDES = ("source", "target")
"""The sides of text pairs. The target comes last, whatever sources there are."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of trouble: a stable code for programs, a sentence for people, and the first places where it occurs."""

    code: str
    severity: Severity
    count: int
    message: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some thousand examples of one split. `texts`: their sides that are text, `joined` the same with line ends between."""

    split: str
    examples: Sequence[Example]
    texts: Mapping[str, list[str]]
    joined: Mapping[str, str]

    @classmethod
    def of(cls, split: str, examples: Sequence[Example], sides: Sequence[str] = SIDES) -> "Chunk":
        """Lay the sides of the examples that are text out, each in a list of its own."""
        texts = {side: [example.sources[side] for example in examples] for side in sides[:-1]}
        texts[sides[-1]] = [example.target or "" for example in examples]
        return cls(split, examples, texts, {side: "\n".join(texts[side]) for side in sides})


@dataclass(slots=True)
class Tally:
    """A count and the first few places."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: object) -> None:
        """Count one, and keep it if it is among the first."""
        self.count += 1
        if len(self.examples) < SHOWN:
            self.examples.append(str(example))


def percent(share: float) -> str:
    """Write a share for people; a small one is not written as none."""
    return "under 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


class Check(Protocol):
    """What all checks can do."""

    def see(self, chunk: Chunk) -> None:
        """Look at some examples."""

    def findings(self) -> Iterator[Finding]:
        """Say what was found, after all examples were seen."""


class Pattern:
    """Finds texts in which a regular expression matches.

    `pattern` is searched in many texts at once, with line ends between them: `^` and `$` mean the ends of a text.
    """

    def __init__(self, code: str, severity: Severity, pattern: str, message: str) -> None:
        self.code = code
        self.severity = severity
        self.pattern = re.compile(pattern, re.MULTILINE)
        self.message = message
        self.tally = Tally()

    def see(self, chunk: Chunk) -> None:
        """Search each text of a side, if anything matches in that side at all."""
        for side, joined in chunk.joined.items():
            if self.pattern.search(joined):
                for example, text in zip(chunk.examples, chunk.texts[side], strict=True):
                    if match := self.pattern.search(text):
                        self.tally.add(f"{example.origin}: {abbreviated(_around(match))} in the {side}")

    def findings(self) -> Iterator[Finding]:
        """Report the texts in which the pattern was seen."""
        if self.tally.count:
            yield Finding(self.code, self.severity, self.tally.count, self.message, tuple(self.tally.examples))


def _around(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 15) : match.end() + 15]


def patterns() -> list[Pattern]:
    """List the checks of single texts."""
    return [
        Pattern(
            "control-characters",
            "warning",
            r"[\x01-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]",
            "texts with invisible control characters: usually debris of a conversion, and each becomes a symbol to learn",
        ),
        Pattern(
            "replacement-characters",
            "warning",
            "\ufffd",
            "texts with U+FFFD, which stands for characters that an earlier conversion lost: convert the original again",
        ),
        Pattern(
            "html-entities",
            "warning",
            r"&(?:[a-zA-Z]{2,8}|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});",
            "texts with HTML entities such as &amp;: unescape them (in Python: html.unescape)",
        ),
        Pattern(
            "untidy-spaces",
            "note",
            r"^[ \u00a0\u3000]|[ \u00a0\u3000]$|[ \u00a0\u3000]{2}",
            "texts with spaces at an end or in a row: models learn and write them too",
        ),
    ]


class NormalForms:
    """Finds text that is not in Unicode's composed form (NFC) on a side where other text is: one letter, two spellings."""

    def __init__(self) -> None:
        self.tallies: defaultdict[str, Tally] = defaultdict(Tally)
        self.composed: defaultdict[str, bool] = defaultdict(bool)

    def see(self, chunk: Chunk) -> None:
        """Count the texts that are not NFC, and remember whether any is NFC with composed letters."""
        for side, joined in chunk.joined.items():
            if joined.isascii():
                continue
            if unicodedata.is_normalized("NFC", joined):
                self.composed[side] = self.composed[side] or not unicodedata.is_normalized("NFD", joined)
            else:
                self._see_each(chunk, side)

    def _see_each(self, chunk: Chunk, side: str) -> None:
        for example, text in zip(chunk.examples, chunk.texts[side], strict=True):
            if not unicodedata.is_normalized("NFC", text):
                self.tallies[side].add(f"{example.origin}: {abbreviated(text)}")
            elif not self.composed[side]:
                self.composed[side] = not unicodedata.is_normalized("NFD", text)

    def findings(self) -> Iterator[Finding]:
        """Report each side whose texts are spelt in two ways, or all in the uncommon one."""
        for side, tally in self.tallies.items():
            if not tally.count:
                continue
            examples = tuple(tally.examples)
            if self.composed[side]:
                message = f"{side} texts are not in Unicode form NFC while others are: keep `normalise: nfc`, the default"
                yield Finding("mixed-normal-forms", "warning", tally.count, message, examples)
            else:
                message = f"{side} texts are not in Unicode form NFC: keep `normalise: nfc` and expect composed output"
                yield Finding("not-nfc", "note", tally.count, message, examples)


class UnseenCharacters:
    """Finds characters of other splits that training never shows. Training must be seen first."""

    def __init__(self) -> None:
        self.known: defaultdict[str, set[str]] = defaultdict(set)
        self.unseen: dict[tuple[str, str], dict[str, str]] = {}
        self.trained = False

    def see(self, chunk: Chunk) -> None:
        """Collect the characters of training, or hold those of another split against them."""
        for side, joined in chunk.joined.items():
            characters = set(joined) - {"\n"}
            if chunk.split == TRAIN:
                self.trained = True
                self.known[side] |= characters
            elif self.trained:
                places = self.unseen.setdefault((chunk.split, side), {})
                for character in sorted(characters - self.known[side] - places.keys()):
                    places[character] = _first_place(character, chunk, side)

    def findings(self) -> Iterator[Finding]:
        """Report the characters, split by split and side by side."""
        for (split, side), places in self.unseen.items():
            if places:
                listed = " ".join(_listed(character) for character in sorted(places)[:10])
                message = (
                    f"characters in the {side} of {split} never occur in training, so a model cannot know them: "
                    f"{listed}{' ...' if len(places) > 10 else ''}"
                )
                yield Finding("unseen-characters", "warning", len(places), message, tuple(places.values())[:SHOWN])


class Unseen:
    """Finds names, such as tags or classes, of other splits that training never shows. Training must be seen first.

    code: of the finding. said: the sentence about names of a split. names: those of an example.
    """

    def __init__(self, code: str, said: str, names: Callable[[Example], Iterable[str]]) -> None:
        self.code, self.said, self.names = code, said, names
        self.known: set[str] = set()
        self.places: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self.trained = False

    def see(self, chunk: Chunk) -> None:
        """Collect the names of training, or hold those of another split against them."""
        self.trained = self.trained or chunk.split == TRAIN
        for example in chunk.examples:
            if chunk.split == TRAIN:
                self.known.update(self.names(example))
            elif self.trained:
                places = self.places[chunk.split]
                for name in self.names(example):
                    if name not in self.known:
                        places.setdefault(name, f"{example.origin}: {abbreviated(name)}")

    def findings(self) -> Iterator[Finding]:
        """Report the names, split by split."""
        for split, places in self.places.items():
            if places:
                message = self.said.format(split=split)
                yield Finding(self.code, "warning", len(places), message, tuple(places.values())[:SHOWN])


def unseen_features() -> Unseen:
    """Finds features (tags, languages) that training never shows."""
    said = "features of {split} never occur in training: there they count as absent, prediction refuses them"
    return Unseen("unseen-features", said, lambda example: example.features)


def unseen_classes() -> Unseen:
    """Finds classes that training never shows. For targets that are classes: of other targets most are new."""
    said = "classes of {split} never occur in training, so a model cannot answer them: each of their examples counts as wrong"
    return Unseen("unseen-classes", said, lambda example: () if example.target is None else (example.target,))


def _listed(character: str) -> str:
    mark = " " if unicodedata.combining(character) else ""
    return f"{mark}{character}" if character.isprintable() else f"U+{ord(character):04X}"


def _first_place(character: str, chunk: Chunk, side: str) -> str:
    place = next(number for number, text in enumerate(chunk.texts[side]) if character in text)
    name = unicodedata.name(character, "a character without a name")
    return f"{chunk.examples[place].origin}: U+{ord(character):04X} {name}"


class Copies:
    """Counts pairs whose target repeats a source."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.pairs = 0

    def see(self, chunk: Chunk) -> None:
        """Compare the sides of each pair."""
        self.pairs += len(chunk.examples)
        *sources, targets = chunk.texts.values()
        for texts in sources:
            for example, source, target in zip(chunk.examples, texts, targets, strict=True):
                if source == target:
                    self.tally.add(f"{example.origin}: {abbreviated(source)}")

    def findings(self) -> Iterator[Finding]:
        """Report the share; half of all pairs or more is a reason to look at the columns."""
        if self.tally.count:
            share = self.tally.count / self.pairs
            severity: Severity = "warning" if share >= 0.5 else "note"
            message = f"pairs have a target equal to the source ({percent(share)}): right for copying, else untranslated text"
            yield Finding("copies", severity, self.tally.count, message, tuple(self.tally.examples))


class Headers:
    """Finds files whose first pair looks like the names of columns."""

    def __init__(self) -> None:
        self.tally = Tally()

    def see(self, chunk: Chunk) -> None:
        """Look at pairs that stand on a first line."""
        for example in chunk.examples:
            if example.origin.line == 1:
                cells = [*example.sources.values(), example.target or ""]
                if all(role_of(cell) or cell.strip().lower() in example.sources for cell in cells):
                    self.tally.add(f"{example.origin}: {', '.join(map(abbreviated, cells))}")

    def findings(self) -> Iterator[Finding]:
        """Report the files."""
        if self.tally.count:
            message = "first lines look like a header but are read as pairs: name the columns, or remove the line"
            yield Finding("header-line", "warning", self.tally.count, message, tuple(self.tally.examples))
