"""Sensible settings for pairs that come without a recipe, from a look at the data."""

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seqloom.data.reading.formats import paths_of, read_examples, read_text
from seqloom.errors import DataError
from seqloom.recipe import Recipe, parse_recipe, recipe_from, to_yaml
from seqloom.recipe.sections import TARGET, Aligned, Files, MonotonicBridge, TextEncoder, Vocabulary
from seqloom.recipe.sections.columns import is_lone
from seqloom.recipe.shipped import shipped_recipe
from seqloom.suggest.order import run_along
from seqloom.suggest.recognition import Recognised, recognise, spread_over
from seqloom.suggest.two_texts import ANSWERS, body_for_two_texts, recipe_of_two_texts

_ENOUGH = 20_000
"""Fewer pairs are small data, for which the models of recipes are made narrower, ..."""
_NARROW = 128
"""... to so many units in an encoder, twice as many in a decoder, ..."""
_LEARNING_RATE, _NARROW_UPDATES = 2e-3, 2_000
"""... which learn at this rate, and make so many updates."""
_UPDATES = (1_000, 20_000)
"""At least and at most so many updates: small data is gone over more often, and large data not as often as a recipe says."""
UPDATES_PER_EPOCH = 24
_MOST_EPOCHS = 100
_TEXT_UPDATES = 4_000
_MOST_TEXT_EPOCHS = 20
_ENOUGH_FOR_WORDS = 1_000_000
_ENOUGH_FOR_WIDTH, _ENOUGH_FOR_ROWS = 500_000, 2_000_000
"""Symbols of a text from which on a model is as wide as the recipe's, and reads twice as many rows side by side."""
_HELD_OUT = (20, 5_000)
"""Validation and test get a twentieth of the pairs each, within these numbers, and at most a fifth."""

Kind = Literal["symbols", "characters", "bpe"]
BASES: dict[Kind, str] = {"symbols": "pronunciation", "characters": "transliteration", "bpe": "translation"}
"""The shipped recipe for what is to be written, unless the table is plainly one of ..."""
INFLECTION = "inflection"
"""... words, tags and forms, or of ..."""
DIALOGUE = "dialogue"
"""... texts that others precede, such as earlier turns; or of ..."""
SUMMARIES, _LONG_TEXT, _SHORTER, _SUMMARY_WORDS = "summaries", 25, 2.5, 2
"""... texts of so many words, on average, and of targets that are so many times shorter, and longer than a word or two."""
METRICS: dict[Kind, str] = {"symbols": "symbol_error_rate", "characters": "cer", "bpe": "chrf"}
"""What models are judged by that write symbols of a kind."""


@dataclass(frozen=True)
class TextStatistics:
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

    def symbols(self, text: str) -> Sequence[str]:
        """The symbols of a text, as far as order is concerned."""
        return text if self.kind == "characters" else text.split()

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
    """A recipe for a table of texts: the shipped one for such texts, with what this data demands.

    table: what `recognise` says of the files. overrides: as of `--set`.
    """
    table = table or recognise(train)
    require_some(table, train)
    share = held_out_share(table.count)
    if not isinstance(train, Aligned) and (name := recipe_of_two_texts(table)) is not None:
        body = body_for_two_texts(name, table, paths_of(train), share)
        if name == ANSWERS:
            _fit_answers(body, table)
        return finished(body, validation, test, overrides)
    sources = {name: statistics_of(table.texts(name)) for name in table.sources}
    target = statistics_of(table.texts(TARGET))
    first = next(iter(sources.values()))
    base = shipped_recipe(_application(table, first, target) or BASES[first.kind if table.classes else target.kind])
    data = {
        "train": train if isinstance(train, Aligned) else list([train] if isinstance(train, str) else train),
        "format": table.format,
        "columns": table.columns.model_dump(),
        "references": base.data.references,
        **_symbols(table, base, sources, target),
        "split": {"validation": share, "test": share},
        **_longest(base, [*sources.values(), target]),
    }
    length = max(*(source.length for source in sources.values()), 1.0 if table.classes else target.length)
    walks = isinstance(base.model.bridge, MonotonicBridge)
    # Who cannot walk along the source looks at all of it, as transliteration does, whose targets may be in another order.
    modelled = shipped_recipe(BASES["characters"]) if walks and not _walks_along(table, sources, target) else base
    narrowed = table.count < _ENOUGH and _encoder_size(modelled) > _NARROW
    model = _model(modelled, list(sources), narrowed=narrowed)
    training = _training(base, table, length, METRICS[target.kind] if narrowed else None)
    body = {"data": data, "model": model, "training": training, "search": base.search.model_dump()}
    return finished(body, validation, test, overrides)


def _walks_along(table: Recognised, sources: Mapping[str, TextStatistics], target: TextStatistics) -> bool:
    """Whether the one source can be walked along while the target is written."""
    if table.classes or len(sources) > 1:
        return False
    ((name, source),) = sources.items()
    return run_along(list(map(source.symbols, table.texts(name))), list(map(target.symbols, table.texts(TARGET))))


def _fit_answers(body: dict[str, Any], table: Recognised) -> None:
    """Let small data be gone over more often, and read texts without spaces by their characters."""
    base, text = shipped_recipe(ANSWERS), statistics_of(table.texts("text"))
    body["training"] = _training(base, table, text.length, None)
    body["data"]["vocabularies"]["source"] = _vocabulary(text, table.count, base.data.vocabularies.source)


def _application(table: Recognised, source: TextStatistics, target: TextStatistics) -> str | None:
    """The shipped recipe of what the table is plainly about; None where its symbols decide."""
    if table.columns.separator is not None and target.kind == "characters":
        return INFLECTION
    if table.columns.preceding and not table.classes:
        return DIALOGUE
    if table.classes or not is_lone(table.sources) or source.kind != "bpe" or target.words < _SUMMARY_WORDS:
        return None
    return SUMMARIES if source.words >= _LONG_TEXT and source.words >= _SHORTER * target.words else None


def _longest(base: Recipe, sides: Sequence[TextStatistics]) -> dict[str, Any]:
    """The recipe leaves out what is longer than the rest; where long texts are the rule, they are what is to be learnt."""
    most = base.data.maximum_length
    return {"maximum_length": most} if all(3 * one.length < most for one in sides) else {}


def _encoder_size(base: Recipe) -> int:
    encoder = base.model.encoder
    return encoder.size if isinstance(encoder, TextEncoder) else 0


def _model(base: Recipe, sources: Sequence[str], *, narrowed: bool) -> dict[str, Any]:
    """The recipe's model, or a narrower one; every source has an encoder."""
    body = base.model.model_dump(exclude_none=True)
    encoder, decoder = body.pop("encoder"), body["decoder"]
    if narrowed:
        encoder["size"] = min(_NARROW, encoder["size"])
        decoder["size"] = min(2 * _NARROW, decoder["size"])
        encoder["embedding"], decoder["embedding"] = (min(_NARROW, one["embedding"]) for one in (encoder, decoder))
        if decoder["tied"] != "none":  # the embedding is the output layer
            decoder["embedding"] = decoder["size"]
    return {**body, **({"encoder": encoder} if len(sources) == 1 else {"encoders": dict.fromkeys(sources, encoder)})}


def _training(base: Recipe, table: Recognised, length: float, narrowed: str | None) -> dict[str, Any]:
    """The recipe's training. length: symbols of a typical text.

    narrowed: for a narrower model, what it is judged by: few examples need a metric that tells small steps apart.
    """
    body = base.training.model_dump()
    symbols = table.count * length
    budget = int(min(base.training.batch_tokens, max(100, symbols / UPDATES_PER_EPOCH)))
    updates = max(base.training.shortest_epoch or 1, round(symbols / budget))
    wanted = min(_UPDATES[1], max(_NARROW_UPDATES if narrowed else _UPDATES[0], base.training.epochs * updates))
    epochs = max(3, min(_MOST_EPOCHS, round(wanted / updates)))
    body |= {"epochs": epochs, "batch_tokens": budget}
    body["schedule"]["warmup"] = min(body["schedule"]["warmup"], epochs * updates // 10)
    if narrowed:
        body["learning_rate"] = _LEARNING_RATE
        body["validation"] |= {"metric": narrowed, "patience": 10}
    if table.classes:
        # Whoever asks for classes asks how probable each is, which smoothed labels would falsify.
        body["label_smoothing"] = 0.0
        body["validation"]["metric"] = "exact_match"
    if updates < UPDATES_PER_EPOCH:  # a few updates hardly change the model: judging it after each epoch would waste time
        body["validation"]["every_steps"] = UPDATES_PER_EPOCH
    return body


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


def _symbols(table: Recognised, base: Recipe, sides: Mapping[str, TextStatistics], target: TextStatistics) -> dict[str, Any]:
    """What the texts are made of: the one source has its vocabulary beside the target's, several have each its own."""
    usual = base.data.vocabularies
    read = {name: _vocabulary(side, table.count, usual.source) for name, side in sides.items()}
    for name, vocabulary in read.items():
        if vocabulary.get("lowercase") and _case_matters(table.texts(name)):
            vocabulary["lowercase"] = False
    written = {"kind": "whole"} if table.classes else _vocabulary(target, table.count, usual.target)
    if is_lone(table.sources):
        (vocabulary,) = read.values()
        sources = {name: source.model_dump(exclude={"column"}) for name, source in base.data.sources.items()}
        shared = usual.shared and not table.classes
        return {"sources": sources, "vocabularies": {"source": vocabulary, "target": written, "shared": shared}}
    sources = {name: {"column": source.column, "vocabulary": read[name]} for name, source in table.sources.items()}
    return {"sources": sources, "vocabularies": {"target": written}}


def _case_matters(texts: Sequence[str]) -> bool:
    """Whether there are texts that only capital letters tell apart."""
    different = set(texts)
    return len({one.lower() for one in different}) < len(different)


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
    text = statistics_of([example.target or "" for example in examples])
    kind: dict[str, Any] = {"kind": "file", "file": vocabulary} if vocabulary is not None else _text_vocabulary(text, count)
    # A line break counts.
    symbols = count * (1 + (text.characters if kind["kind"] == "characters" else 1.3 * text.words))
    base = shipped_recipe("text")
    body = {"model": base.model.model_dump(), "training": base.training.model_dump(), "search": base.search.model_dump()}
    if symbols < _ENOUGH_FOR_WIDTH:
        body["model"]["decoder"] |= {"size": 256, "embedding": 256}
    rows = (base.training.batch_size or 32) * (1 if symbols < _ENOUGH_FOR_ROWS else 2)
    piece = base.training.bptt
    updates = max(1.0, symbols / (rows * piece))
    epochs = max(3, min(_MOST_TEXT_EPOCHS, round(_TEXT_UPDATES / updates)))
    body["training"] |= {"epochs": epochs, "batch_size": None if lines else rows, "batch_tokens": rows * piece}
    body["training"]["schedule"]["warmup"] = min(base.training.schedule.warmup, round(epochs * updates / 10))
    share = held_out_share(count)
    body["data"] = {
        "train": list(files),
        "text": "lines" if lines else "stream",
        "vocabularies": {"target": kind},
        "split": {"validation": share, "test": share},
    }
    return finished(body, validation, test, overrides)


def _text_vocabulary(text: TextStatistics, lines: int) -> dict[str, Any]:
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


def statistics_of(texts: Sequence[str]) -> TextStatistics:
    """What some texts look like."""
    split = [text.split() for text in texts]
    words = list(itertools.chain.from_iterable(split))
    types = set(words)
    return TextStatistics(
        words=statistics.fmean(len(one) for one in split),
        characters=statistics.fmean(len(text) for text in texts),
        word_types=len(types),
        word_length=statistics.fmean(len(word) for word in words),
        longest_word=max(len(word) for word in types),
        repeats=len(words) / len(types),
    )


def _vocabulary(side: TextStatistics, pairs: int, usual: Vocabulary) -> dict[str, Any]:
    """The recipe's vocabulary if it is of the kind that a side needs; fewer parts of words for small data."""
    kind = side.kind
    if usual.kind == "words" and kind == "bpe":  # a recipe that copies copies whole words
        return usual.model_dump()
    body: dict[str, Any] = usual.model_dump() if usual.kind == kind else {"kind": kind}
    return {**body, "size": max(500, min(8000, pairs // 4))} if kind == "bpe" else body


def held_out_share(pairs: int) -> float:
    """The share of pairs that is held out for validation, and as much for test."""
    least, most = _HELD_OUT
    return round(min(0.2, max(least, min(most, 0.05 * pairs)) / pairs), 4)
