"""What the data doctor looks for in pictures: files that training would refuse, small pictures, and copies across splits."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from seqloom.data.doctor.checks import SHOWN, TRAIN, Chunk, Finding, Severity, Tally, percent
from seqloom.data.doctor.comparisons import LEAK, OVERLAP, REPEATS
from seqloom.data.examples import Example, Origin
from seqloom.data.media.files import Media, MediaError
from seqloom.data.media.images import ImageProblem, whole_size

FindPicture = Callable[[str, Origin], Media]
"""From what a table calls a picture, and the place where it says so, to its file. Raises `MediaError` if there is none."""

SMALL = 0.05
"""From this share on, pictures that have to be enlarged are worth a warning."""

_REFUSED = {
    "missing-picture": "pictures are missing or cannot be read",
    "not-a-picture": "files are not pictures of a known kind",
    "truncated-picture": "pictures break off before their end",
    "enormous-picture": "pictures are too large to be decoded",
    "undecodable-picture": "pictures cannot be decoded",
}


@dataclass(slots=True)
class _Shown:
    """What a split shows: of each content the first name and place, copies under other names, and pairs as numbers."""

    pictures: dict[str, tuple[str, str]] = field(default_factory=dict)
    copies: set[str] = field(default_factory=set)
    pairs: list[int] = field(default_factory=list)


class Pictures:
    """A check for the data doctor. It opens every picture of a table once, however often it is named, and keeps a hash of it.

    find: gives the file of a name. height, width: what the recipe makes of every picture, 0 if it is not known. source: the
    source that names it.
    """

    def __init__(self, find: FindPicture, height: int, width: int, *, source: str = "source") -> None:
        self.find = find
        self.height = height
        self.width = width
        self.source = source
        self.refused: defaultdict[str, Tally] = defaultdict(Tally)
        self.small = Tally()
        self.copies = Tally()
        self.contents: dict[tuple[str, str], str | None] = {}
        self.splits: dict[str, _Shown] = {}

    def see(self, chunk: Chunk) -> None:
        """Open the pictures that were not met before, and note what the split shows."""
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
        """The hash of a picture's content; None for what training would refuse, which is counted."""
        try:
            media = self.find(name, example.origin)
            width, height = whole_size(media)
            content = media.content_hash
        except MediaError as problem:
            code = problem.code if isinstance(problem, ImageProblem) else "missing-picture"
            self.refused[code].add(f"{example.origin}: {problem}")
            return None
        if width < self.width or height < self.height:
            self.small.add(f"{example.origin}: {name}: {width} x {height}")
        return content

    def _enter(self, content: str, name: str, example: Example, shown: _Shown) -> None:
        first, place = shown.pictures.setdefault(content, (name, str(example.origin)))
        if name != first and name not in shown.copies:
            shown.copies.add(name)
            self.copies.add(f"{example.origin}: {name}: the same picture as {first} ({place})")
        # Questions about a picture belong to its pair: the same picture with another question is another pair.
        others = tuple(text for other, text in sorted(example.sources.items()) if other != self.source)
        shown.pairs.append(hash((content, others, example.target)))

    def findings(self) -> Iterator[Finding]:
        """Report what training would refuse, what would be blurred, and what splits share."""
        for code, tally in self.refused.items():
            yield Finding(code, "error", tally.count, _REFUSED[code], tuple(tally.examples))
        if self.small.count:
            share = self.small.count / len(self.contents)
            message = (
                f"pictures ({percent(share)}) are smaller than the recipe's {self.width} x {self.height} (width x height) and "
                "have to be enlarged: choose a smaller size, or look for larger pictures"
            )
            severity: Severity = "warning" if share >= SMALL else "note"
            yield Finding("small-pictures", severity, self.small.count, message, tuple(self.small.examples))
        if self.copies.count:
            message = "pictures are copies of another in their split, under another name: copies weigh more"
            severity = "warning" if self.copies.count / len(self.contents) >= REPEATS else "note"
            yield Finding("duplicate-pictures", severity, self.copies.count, message, tuple(self.copies.examples))
        for (earlier, one), (later, other) in combinations(self.splits.items(), 2):
            yield from _shared(earlier, one, later, other)


def _shared(earlier: str, one: _Shown, later: str, other: _Shown) -> Iterator[Finding]:
    """Find pictures that two splits share, by content. Sharing whole pairs with training is what spoils an evaluation."""
    shared = [content for content in other.pictures if content in one.pictures]
    if not shared:
        return
    known = set(one.pairs)
    leaked = sum(pair in known for pair in other.pairs)
    share = len(shared) / len(other.pictures)
    message = f"pictures of {later} ({percent(share)}) are in {earlier} too, {leaked:,} times with the same target"
    severity: Severity = "warning" if earlier == TRAIN and share >= OVERLAP else "note"
    if earlier == TRAIN and leaked / len(other.pairs) >= LEAK:
        severity = "error"
        message += f": figures on {later} would measure memory. Split again, keeping equal pictures together"
    places = [_place(content, one, other) for content in shared[:SHOWN]]
    yield Finding("shared-pictures", severity, len(shared), message, tuple(places))


def _place(content: str, one: _Shown, other: _Shown) -> str:
    (first, there), (name, here) = one.pictures[content], other.pictures[content]
    return f"{here}: {name}: the same picture as {first} ({there})"
