"""What the data doctor looks for in files: those that training would refuse, poor ones, and copies across splits."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from seqloom.data.doctor.checks import SHOWN, TRAIN, Chunk, Finding, Severity, Tally, percent
from seqloom.data.doctor.comparisons import LEAK, OVERLAP, REPEATS
from seqloom.data.examples import Example
from seqloom.data.kinds import file_kind_of
from seqloom.data.kinds.files import FileKind
from seqloom.data.media.files import MediaError
from seqloom.recipe.sections import FileSource, Source

POOR = 0.05
"""From this share on, files that are poor are worth a warning."""


@dataclass(slots=True)
class _Shown:
    """What a split shows: of each content the first name and place, copies under other names, and pairs as numbers."""

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    copies: set[str] = field(default_factory=set)
    pairs: list[int] = field(default_factory=list)


def file_checks(sources: Mapping[str, Source], *, sized: bool) -> "list[NamedFiles]":
    """A check of the files of each source that names some. sized: the sources say what will be made of them."""
    return [
        NamedFiles(file_kind_of(source), name, sized=sized)
        for name, source in sources.items()
        if isinstance(source, FileSource)
    ]


class NamedFiles:
    """A check for the data doctor. It opens every file of a table once, however often it is named, and keeps a hash of it.

    source: what names the files. sized: whether it is known what will be made of them, so that some may be too poor for it.
    """

    def __init__(self, kind: FileKind[Any], source: str, *, sized: bool) -> None:
        self.kind = kind
        self.source = source
        self.sized = sized
        self.refused: defaultdict[str, Tally] = defaultdict(Tally)
        self.poor: defaultdict[str, Tally] = defaultdict(Tally)
        self.copies = Tally()
        self.contents: dict[tuple[str, str], str | None] = {}
        self.splits: dict[str, _Shown] = {}

    def see(self, chunk: Chunk) -> None:
        """Open the files that were not met before, and note what the split shows."""
        shown = self.splits.setdefault(chunk.split, _Shown())
        for example in chunk.examples:
            name = example.sources[self.source]
            key = (example.origin.file, name)  # Tables in two folders may mean different files by one name.
            if key not in self.contents:
                self.contents[key] = self._look(name, example)
            content = self.contents[key]
            if content is not None:
                self._enter(content, name, example, shown)

    def _look(self, name: str, example: Example) -> str | None:
        """The hash of a file's content; None for what training would refuse, which is counted."""
        try:
            media = self.kind.find(name, example.origin)
            weaknesses = self.kind.weaknesses(media, example.target or "", sized=self.sized)
            content = media.content_hash
        except MediaError as problem:
            self.refused[problem.code or f"missing-{self.kind.noun}"].add(f"{example.origin}: {problem}")
            return None
        for code, found in weaknesses.items():
            self.poor[code].add(f"{example.origin}: {name}: {found}")
        return content

    def _enter(self, content: str, name: str, example: Example, shown: _Shown) -> None:
        first, place = shown.files.setdefault(content, (name, str(example.origin)))
        if name != first and name not in shown.copies:
            shown.copies.add(name)
            self.copies.add(f"{example.origin}: {name}: the same {self.kind.noun} as {first} ({place})")
        # Questions about a file belong to its pair: the same file with another question is another pair.
        others = tuple(text for other, text in sorted(example.sources.items()) if other != self.source)
        shown.pairs.append(hash((content, others, example.target)))

    def findings(self) -> Iterator[Finding]:
        """Report what training would refuse, what is poor, and what splits share."""
        some = f"{self.kind.noun}s"
        for code, tally in self.refused.items():
            message = self.kind.refusals.get(code, f"{some} are missing or cannot be read")
            yield Finding(code, "error", tally.count, message, tuple(tally.examples))
        for code, poor in self.poor.items():
            share = poor.count / len(self.contents)
            message = f"{some} ({percent(share)}) {self.kind.advice(code)}"
            yield Finding(code, _severity(share >= POOR), poor.count, message, tuple(poor.examples))
        if self.copies.count:
            message = f"{some} are copies of another in their split, under another name: copies weigh more"
            severity = _severity(self.copies.count / len(self.contents) >= REPEATS)
            yield Finding(f"duplicate-{some}", severity, self.copies.count, message, tuple(self.copies.examples))
        for (earlier, one), (later, other) in combinations(self.splits.items(), 2):
            yield from self._shared(earlier, one, later, other)

    def _shared(self, earlier: str, one: _Shown, later: str, other: _Shown) -> Iterator[Finding]:
        """Find files that two splits share, by content. Sharing whole pairs with training is what spoils an evaluation."""
        shared = [content for content in other.files if content in one.files]
        if not shared:
            return
        some, known = f"{self.kind.noun}s", set(one.pairs)
        leaked = sum(pair in known for pair in other.pairs)
        share = len(shared) / len(other.files)
        message = f"{some} of {later} ({percent(share)}) are in {earlier} too, {leaked:,} times with the same target"
        severity = _severity(earlier == TRAIN and share >= OVERLAP)
        if earlier == TRAIN and leaked / len(other.pairs) >= LEAK:
            severity = "error"
            message += f": figures on {later} would measure memory. Split again, keeping equal {some} together"
        places = [self._place(content, one, other) for content in shared[:SHOWN]]
        yield Finding(f"shared-{some}", severity, len(shared), message, tuple(places))

    def _place(self, content: str, one: _Shown, other: _Shown) -> str:
        (first, there), (name, here) = one.files[content], other.files[content]
        return f"{here}: {name}: the same {self.kind.noun} as {first} ({there})"


def _severity(worth_a_warning: bool) -> Severity:
    return "warning" if worth_a_warning else "note"
