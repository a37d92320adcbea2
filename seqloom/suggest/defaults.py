"""Sensible settings for pairs that come without a recipe, from a look at the data."""

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seqloom.data.reading.formats import read_examples, read_text
from seqloom.errors import DataError
from seqloom.recipe import Recipe, parse_recipe, recipe_from, to_yaml
from seqloom.recipe.sections import TARGET, Aligned, Files
from seqloom.recipe.sections.data import is_lone
from seqloom.suggest.recognition import Recognised, recognise, spread_over

_UPDATES = 3_000
"""About so many updates train a small model well; small data is gone over more often."""
UPDATES_PER_EPOCH = 60
_MOST_EPOCHS = 100
_TEXT_UPDATES = 4_000
_MOST_TEXT_EPOCHS = 20
_ENOUGH_FOR_WORDS = 1_000_000
_HELD_OUT = (20, 5_000)
"""Validation and test get a twentieth of the pairs each, within these numbers, and at most a fifth."""

Kind = Literal["symbols", "characters", "bpe"]
METRICS: dict[Kind, str] = {"symbols": "symbol_error_rate", "characters": "cer", "bpe": "chrf"}
"""What models are judged by that write symbols of a kind."""


@dataclass(frozen=True)
class Look:
    """What the texts of one side look like."""

    words: float
    characters: float
    word_types: int
    word_length: float
    longest_word: int
    repeats: float
    """How often each kind of word occurs, on average."""

    @property
    def kind(self) -> Kind:
        """What to take as its symbols."""
        if self._is_spelled_out:
            return "symbols"
        return "characters" if self.words < 3.5 else "bpe"

    @property
    def _is_spelled_out(self) -> bool:
        """Few kinds of short pieces between spaces, each seen often: phonemes, tags, spelled-out letters."""
        few = self.words > 1.5 and self.word_types <= 300 and self.longest_word <= 8
        return few and (self.repeats >= 20 or (self.repeats >= 2 and self.word_length <= 2))

    @property
    def length(self) -> float:
        """Symbols of a typical text."""
        return {"symbols": self.words, "characters": self.characters, "bpe": 1.4 * self.words}[self.kind]


def recipe_for(
    train: Files,
    table: Recognised | None = None,
    *,
    validation: Files | None = None,
    test: Files | None = None,
    overrides: Sequence[str] = (),
) -> Recipe:
    """A recipe for a table of texts: symbols, sizes and epochs that fit it. table: what `recognise` says of the files.

    overrides: as of `--set`.
    """
    table = table or recognise(train)
    require_some(table, train)
    pairs = table.count
    sources = {name: look_at(table.texts(name)) for name in table.sources}
    target = look_at(table.texts(TARGET))
    length = max(*(source.length for source in sources.values()), 1.0 if table.classes else target.length)
    size = 128 if pairs < 20_000 else 256
    budget = int(min(4000, max(100, pairs * length / UPDATES_PER_EPOCH)))
    updates = max(1, round(pairs * length / budget))
    epochs = max(3, min(_MOST_EPOCHS, round(_UPDATES / updates)))
    share = held_out_share(pairs)
    encoder = {"cell": "lstm", "size": size, "embedding": 128, "dropout": 0.3}
    body: dict[str, Any] = {
        "data": {
            "train": train if isinstance(train, Aligned) else list([train] if isinstance(train, str) else train),
            "format": table.format,
            "columns": table.columns.model_dump(),
            **_symbols(table, sources, {"kind": "whole"} if table.classes else _vocabulary(target, pairs)),
            "split": {"validation": share, "test": share},
        },
        "model": {
            **({"encoder": encoder} if len(sources) == 1 else {"encoders": dict.fromkeys(sources, encoder)}),
            "decoder": {"cell": "lstm", "size": 2 * size, "embedding": 128, "dropout": 0.3},
        },
        "training": {
            "epochs": epochs,
            "batch_tokens": budget,
            "learning_rate": 2e-3,
            "schedule": {"kind": "cosine", "warmup": min(100, epochs * updates // 10), "final": 0.05},
            "validation": {"metric": "exact_match" if table.classes else METRICS[target.kind], "patience": 10},
        },
    }
    if updates < UPDATES_PER_EPOCH:  # a few updates hardly change the model: judging it after each epoch would waste time
        body["training"]["validation"]["every_steps"] = UPDATES_PER_EPOCH
    return finished(body, validation, test, overrides)


def require_some(table: Recognised, files: Files) -> None:
    """Refuse files without anything to learn from."""
    if table.sampled is None:
        raise DataError(f"{_named(files)}: expected a file that can be read twice, found a pipe. Save it to a file first")
    if not any(True for _ in table.complete_rows()):
        _raise_what_is_wrong(table, files)
        raise DataError(f"{_named(files)}: holds no examples. Give a file with at least a few hundred pairs")


def _raise_what_is_wrong(table: Recognised, files: Files) -> None:
    """Where no row is complete, the first one says what it lacks."""
    for _ in read_examples(files, format=table.format, columns=table.columns, sources=table.sources):
        return


def _symbols(table: Recognised, looks: Mapping[str, Look], target: dict[str, Any]) -> dict[str, Any]:
    """What the texts are made of: the one source has its vocabulary beside the target's, several have each its own."""
    if is_lone(table.sources):
        (look,) = looks.values()
        return {"vocabularies": {"source": _vocabulary(look, table.count), "target": target}}
    sources = {
        name: {"column": source.column, "vocabulary": _vocabulary(looks[name], table.count)}
        for name, source in table.sources.items()
    }
    return {"sources": sources, "vocabularies": {"target": target}}


def finished(body: dict[str, Any], validation: Files | None, test: Files | None, overrides: Sequence[str]) -> Recipe:
    """The recipe, with files of its own for validation and test if there are any, and with what `--set` changes."""
    body["data"] |= {name: files for name, files in (("validation", validation), ("test", test)) if files is not None}
    recipe = recipe_from(body)
    return parse_recipe(to_yaml(recipe), where="the recipe made for this data", overrides=overrides) if overrides else recipe


def recipe_for_text(
    train: str | Sequence[str],
    *,
    validation: str | None = None,
    test: str | None = None,
    lines: bool = False,
    vocabulary: str | None = None,
    overrides: Sequence[str] = (),
) -> Recipe:
    """A recipe for a language model of plain text. lines: every line is a sequence by itself. vocabulary: a file of one."""
    files = (train,) if isinstance(train, str) else tuple(train)
    examples, count = spread_over(read_text(files, blank=False))
    if not examples:
        raise DataError(f"{_named(files)}: holds no text. Give a file with at least some thousand words")
    text = look_at([example.target or "" for example in examples])
    kind: dict[str, Any] = {"kind": "file", "file": vocabulary} if vocabulary is not None else _text_vocabulary(text, count)
    # A line break counts.
    symbols = count * (1 + (text.characters if kind["kind"] == "characters" else 1.3 * text.words))
    size = 256 if symbols < 500_000 else 512
    rows, stretch = (32, 64) if symbols < 2_000_000 else (64, 64)
    updates = max(1.0, symbols / (rows * stretch))
    epochs = max(3, min(_MOST_TEXT_EPOCHS, round(_TEXT_UPDATES / updates)))
    share = held_out_share(count)
    body: dict[str, Any] = {
        "data": {
            "train": list(files),
            "text": "lines" if lines else "stream",
            "vocabularies": {"target": kind},
            "split": {"validation": share, "test": share},
        },
        "model": {
            "encoder": None,
            "decoder": {"cell": "lstm", "size": size, "layers": 2, "embedding": size, "dropout": 0.3, "tied": "output"},
            "bridge": {"kind": "none"},
        },
        "training": {
            "epochs": epochs,
            "batch_size": None if lines else rows,
            "batch_tokens": rows * stretch,
            "stretch": stretch,
            "learning_rate": 2e-3,
            "schedule": {"kind": "cosine", "warmup": min(100, round(epochs * updates / 10)), "final": 0.02},
            "ema": {"decay": 0.995},
            "validation": {"metric": "loss", "patience": 5},
        },
        "search": {"kind": "sample", "length_factor": 0.0, "length_extra": 500},
    }
    return finished(body, validation, test, overrides)


def _text_vocabulary(text: Look, lines: int) -> dict[str, Any]:
    """Characters for text of a book's size; pieces of words where there is enough of it to learn words from."""
    if text.words * lines < _ENOUGH_FOR_WORDS:
        return {"kind": "characters"}
    return {"kind": "bpe", "size": 8000}


def _named(files: Files) -> str:
    match files:
        case str():
            return files
        case Aligned(source=source):
            return _named(source)
        case _:
            return ", ".join(files)


def look_at(texts: Sequence[str]) -> Look:
    """What some texts look like."""
    split = [text.split() for text in texts]
    words = list(itertools.chain.from_iterable(split))
    types = set(words)
    return Look(
        words=statistics.fmean(len(one) for one in split),
        characters=statistics.fmean(len(text) for text in texts),
        word_types=len(types),
        word_length=statistics.fmean(len(word) for word in words),
        longest_word=max(len(word) for word in types),
        repeats=len(words) / len(types),
    )


def _vocabulary(side: Look, pairs: int) -> dict[str, Any]:
    kind = side.kind
    return {"kind": kind, "size": max(500, min(8000, pairs // 4))} if kind == "bpe" else {"kind": kind}


def held_out_share(pairs: int) -> float:
    """The share of pairs that is held out for validation, and as much for test."""
    least, most = _HELD_OUT
    return round(min(0.2, max(least, min(most, 0.05 * pairs)) / pairs), 4)
