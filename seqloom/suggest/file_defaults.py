"""Sensible settings for tables that name files and come without a recipe: captions, classes, questions and answers."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from seqloom.data.kinds import file_kind_of
from seqloom.data.kinds.files import FileKind
from seqloom.data.media.files import Media, MediaError
from seqloom.data.vocabulary import build_vocabulary
from seqloom.recipe import Recipe
from seqloom.recipe.sections import TARGET, Files, FileSource, Vocabularies
from seqloom.suggest.defaults import (
    METRICS,
    UPDATES_PER_EPOCH,
    TextStatistics,
    finished,
    held_out_share,
    require_some,
    statistics_of,
)
from seqloom.suggest.recognition import Recognised
from seqloom.symbols import SPECIALS, UNKNOWN

_UPDATES = 6_000
"""About so many updates train a model of captions well; small data is gone over more often."""
_EPOCHS = (5, 40)
_OPENED = 16
"""So many files tell what they are like."""
_CLASS_REPEATS = 3
"""Short targets that occur so often each, on average, are classes."""


def recipe_for_files(
    train: Files,
    table: Recognised,
    *,
    validation: Files | None = None,
    test: Files | None = None,
    overrides: Sequence[str] = (),
) -> Recipe:
    """A recipe for a table of files: encoders, symbols, sizes and epochs that fit it. overrides: as of `--set`."""
    require_some(table, train)
    count, targets = table.count, table.texts(TARGET)
    target = statistics_of(targets)
    classes = target.words < 3.5 and _CLASS_REPEATS * len(set(targets)) <= len(targets)
    size, narrow = (512, 256) if count >= 20_000 else (256, 128)
    symbols: dict[str, Any] = {"kind": "whole"} if classes else _vocabulary(targets, count)
    batch = 64 if count >= 5_000 else 16
    updates = max(1, count // batch)
    epochs = max(_EPOCHS[0], min(_EPOCHS[1], round(_UPDATES / updates)))
    first = next(iter(table.sources))
    share = held_out_share(len(set(table.texts(first))))
    sources: dict[str, dict[str, Any]] = {}
    encoders: dict[str, dict[str, Any]] = {}
    for name, source in table.sources.items():
        place = {} if source.column is None else {"column": source.column}
        if isinstance(source, FileSource):
            kind = file_kind_of(source)
            chosen, encoders[name] = kind.suggested(_some_files(kind, table, name), narrow)
            sources[name] = {**chosen, "root": source.root, **place}
        else:
            vocabulary = _vocabulary(table.texts(name), count)
            sources[name] = {"kind": "text", "vocabulary": vocabulary, **place}
            encoders[name] = {"cell": "gru", "size": 128, "embedding": 128, "dropout": 0.3}
    body: dict[str, Any] = {
        "data": {
            "train": train,
            "format": table.format,
            "columns": table.columns.model_dump(),
            "sources": sources,
            "vocabularies": {"target": symbols},
            "split": {"validation": share, "test": share},
        },
        "model": {
            **({"encoders": encoders} if len(encoders) > 1 else {"encoder": encoders[first]}),
            "decoder": {"cell": "lstm", "size": size, "embedding": narrow, "dropout": 0.3 if classes else 0.5},
            "bridge": {"kind": "attention", "into": ["input", "output"], "gate": True, "attention": {"size": narrow}},
        },
        "training": {
            "epochs": epochs,
            "batch_size": batch,
            "learning_rate": 1e-3,
            "schedule": {"kind": "cosine", "warmup": min(200, epochs * updates // 10), "final": 0.05},
            "validation": {"metric": _metric(target, table, classes=classes), "patience": 6},
        },
        "search": {
            "kind": "beam",
            "width": 5,
            # How many places a picture has says nothing about how long a caption is.
            "length_factor": 0.0,
            "length_extra": _most_symbols(symbols, targets),
            # Whoever wants a caption has no use for a word that is not one.
            "forbid": [SPECIALS[UNKNOWN]],
        },
    }
    if updates < UPDATES_PER_EPOCH:
        body["training"]["validation"]["every_steps"] = UPDATES_PER_EPOCH
    return finished(body, validation, test, overrides)


def _vocabulary(texts: Sequence[str], count: int) -> dict[str, Any]:
    """Sentences as words, without those that are too rare to be learnt; else what the texts look like."""
    kind = statistics_of(texts).kind
    if kind != "bpe":
        return {"kind": kind}
    rare = 4 if count >= 20_000 else 2 if count >= 1_000 else 1
    return {"kind": "symbols" if _are_tokenised(texts) else "words", "lowercase": True, "minimum_count": rare}


def _most_symbols(vocabulary: dict[str, Any], texts: Sequence[str]) -> int:
    """How long outputs may become, `end` included: half as long again as the longest that was seen."""
    built = build_vocabulary(Vocabularies.model_validate({"target": vocabulary}).target, texts)
    return 1 + round(1.5 * max(map(len, built.encode_targets(texts))))


def _are_tokenised(texts: Sequence[str]) -> bool:
    """Whether punctuation stands between spaces: then what is between spaces is a word, and no space needs to be learnt."""
    marked = [word for text in texts for word in text.split() if word[-1] in ".,;:!?"]
    return 2 * sum(len(word) == 1 for word in marked) > len(marked)


def _metric(target: TextStatistics, table: Recognised, *, classes: bool) -> str:
    """What the weights are chosen by: whether answers are right, or how like captions or transcripts sentences are."""
    if classes or target.kind != "bpe":
        return "exact_match" if classes else METRICS[target.kind]
    kinds = [file_kind_of(source) for source in table.sources.values() if isinstance(source, FileSource)]
    return next((kind.metric for kind in kinds if kind.metric), "cider")


def _some_files(kind: FileKind[Any], table: Recognised, name: str) -> list[Media]:
    """A few files from all over the table, as far as they are there."""
    rows, found = list(table.complete_rows()), []
    for origin, cells in rows[:: max(1, len(rows) // _OPENED)]:
        with suppress(MediaError):
            found.append(kind.find(cells[table.places[name]], origin))
    return found
