"""Where the files of data sets with two texts as sources are, and how the packaged recipes read them."""

from collections.abc import Callable
from pathlib import Path

from texts import packed

BABI = (1, 2, *range(4, 21))
"""The bAbI tasks at hand."""

SUMMARIES = (
    "model.encoders.premise.summary=max",
    "model.encoders.hypothesis={kind: same, source: premise}",
    "model.bridge.start={dense: 1, compare: true}",
)
"""The hypothesis read by the premise's encoder, and both summed up."""
READING_ON = ("model.encoders.hypothesis={kind: text, after: premise, cell: lstm, size: 64, embedding: 100, dropout: 0.3}",)
"""The hypothesis read on from the premise's last state."""


def sick(*further: str) -> Callable[[Path], list[str]]:
    """SICK: premise, hypothesis and class are the second to fourth column."""
    columns = "data.sources={premise: {kind: text, column: 2}, hypothesis: {kind: text, column: 3}}"
    return packed("sick", "{}.tsv.gz", columns, "data.columns={source: null, target: 4}", *further)


def babi(task: int) -> Callable[[Path], list[str]]:
    """A bAbI task; validation is cut from its training part, by story."""

    def settings(data: Path) -> list[str]:
        found = {part: next((data / "babi_en10k").glob(f"qa{task}_*_{part}.txt.gz")) for part in ("train", "test")}
        return [f"data.{part}={file}" for part, file in found.items()]

    return settings
