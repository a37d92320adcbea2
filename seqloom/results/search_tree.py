"""The tree that a search grew for one input, as plain data: every continuation that it looked at, and what became of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Fate = Literal["kept", "finished", "pruned", "forbidden", "cut off", "left"]
"""What became of a continuation: the search went on from it; it ended an output; others of its step were better; the rules
do not allow it; the output had reached its longest length; or the search stopped, because nothing could win any more."""


@dataclass(frozen=True)
class Branch:
    """One symbol that may follow a beginning.

    parent: the place of the beginning's last symbol in the step before; -1 at the first step. log_prob: of the symbol after
    its beginning; total: of the whole beginning with it. score: what ranked the output that ends here, if one does. reason:
    why it was kept or not. chosen: whether the best output goes through it; greedy: whether greedy search does. id: that of the
    symbol in the vocabulary.
    """

    symbol: str
    parent: int
    log_prob: float
    total: float
    fate: Fate
    reason: str
    score: float | None = None
    chosen: bool = False
    greedy: bool = False
    id: int | None = None

    @property
    def stays(self) -> bool:
        """Whether the search took it."""
        return self.fate not in ("pruned", "forbidden")


@dataclass(frozen=True)
class FoundOutput:
    """An output that the search found. score: what ranked it; length: in symbols, `end` included."""

    text: str
    score: float
    log_prob: float
    length: int
    finished: bool


@dataclass(frozen=True)
class SearchTree:
    """All steps of a search. width: how many beginnings it keeps; length_power: how lengths count in scores (S4).

    steps: for each symbol, the continuations, the most probable first. outputs: best first. greedy: what greedy search
    writes, and its log-probability.
    """

    sources: Mapping[str, str]
    width: int
    length_power: float
    steps: tuple[tuple[Branch, ...], ...]
    outputs: tuple[FoundOutput, ...]
    greedy: tuple[str, float]

    def as_json(self) -> dict[str, Any]:
        """The tree as `explain --tree` writes it to a .json file."""
        return {
            "sources": dict(self.sources),
            "width": self.width,
            "length_power": self.length_power,
            "steps": [[asdict(one) for one in step] for step in self.steps],
            "outputs": [asdict(one) for one in self.outputs],
            "greedy": {"text": self.greedy[0], "log_prob": self.greedy[1]},
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "SearchTree":
        """Read back what `as_json` gave."""
        return cls(
            body["sources"],
            body["width"],
            body["length_power"],
            tuple(tuple(Branch(**one) for one in step) for step in body["steps"]),
            tuple(FoundOutput(**one) for one in body["outputs"]),
            (body["greedy"]["text"], body["greedy"]["log_prob"]),
        )
