"""What the data doctor looks for where questions are asked about texts: texts that splits share, answers that are not there."""

import re
from collections.abc import Iterator

from seqloom.data.doctor.checks import TRAIN, Check, Chunk, Finding, Severity, Tally, percent
from seqloom.data.doctor.comparisons import OVERLAP
from seqloom.data.examples import Origin, abbreviated

_ELSEWHERE = 0.5
"""From this share of targets on that have no word of the text, copying from it is no help."""
_WORD = re.compile(r"\w+")


def answer_checks(text: str | None, copied: str | None) -> list[Check]:
    """The checks for data of several sources. text: the one that questions are about. copied: what outputs are copied from."""
    shared: list[Check] = [] if text is None else [SharedTexts(text)]
    return shared + ([] if copied is None else [Elsewhere(copied)])


class SharedTexts:
    """Finds texts that two splits share, also with other questions: what is measured on them is partly memory."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._first: dict[int, tuple[str, Origin]] = {}
        self._splits: dict[str, set[int]] = {}
        self._tallies: dict[str, Tally] = {}

    def see(self, chunk: Chunk) -> None:
        """Remember where each text stands first, and which later split has it again."""
        known, tally = self._splits.setdefault(chunk.split, set()), self._tallies.setdefault(chunk.split, Tally())
        for example in chunk.examples:
            text = hash(example.sources[self.source])
            split, origin = self._first.setdefault(text, (chunk.split, example.origin))
            if split != chunk.split and text not in known:
                tally.add(f"{example.origin}: the same {self.source} as {origin}, which is in {split}")
            known.add(text)

    def findings(self) -> Iterator[Finding]:
        """One for each split that has texts of an earlier one."""
        for split, tally in self._tallies.items():
            if tally.count:
                share = tally.count / len(self._splits[split])
                message = (
                    f"different texts of {split} ({percent(share)} of what is called {self.source}) are in another split, too, "
                    "if with other questions: figures are partly memory. Split by text"
                )
                severity: Severity = "warning" if share >= OVERLAP else "note"
                yield Finding("shared-texts", severity, tally.count, message, tuple(tally.examples))


class Elsewhere:
    """Finds targets of which the source that they are copied from has not a single word."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._tally, self._seen = Tally(), 0

    def see(self, chunk: Chunk) -> None:
        """Look for the words of each target of train in the source, whatever their case."""
        if chunk.split != TRAIN:
            return
        self._seen += len(chunk.examples)
        for example in chunk.examples:
            text, target = example.sources[self.source].lower(), (example.target or "").lower()
            if target not in text and not set(_WORD.findall(target)) & set(_WORD.findall(text)):
                self._tally.add(f"{example.origin}: {abbreviated(example.target or '', 40)}")

    def findings(self) -> Iterator[Finding]:
        """How many there are."""
        if self._tally.count:
            share = self._tally.count / self._seen
            message = (
                f"targets of train ({percent(share)}) have no word of their {self.source}, from which outputs are copied: "
                "only words of the vocabulary can write them"
            )
            severity: Severity = "warning" if share >= _ELSEWHERE else "note"
            yield Finding("not-in-text", severity, self._tally.count, message, tuple(self._tally.examples))
