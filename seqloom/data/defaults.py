"""Sensible settings for pairs that come without a recipe, from a look at the data."""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqloom.data.examples import read_examples
from seqloom.errors import DataError
from seqloom.recipe import Recipe, parse_recipe, recipe_from, to_yaml
from seqloom.recipe.sections import Aligned, Columns, Files

_LOOK = 20_000
_UPDATES = 3_000
"""About so many updates train a small model well; small data is gone over more often."""
_UPDATES_PER_EPOCH = 60


@dataclass(frozen=True)
class _Side:
    """What the texts of one side look like."""

    words: float
    characters: float
    word_types: int
    longest_word: int
    repeats: float
    """How often each kind of word occurs, on average."""


def recipe_for(
    train: Files,
    *,
    validation: Files | None = None,
    test: Files | None = None,
    columns: Columns = Columns(),  # noqa: B008 (frozen)
    overrides: Sequence[str] = (),
) -> Recipe:
    """A recipe for a file of pairs: symbols, sizes and epochs that fit it. overrides: as of `--set`."""
    examples = list(itertools.islice(read_examples(train, columns=columns), _LOOK))
    if not examples:
        raise DataError(f"{_named(train)}: holds no examples. Give a file with at least a few hundred pairs")
    pairs = _count(train, columns, len(examples))
    source = _look([example.sources["source"] for example in examples])
    target = _look([example.target or "" for example in examples])
    size = 128 if pairs < 20_000 else 256
    length = max(_length(source), _length(target))
    budget = _budget(pairs, length)
    body: dict[str, Any] = {
        "data": {
            "train": train if isinstance(train, Aligned) else list([train] if isinstance(train, str) else train),
            "columns": columns.model_dump(),
            "vocabularies": {"source": _vocabulary(source, pairs), "target": _vocabulary(target, pairs)},
        },
        "model": {
            "encoder": {"cell": "lstm", "size": size, "embedding": 128, "dropout": 0.3},
            "decoder": {"cell": "lstm", "size": 2 * size, "embedding": 128, "dropout": 0.3},
        },
        "training": {
            "epochs": _epochs(pairs, length, budget),
            "batch_tokens": budget,
            "learning_rate": 2e-3,
            "schedule": {"kind": "cosine", "warmup": 100, "final": 0.05},
            "validation": {"metric": "cer", "patience": 10},
        },
    }
    body["data"] |= {name: files for name, files in (("validation", validation), ("test", test)) if files is not None}
    recipe = recipe_from(body)
    return parse_recipe(to_yaml(recipe), where="the recipe made for this data", overrides=overrides) if overrides else recipe


def _named(files: Files) -> str:
    match files:
        case str():
            return files
        case Aligned(source=source):
            return _named(source)
        case _:
            return ", ".join(files)


def _count(train: Files, columns: Columns, seen: int) -> int:
    """How many pairs there are; counted in full only where the first look did not reach the end."""
    if seen < _LOOK:
        return seen
    return sum(1 for _ in read_examples(train, columns=columns))


def _look(texts: Sequence[str]) -> _Side:
    split = [text.split() for text in texts]
    words = list(itertools.chain.from_iterable(split))
    types = set(words)
    return _Side(
        words=statistics.fmean(len(one) for one in split),
        characters=statistics.fmean(len(text) for text in texts),
        word_types=len(types),
        longest_word=max((len(word) for word in types), default=0),
        repeats=len(words) / max(1, len(types)),
    )


def _is_symbols(side: _Side) -> bool:
    """Few kinds of short pieces between spaces, each seen often: phonemes, tags, spelled-out letters."""
    return side.words > 1.5 and side.word_types <= 300 and side.longest_word <= 8 and side.repeats >= 20


def _vocabulary(side: _Side, pairs: int) -> dict[str, Any]:
    if _is_symbols(side):
        return {"kind": "symbols"}
    if side.words < 3.5:
        return {"kind": "characters"}
    return {"kind": "bpe", "size": max(500, min(8000, pairs // 4))}


def _length(side: _Side) -> float:
    """Symbols of a typical text."""
    if _is_symbols(side):
        return side.words
    return side.characters if side.words < 3.5 else 1.4 * side.words


def _budget(pairs: int, length: float) -> int:
    """Symbols a batch: large ones compute faster, but small data must still make enough updates an epoch."""
    return int(min(4000, max(400, pairs * length / _UPDATES_PER_EPOCH)))


def _epochs(pairs: int, length: float, budget: int) -> int:
    updates_per_epoch = max(1.0, pairs * length / budget)
    return max(3, min(60, round(_UPDATES / updates_per_epoch)))
