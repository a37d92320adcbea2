"""Data sets of the text applications as `benchmarks/pairs.py` trains them: their tables, and how each field measures.

Where a data set has no part to choose by, one is cut from its training part, by tweet. What has to be rewritten (questions with
two answers, tags in the place of compressions, the turn before a turn) is written into the cache once.
"""

import gzip
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from seqloom.data.cache import cache_folder
from seqloom.metrics import Item, evaluate

Row = Sequence[str]
INFLECTED = ("arabic", "finnish", "georgian", "german", "hungarian", "maltese", "navajo", "russian", "spanish", "turkish")
PARTS = {"train": "train", "validation": "dev", "test": "test"}


@dataclass(frozen=True)
class Items:
    """What was read, what was wanted and what was written, line by line. tags: the first of each, perhaps a language."""

    sources: Sequence[str]
    targets: Sequence[str]
    outputs: Sequence[str]
    tags: Sequence[str] = ()

    def by_tag(self) -> "dict[str, Items]":
        """The lines of each tag by themselves."""
        lines = defaultdict(list)
        for tag, *line in zip(self.tags, self.sources, self.targets, self.outputs, strict=True):
            lines[tag].append(line)
        return {tag: Items(*zip(*found, strict=True)) for tag, found in lines.items()}


# --- measures --------------------------------------------------------------------------------------------------------


def measured_by(*names: str) -> Callable[[Items], dict[str, float]]:
    """Metrics of seqloom by name; lines with equal sources are one item with several references."""

    def measure(items: Items) -> dict[str, float]:
        wanted: dict[str, list[str]] = defaultdict(list)
        for source, target in zip(items.sources, items.targets, strict=True):
            wanted[source].append(target)
        written = dict(zip(items.sources, items.outputs, strict=True))
        found = [_item(written[source], references, source) for source, references in wanted.items()]
        return dict(evaluate(found, names).metrics)

    return measure


def _item(output: str, references: Sequence[str], source: str) -> Item:
    return Item(output, tuple(references), (), tuple(() for _ in references), 0, source)


def accuracy(items: Items) -> dict[str, float]:
    """Forms that are right, every line an item."""
    right = sum(output == target for output, target in zip(items.outputs, items.targets, strict=True))
    return {"accuracy": 100 * right / len(items.outputs)}


def tagged_measures(items: Items) -> dict[str, float]:
    """Of tags: F1 of the words that are kept, sentences without an error, and how much is kept."""
    pairs = zip(items.outputs, items.targets, strict=True)
    found = evaluate([_item(output, [target], "") for output, target in pairs], ["kept_f1", "exact_match"])
    tags = [tag for output in items.outputs for tag in output.split()]
    return {**found.metrics, "kept": 100 * tags.count("1") / len(tags)}


# --- tables ----------------------------------------------------------------------------------------------------------


def lines_of(file: Path) -> Iterator[list[str]]:
    """The rows of a compressed table."""
    with gzip.open(file, "rt", encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield line.rstrip("\n").split("\t")


def rewritten(name: str, parts: Mapping[str, Callable[[], Iterable[Row]]]) -> list[str]:
    """Write tables into the cache, unless they are there; the settings that name them."""
    folder = cache_folder() / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    settings = []
    for part, rows in parts.items():
        file = folder / f"{name}.{part}.tsv"
        if not file.exists():
            draft = file.with_suffix(".draft")
            draft.write_text("".join("\t".join(row) + "\n" for row in rows()), encoding="utf-8")
            draft.rename(file)
        settings.append(f"data.{part}={file}")
    return settings


def one_in_ten(text: str) -> bool:
    """Whether a text is among the tenth that is cut off to choose by."""
    return hashlib.sha256(text.encode()).digest()[0] < 26


def tweetqa(data: Path) -> list[str]:
    """Tweets, questions, answers; one tweet in ten of train to choose by; a line for each of the two answers of test."""
    folder = data / "tweetqa"

    def train(*, held_out: bool) -> Iterator[Row]:
        for _, tweet, question, answer in lines_of(folder / "train.tsv.gz"):
            if one_in_ten(tweet) == held_out:
                yield tweet, question, answer

    def test() -> Iterator[Row]:
        for _, tweet, question, *answers in lines_of(folder / "test.tsv.gz"):
            yield from ((tweet, question, answer) for answer in answers)

    return rewritten(
        "tweetqa", {"train": lambda: train(held_out=False), "validation": lambda: train(held_out=True), "test": test}
    )


def aeslc(data: Path) -> list[str]:
    """Mails and subjects; the mails of test that are in train or dev, too, are left out: figures are of the new ones."""
    folder = data / "aeslc"

    def part(name: str) -> Iterator[Row]:
        return ((body, subject) for _, body, subject, *_ in lines_of(folder / f"{name}.tsv.gz"))

    def test() -> Iterator[Row]:
        known = {body for name in ("train", "dev") for body, _ in part(name)}
        return ((body, subject) for body, subject in part("test") if body not in known)

    # Of the words of subjects, 61 % are among the first 400 symbols of their mails, and 55 % among the first 80.
    return [
        *rewritten("aeslc", {"train": lambda: part("train"), "validation": lambda: part("dev"), "test": test}),
        "data.sources={source: {kind: text, first: 80}}",
    ]


def all_parts(part: Callable[[str], Iterator[Row]]) -> dict[str, Callable[[], Iterator[Row]]]:
    """The rows of each part, by the name that recipes have for it. part: makes rows, given the name of a file."""
    return {name: partial(part, file) for name, file in PARTS.items()}


def kept_tags(sentence: str, compression: str) -> str:
    """The words of a compression, found in its sentence from left to right, as tags: 1 for keep, 0 for drop."""
    left = compression.split()
    tags = []
    for word in sentence.split():
        keep = bool(left) and word == left[0]
        tags.append("1" if keep else "0")
        left = left[keep:]
    return " ".join(tags)


def compression(data: Path) -> list[str]:
    """Sentences, and their words as tags."""

    def part(name: str) -> Iterator[Row]:
        for sentence, kept in lines_of(data / "sentence_compression" / f"{name}.tsv.gz"):
            yield sentence, kept_tags(sentence, kept)

    return rewritten("compression-tags", all_parts(part))


def daily(data: Path) -> list[str]:
    """The turn before (empty at the beginning), the turn, the reply: lines follow each other within a conversation."""

    def part(name: str) -> Iterator[Row]:
        turn, reply = "", ""
        for said, answer in lines_of(data / "dailydialog_subset" / f"{name}.tsv.gz"):
            yield turn if said == reply else "", said, answer
            turn, reply = said, answer

    return rewritten("dailydialog", all_parts(part))


def sgd(data: Path, *columns: int) -> list[str]:
    """Some columns of task-oriented dialogues: 4 to 7 are the system, the user, the acts, the reply."""

    def part(name: str) -> Iterator[Row]:
        for row in lines_of(data / "sgd_dialogue" / f"{name}.tsv.gz"):
            chosen = [row[column - 1] for column in columns]
            if all(cell.strip() for cell in chosen[-2:]):
                yield chosen

    name = "sgd-" + "-".join(map(str, columns))
    return rewritten(name, all_parts(part))


def all_languages(name: str, folder: str, pattern: str, languages: Sequence[str]) -> Callable[[Path], list[str]]:
    """The tables of several languages as one, in which the last column names the language. pattern: of the files' names."""

    def settings(data: Path) -> list[str]:
        def part(file: str) -> Iterator[Row]:
            for language in languages:
                rows = lines_of(data / folder / pattern.format(language=language, part=file))
                yield from ((*row, language) for row in rows)

        return rewritten(name, all_parts(part))

    return settings


def packed(folder: str, pattern: str, *further: str, validation: str = "dev") -> Callable[[Path], list[str]]:
    """The settings of tables that are read as they are. pattern: of the files' names, with a place for the part."""
    parts = {**PARTS, "validation": validation}
    return lambda data: [*(f"data.{part}={data / folder / pattern.format(file)}" for part, file in parts.items()), *further]
