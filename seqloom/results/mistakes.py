"""What a model gets wrong, as plain data that the command line, pages and programs share."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from seqloom.results.confusion import Classes

EditKind = Literal["substituted", "dropped", "inserted"]
Unit = Literal["characters", "symbols", "words", "classes"]
"""What is counted: characters (or grapheme clusters), pieces between spaces, words and punctuation marks, whole targets."""


@dataclass(frozen=True)
class Case:
    """One wrong output: the sources, the closest of what was wanted, and what was written."""

    source: str
    wanted: str
    written: str


@dataclass(frozen=True)
class EditCount:
    """One edit, and how often it is needed to make a reference the output.

    share: of all edits, in percent. of: how often `wanted` stands in the references; None where nothing was wanted.
    """

    kind: EditKind
    wanted: str | None
    written: str | None
    count: int
    share: float
    of: int | None
    examples: tuple[Case, ...] = ()


@dataclass(frozen=True)
class JudgedGroup:
    """Items that have something in common, from `low` to `high` (None: or more).

    exact_match: right ones, and error_rate: edits per wanted unit, both in percent.
    """

    low: int
    high: int | None
    count: int
    exact_match: float
    error_rate: float

    @property
    def title(self) -> str:
        """The range as a person writes it."""
        if self.high is None:
            return f"{self.low:,}+"
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}\u2013{self.high:,}"


@dataclass(frozen=True)
class Grouping:
    """Items by something that is counted; `counted` says precisely what."""

    name: str
    counted: str
    groups: tuple[JudgedGroup, ...]


@dataclass(frozen=True)
class Mistake:
    """One wrong output of the worst ones. number: its place among the examples, from 0; edits: to the closest reference."""

    number: int
    case: Case
    edits: int
    error_rate: float
    probability: float
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mistakes:
    """All that goes wrong on some examples.

    unit: what confusions and error rates count. wanted: so many units the closest references have. unseen: so many symbols of
    the references the target vocabulary does not know, so that nothing can be right there. by: groups by length and by
    frequency. classes: instead of confusions, where targets are classes. notes: what could not be counted, and why.
    """

    count: int
    wrong: int
    unit: Unit
    wanted: int
    unseen: int
    confusions: tuple[EditCount, ...]
    by: tuple[Grouping, ...]
    worst: tuple[Mistake, ...]
    classes: Classes | None = None
    notes: Sequence[str] = field(default=())

    @property
    def edits(self) -> Mapping[EditKind, int]:
        """How many edits of each kind there are."""
        kinds: tuple[EditKind, ...] = ("substituted", "dropped", "inserted")
        return {kind: sum(one.count for one in self.confusions if one.kind == kind) for kind in kinds}

    @property
    def error_rate(self) -> float:
        """Edits per wanted unit, in percent."""
        return 100.0 * sum(self.edits.values()) / max(1, self.wanted)

    def as_json(self) -> dict[str, Any]:
        """The object that `errors --json` prints."""
        return {
            "count": self.count,
            "wrong": self.wrong,
            "unit": self.unit,
            "wanted": self.wanted,
            "unseen": self.unseen,
            "edits": dict(self.edits),
            "error_rate": self.error_rate,
            "confusions": [asdict(one) for one in self.confusions],
            **({} if self.classes is None else {"classes": self.classes.as_json()}),
            "by": [asdict(one) for one in self.by],
            "worst": [asdict(one) for one in self.worst],
            "notes": list(self.notes),
        }
