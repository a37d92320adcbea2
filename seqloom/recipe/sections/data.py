"""Where examples come from, and what they consist of."""

from collections.abc import Mapping
from re import fullmatch
from typing import Annotated, Any, Literal, Self, assert_never, get_args

from pydantic import AfterValidator, Field, model_validator

from seqloom.recipe.sections.base import Count, Fraction, Named, Positive, Section
from seqloom.recipe.sections.columns import NOT_NAMES, SOURCE, TARGET, Columns, Form, form_of, is_lone
from seqloom.recipe.sections.sources import AnySource, FileSource, ImageSource, SoundSource, Sources, TextSource, VideoSource
from seqloom.recipe.sections.vocabularies import AnyVocabulary, Vocabularies

BuiltinTask = Literal["dates", "scenes", "scene-questions", "moves", "tones"]
"""The tasks that bring their own examples."""
_BUILTIN_TASKS: tuple[BuiltinTask, ...] = get_args(BuiltinTask)


def _sources_of(task: BuiltinTask) -> Mapping[str, AnySource]:
    """What the sources of a built-in task are, unless a recipe says more about them."""
    match task:
        case "dates":
            return {SOURCE: TextSource()}
        case "scenes":
            return {"image": ImageSource(size=64)}
        case "scene-questions":
            return {"image": ImageSource(size=64), "question": TextSource()}
        case "moves":
            return {"video": VideoSource(size=32, frames_per_second=None)}
        case "tones":
            return {"sound": SoundSource(rate=8_000, bands=64, window=64, step=20)}
        case _:
            assert_never(task)


def _number_of(source: object, usual: int) -> int:
    """The number of a source's column, given with its place among the sources; 0 for a column with a name."""
    column = source.get("column") if isinstance(source, dict) else getattr(source, "column", None)
    return usual if column is None else column if isinstance(column, int) else 0


def _lone(files: Any) -> Any:
    """One file in a list is that file: two recipes that name the same data say the same."""
    return files[0] if isinstance(files, tuple) and len(files) == 1 else files


FileNames = Annotated[str | tuple[str, ...], AfterValidator(_lone)]


class Aligned(Section):
    """Two text files, line i of one belonging to line i of the other."""

    source: FileNames
    target: FileNames


Files = FileNames | Aligned


class Split(Section):
    """Shares of `train` that become validation and test, chosen by a hash of the source: equal sources stay together.

    Of plain text the line itself is hashed; of a stream, whose order matters, validation and test are the last lines.
    """

    validation: Fraction = 0.05
    test: Fraction = 0.05
    by: str | None = None
    """The source that decides alone, where there are several: all questions about a text stay together."""

    @model_validator(mode="after")
    def _something_is_left(self) -> Self:
        if self.validation + self.test >= 1:
            raise ValueError(
                f"validation {self.validation} and test {self.test} leave nothing to train on. Make their sum less than 1"
            )
        return self


class Languages(Section):
    """Codes of what is read and written, such as de or pt-BR."""

    source: str
    target: str


def _one_text() -> Named[AnySource]:
    return Named({SOURCE: TextSource()})


class Data(Section):
    """Where examples come from and how text becomes symbols."""

    builtin: BuiltinTask | None = None
    train: Files | None = None
    validation: Files | None = None
    test: Files | None = None
    split: Split = Field(default_factory=Split)
    seed: Count | None = None
    """Decides which examples fall to which split, and what a built-in task draws; by default the recipe's seed."""
    format: Literal["auto", "tsv", "csv", "jsonl", "parquet", "text", "cmudict", "cmudict-unstressed", "stories"] = "auto"
    text: Literal["lines", "stream"] | None = None
    """Plain text, for a language model: every line a sequence of its own, or all lines one running text."""
    columns: Columns = Field(default_factory=Columns)
    weights: Literal["loss", "repeat"] = "loss"
    """What an example's weight does: it multiplies its part of the loss, or training has the example so many times."""
    sources: Sources = Field(default_factory=_one_text)
    """What is read, by name: one text, or what a built-in task has, unless said otherwise."""
    vocabularies: Vocabularies = Field(default_factory=Vocabularies)
    references: Literal["auto", "single", "grouped"] = "auto"
    """Whether examples with equal sources are judged as one with several right outputs; `auto`: if a source is a file."""
    maximum_length: Positive = 500
    """Longer sides, in symbols, are left out of training, counted and reported."""
    maximum_input: Positive = 2000
    """Longer inputs, in symbols, are refused by prediction and scoring: one of them could take all memory and minutes."""
    languages: Languages | None = None
    """What languages sources and targets are in, for services that are asked by language. Nothing else depends on it."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        for name in ("train", "validation", "test"):
            if getattr(self, name) == ():
                raise ValueError(f"`{name}` lists no files. Name at least one, or leave `{name}` out")
        if self.builtin is None and self.train is None:
            raise ValueError("give `train` (a file or a list of files) or `builtin` (the name of a built-in task)")
        if self.builtin is not None and (self.train or self.validation or self.test):
            raise ValueError("`builtin` brings its own examples: remove `train`, `validation` and `test`, or remove `builtin`")
        return self

    @model_validator(mode="after")
    def _text_is_plain(self) -> Self:
        if self.text is None:
            return self
        if self.builtin is not None or any(isinstance(one, Aligned) for one in (self.train, self.validation, self.test)):
            raise ValueError(
                f"`text: {self.text}` reads plain text files, which have no source. Name such files, or remove `text`"
            )
        if self.format not in ("auto", "text"):
            raise ValueError(f"`text: {self.text}` reads plain text, but `format` says {self.format}. Remove one of them")
        if self.vocabularies.shared:
            raise ValueError("`text` has one side, so there is nothing to share. Remove `shared`")
        return self

    @model_validator(mode="before")
    @classmethod
    def _the_target_follows_the_sources(cls, body: Any) -> Any:
        """Put the target into the column after those of named sources, unless it is said where it stands."""
        sources = body.get("sources") if isinstance(body, dict) else None
        columns = body.get("columns", {}) if isinstance(body, dict) else None
        if not isinstance(sources, dict) or is_lone(sources) or not isinstance(columns, dict | Columns):
            return body
        given = columns if isinstance(columns, dict) else {name: getattr(columns, name) for name in columns.model_fields_set}
        taken = [_number_of(source, number) for number, source in enumerate(sources.values(), start=1)]
        return {**body, "columns": {"source": None, "target": max(taken, default=0) + 1, **given}}

    @model_validator(mode="before")  # Of such validators the last is the first: the next to last sees these sources.
    @classmethod
    def _a_builtin_task_has_its_sources(cls, body: Any) -> Any:
        """Take the sources of a built-in task, unless they are given."""
        task = body.get("builtin") if isinstance(body, dict) and "sources" not in body else None
        known = next((name for name in _BUILTIN_TASKS if name == task), None)
        return body if known is None else {**body, "sources": dict(_sources_of(known))}

    @model_validator(mode="after")
    def _sources_are_those_of_the_task(self) -> Self:
        if self.builtin is None:
            return self
        wanted = {name: source.kind for name, source in _sources_of(self.builtin).items()}
        if {name: source.kind for name, source in self.sources.items()} != wanted:
            shown = ", ".join(f"{name}: {{kind: {kind}}}" for name, kind in wanted.items())
            raise ValueError(
                f"the built-in task {self.builtin} has the sources {{{shown}}}, and `sources` names others. "
                "Leave `sources` out, or name these"
            )
        return self

    @model_validator(mode="after")
    def _sources_have_names(self) -> Self:
        if not self.sources:
            raise ValueError("`sources` names no source. Name at least one, or leave `sources` out for text")
        for name in self.sources:
            if not fullmatch(r"[a-z][a-z0-9_]{0,39}", name) or name in NOT_NAMES:
                raise ValueError(
                    f"`sources` has a source called {name!r}. A name begins with a small letter, goes on with small letters, "
                    f"digits and _, and is none of {', '.join(sorted(NOT_NAMES))}"
                )
        return self

    @model_validator(mode="after")
    def _splits_go_by_a_source(self) -> Self:
        if self.split.by is not None and (self.split.by not in self.sources or self.text is not None):
            raise ValueError(
                f"`split: {{by: {self.split.by}}}` names no source; found {', '.join(self.sources)}. "
                "Name one of them, or remove `by`"
            )
        return self

    @model_validator(mode="after")
    def _each_column_is_said_once(self) -> Self:
        if is_lone(self.sources):
            if self.sources[SOURCE].column is not None:
                raise ValueError("the column of the one source called `source` stands in `columns.source`. Write it there")
        elif self.columns.source is not None:
            raise ValueError(
                f"`columns.source` is about the one source of pairs, and `sources` names {', '.join(self.sources)}. "
                f"Write `column` in `sources.{next(iter(self.sources))}`"
            )
        aligned = any(isinstance(one, Aligned) for one in (self.train, self.validation, self.test))
        if aligned and len(self.sources) > 1:
            raise ValueError("aligned files hold one source, and `sources` names several. Use a table with a column for each")
        return self

    @model_validator(mode="after")
    def _what_needs_text_has_text(self) -> Self:
        texts = self.text_sources
        if self.text is not None and not (is_lone(self.sources) and texts):
            raise ValueError("`sources` says what the sources of pairs are; here there is text alone. Remove `sources`")
        if self.vocabularies.shared and not texts:
            raise ValueError(
                "`vocabularies: {shared: true}` lets the target share the vocabulary of the source, and none of the sources is "
                "text. Remove it"
            )
        if self.vocabularies.shared and not all(self.share_a_vocabulary(texts[0], one) for one in texts[1:]):
            raise ValueError(
                "`vocabularies: {shared: true}` lets the target share the vocabulary of the source, and "
                f"{' and '.join(texts)} have one each. Write `together: true` beside it, so that they have one, or remove it"
            )
        for key in ("features", "preceding"):
            if getattr(self.columns, key) and not texts:
                raise ValueError(
                    f"`columns.{key}` stands in front of a text, and none of the sources is text. "
                    "Make it a source of its own, or numbers of a vector"
                )
        return self

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of what an example consists of."""
        return (TARGET,) if self.text is not None else (*self.sources, TARGET)

    @property
    def text_sources(self) -> tuple[str, ...]:
        """The names of the sources that are text. Features stand before the first of them."""
        return tuple(name for name, source in self.sources.items() if source.has_vocabulary)

    @property
    def file_sources(self) -> dict[str, FileSource]:
        """The sources that are names of files, by name."""
        return {name: source for name, source in self.sources.items() if isinstance(source, FileSource)}

    @property
    def symbol_sides(self) -> tuple[str, ...]:
        """The names of what is text, and has a vocabulary."""
        return (TARGET,) if self.text is not None else (*self.text_sources, TARGET)

    def vocabulary_of(self, side: str) -> AnyVocabulary:
        """What a side's symbols are."""
        if side == TARGET:
            return self.vocabulary_of(self.text_sources[0]) if self.vocabularies.shared else self.vocabularies.target
        source = self.sources[side]
        own = source.vocabulary if isinstance(source, TextSource) else None
        return self.vocabularies.source if own is None else own

    def first_of(self, side: str) -> int | None:
        """So many symbols of a source are read; None: all."""
        source = self.sources[side]
        return source.first if isinstance(source, TextSource) else None

    def share_a_vocabulary(self, one: str, other: str) -> bool:
        """Whether two sources have the same symbols."""
        sections = self.sources[one], self.sources[other]
        own = [section.vocabulary for section in sections if isinstance(section, TextSource)]
        return self.vocabularies.together and own == [None, None]

    @property
    def longest_input(self) -> int:
        """How many symbols are read at most: whatever training has seen can be read."""
        return max(self.maximum_input, self.maximum_length)

    @property
    def limits_in_words(self) -> str:
        """What is left out of training if it is longer."""
        files = [source.limit_in_words for source in self.file_sources.values()]
        return " or ".join([f"{self.maximum_length} symbols", *dict.fromkeys(filter(None, files))])

    @property
    def form(self) -> Form:
        """What an example consists of, and where its parts stand."""
        return form_of(self.columns, self.sources)

    @property
    def groups_references(self) -> bool:
        """Whether examples with equal sources are judged as one with several right outputs."""
        return self.references == "grouped" or (self.references == "auto" and bool(self.file_sources))
