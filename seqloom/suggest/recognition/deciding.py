"""Which columns of a table are the sources and which is the target, and why, if no recipe says it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from seqloom.data.examples import Origin, Report, ignore
from seqloom.data.kinds import file_kind_of
from seqloom.data.kinds.files import FileKind
from seqloom.data.media.files import MediaError
from seqloom.data.reading.endings import Format
from seqloom.data.reading.formats import paths_of
from seqloom.data.reading.headings import role_of
from seqloom.data.reading.stories import STORY_SOURCES, are_stories
from seqloom.data.reading.tables import ONE_TEXT
from seqloom.errors import DataError, MissingExtraError, UsageError
from seqloom.recipe.sections import SOURCE, TARGET, Aligned, Columns, Files, FileSource, Source, TextSource, form_of
from seqloom.recipe.sections.columns import PARTS
from seqloom.suggest.recognition.columns import Column, are_classes, look_at_column
from seqloom.suggest.recognition.entailment import by_entailment
from seqloom.suggest.recognition.headers import header_of
from seqloom.suggest.recognition.naming import ColumnChoice, by_names, source_names
from seqloom.suggest.recognition.questions import by_questions
from seqloom.suggest.recognition.rows import TableSample, sample
from seqloom.suggest.recognition.tags import by_tags, separator_of

_PARTS = frozenset(PARTS)
_TRIED = 20
"""So many files tell whether any are where they are looked for."""


@dataclass(frozen=True)
class Recognised:
    """What the sources are, by name, and where the other parts of an example stand; what was seen of the table.

    sampled: some of its rows, without the header; None for pipes. places: where in a row each part stands, from 0. said: which
    columns were taken and why, for a person; empty where there is nothing to say. classes: whether targets are a few classes.
    format: of the files, if a person said it.
    """

    sources: Mapping[str, Source]
    columns: Columns
    sampled: TableSample | None = field(default=None, repr=False, compare=False)
    places: Mapping[str, int] = field(default_factory=dict, compare=False)
    said: str = field(default="", compare=False)
    classes: bool = field(default=False, compare=False)
    format: Format = "auto"

    @property
    def names_files(self) -> bool:
        """Whether a source is a file."""
        return any(isinstance(source, FileSource) for source in self.sources.values())

    @property
    def count(self) -> int:
        """How many examples there are, as far as can be told before they are read."""
        return 0 if self.sampled is None else self.sampled.count

    def as_json(self) -> dict[str, object]:
        """The columns that were taken, by the names of parts, and why, as JSON-ready data."""
        form = form_of(self.columns, self.sources)
        return {"taken": {**form.columns, TARGET: form.target}, "classes": self.classes, "said": self.said}

    def texts(self, part: str) -> list[str]:
        """What a source or the target holds in the rows that were seen, one for each complete row."""
        return [cells[self.places[part]] for _, cells in self.complete_rows()]

    def complete_rows(self) -> Iterator[tuple[Origin, Sequence[str]]]:
        """The rows that were seen and have all parts. What is wrong with the others is said where everything is read."""
        for row in () if self.sampled is None else self.sampled.rows:
            if all(place < len(row.cells) and row.cells[place].strip() for place in self.places.values()):
                yield row


def recognise(
    files: Files,
    parts: Mapping[str, Any] | None = None,
    *,
    root: str | None = None,
    format: Format = "auto",
    report: Report = ignore,
) -> Recognised:
    """Find out which columns a table has, in one reading of it.

    parts: the columns that a person named: `source` or the names of sources, `target`, `weight`, `features`. Where none are
    named, a header tells, or what the columns hold. root: where the names of images begin. format: of the files, if their
    endings do not tell. report: what to do about lines that cannot be read. Raises UsageError, with the `--columns` to use,
    where nobody could tell.
    """
    told = dict(parts or {})
    sampled = sample(files, report, format)
    if sampled is not None and format == "auto" and not told and _hold_stories(sampled):
        format = "stories"
        sampled = sample(files, report, format)
    if format == "stories" and not told:
        told = dict(zip((*STORY_SOURCES, TARGET), (1, 2, 3), strict=True))
    if sampled is None:
        return Recognised(ONE_TEXT, Columns(**{name: told[name] for name in _PARTS & told.keys()}), format=format)
    table = _named(files)
    header = sampled.names or (None if isinstance(files, Aligned) else header_of(sampled))
    if header is None and any(isinstance(column, str) for column in told.values()) and sampled.rows:
        header = tuple(sampled.rows[0].cells)
    body = sampled if header is None or sampled.names else sampled.below(header)
    columns = _look(body, header)
    if told:
        choice = _as_told(told, columns, keyed=sampled.keyed)
    elif isinstance(files, Aligned):
        choice = ColumnChoice(source_names(columns[:1]), columns[1], "")
    else:
        choice = _as_seen(columns, table, named=header is not None)
    found = replace(_recognised(choice, body, root), format=format)
    _refuse_what_is_no_text(found, columns, table)
    if root is not None and not found.names_files:
        raise UsageError(
            f"--images says where image files are, and no column that is read from {table} names any. "
            "Leave it out, or say which column does: --columns image=2,target=1"
        )
    _require_files(found, table)
    return found


def _hold_stories(sampled: TableSample) -> bool:
    """Whether tables are stories with questions about them."""
    return are_stories(["\t".join(cells) for _, cells in sampled.beginning])


def _look(sampled: TableSample, header: Sequence[str] | None) -> list[Column]:
    """What each column holds."""
    width = len(header) if header is not None else sampled.width
    names: Sequence[str | None] = header or [None] * width
    return [look_at_column(place, names[place], sampled.column(place), of=width) for place in range(width)]


# --- choosing -------------------------------------------------------------------------------------------------------


def _as_told(told: Mapping[str, Any], columns: Sequence[Column], *, keyed: bool) -> ColumnChoice:
    """The columns that a person named. Where there is a header, numbers become names, so that it is not read as an example.

    keyed: numbers mean nothing, and a part without a name is the key of its own name.
    """
    names = [name for name in told if name == SOURCE or name not in _PARTS] or [SOURCE]
    numbers = [column for name in names if isinstance(column := told.get(name, 1), int)]
    usual = {SOURCE: 1, TARGET: 2 if names == [SOURCE] else max(numbers, default=0) + 1}

    def find(part: str, column: int | str) -> Column:
        own = keyed and isinstance(column, int)
        return _find(part if own else column, columns)

    return ColumnChoice(
        {name: find(name, told.get(name, usual.get(name, 1))) for name in names},
        find(TARGET, told.get(TARGET, usual[TARGET])),
        "as told" if len(columns) > 2 or any(column.heading for column in columns) else "",
        weight=find("weight", told["weight"]) if "weight" in told else None,
        features=[find("features", one) for one in told.get("features", ())],
        preceding=[find("preceding", one) for one in told.get("preceding", ())],
    )


def _find(column: int | str, columns: Sequence[Column]) -> Column:
    """A column by its number or name. One that is not there is told of where the table is read."""
    for one in columns:
        if column in (one.place + 1, one.heading):
            return one
    place = column - 1 if isinstance(column, int) else len(columns)
    return Column(place, column if isinstance(column, str) else None, "nothing", (), 0, classes=False)


def _as_seen(columns: Sequence[Column], table: str, *, named: bool) -> ColumnChoice:
    """The columns that a header names, or that what they hold tells."""
    choice = by_tags(columns) or by_entailment(columns) or (by_names(columns) if named else None) or by_questions(columns)
    if choice is not None:
        return choice
    content = [column for column in columns if column.is_content]
    ids = sum(column.holds == "ids" for column in columns)
    if len(columns) <= 2 and ids != 1:  # two columns of numbers are no ids of anything
        source, target = (_find(number, columns) for number in (1, 2))
        return ColumnChoice(source_names([source]), target, "" if not named else "the first two")
    if len(content) == 2 and not named:
        return ColumnChoice(source_names(content[:1]), content[1], "the only columns of text or files")
    raise UsageError(_question(columns, table))


def _question(columns: Sequence[Column], table: str) -> str:
    """Ask which columns are meant, and show how to say it."""
    lines = [
        f"  {column.place + 1}{'' if column.heading is None else f' ({column.heading})'}: {column.described()}"
        for column in columns
    ]
    advice = "\n".join(f"  {one}" for one in dict.fromkeys(_suggestions(columns)))
    return (
        f"{table}: which of its {len(columns)} columns is the source, and which the target? They hold\n"
        + "\n".join(lines)
        + f"\nSay it with --columns, for example:\n{advice}"
    )


def _suggestions(columns: Sequence[Column]) -> Iterator[str]:
    """What one may mean, as options to type."""
    content = [column for column in columns if column.is_content]
    texts = [column for column in content if not column.is_file]
    called = [column for column in columns if role_of(column.heading or "") == "target"]
    target = [*(texts or columns), *called][-1]
    others = [column for column in content if column is not target] or [columns[0]]
    if len(others) > 1:
        named = source_names(others[-2:])
        yield f"--columns {','.join(f'{name}={one.name}' for name, one in named.items())},target={target.name}"
    (name, last), *_ = source_names(others[-1:]).items()
    yield f"--columns {name}={last.name},target={target.name}"


# --- what was chosen ------------------------------------------------------------------------------------------------


def _recognised(choice: ColumnChoice, body: TableSample, root: str | None) -> Recognised:
    names = list(choice.sources)
    lone = names == [SOURCE]
    kinds: dict[str, Source] = {}
    for name, column in choice.sources.items():
        usual = lone or (column.heading is None and column.place == names.index(name))
        place = None if usual else column.name
        kinds[name] = column.read_as.section_type(root=root, column=place) if column.read_as else TextSource(column=place)
    if lone and choice.sources[SOURCE].read_as is None:
        kinds = dict(ONE_TEXT)
    columns = Columns(
        source=choice.sources[SOURCE].name if lone else None,
        target=choice.target.name,
        weight=None if choice.weight is None else choice.weight.name,
        features=tuple(column.name for column in choice.features),
        separator=next(filter(None, (separator_of(column.values) for column in choice.features)), None),
        preceding=tuple(column.name for column in choice.preceding),
    )
    places = {name: column.place for name, column in choice.sources.items()} | {TARGET: choice.target.place}
    found = Recognised(kinds, columns, body, places)
    classes = _holds_classes(found)
    return Recognised(kinds, columns, body, places, _sentence(choice, body, classes=classes), classes)


def _holds_classes(found: Recognised) -> bool:
    """Whether targets are classes: a few, again and again, for sources of which there are many more."""
    targets = found.texts(TARGET)
    if not are_classes(targets):
        return False
    sources = {tuple(cells[found.places[name]] for name in found.sources) for _, cells in found.complete_rows()}
    return 2 * len(set(targets)) <= len(sources)


def _sentence(choice: ColumnChoice, body: TableSample, *, classes: bool) -> str:
    """Which columns were taken and why; nothing of two columns that could not be anything else."""
    taken = {**choice.sources, TARGET: choice.target}
    few = f" with {choice.target.distinct} classes" if classes else ""
    if not choice.why and not few:
        return ""
    around = [("features", column) for column in choice.features] + [("preceding", column) for column in choice.preceding]
    shown = ", ".join(f"{name} = {_shown(column)}" for name, column in [*taken.items(), *around])
    others = {
        column.place
        for column in (*taken.values(), *choice.features, *choice.preceding, *([choice.weight] if choice.weight else ()))
    }
    width = max((len(cells) for _, cells in body.rows), default=0) if body.names is None else len(body.names)
    left = [place for place in range(width) if place not in others]
    rest = ", ".join(str(place + 1) if body.names is None else body.names[place] for place in left)
    unread = f"; not read: {rest}" if rest else ""
    return f"columns: {shown}{few}{f' ({choice.why})' if choice.why else ''}{unread}"


def _shown(column: Column) -> str:
    what = f"{column.holds} files, " if column.read_as else ""
    return f"{what}column {column.place + 1}" if column.heading is None else f"{what}`{column.heading}`"


# --- refusing -------------------------------------------------------------------------------------------------------


def _refuse_what_is_no_text(found: Recognised, columns: Sequence[Column], table: str) -> None:
    """A model that writes names of files writes letters, and nothing else."""
    by_place = {column.place: column for column in columns}
    for part, place in found.places.items():
        column = by_place.get(place)
        if column is None or column.read_as is None or part != TARGET:
            continue
        other = next((one for one in columns if one.holds == "text"), None)
        name = column.read_as.usual_name
        advice = f"--columns {name}={column.name},target={other.name}" if other else "choose another column"
        raise UsageError(
            f"{table}: {part} is {_shown(column)}, which names {column.described()}. "
            f"Outputs are text; files can be sources: {advice}"
        )


def _require_files(found: Recognised, table: str) -> None:
    """Refuse files that cannot be read for lack of a library, or of which none is there."""
    for name, source in found.sources.items():
        if not isinstance(source, FileSource):
            continue
        kind, such = file_kind_of(source), f"{table}: {name} holds names of {source.kind} files"
        if kind.extra is not None and find_spec(kind.extra[0]) is None:
            raise MissingExtraError(f"{such}. Reading them", kind.extra[1])
        rows = list(found.complete_rows())
        tried = rows[:: max(1, len(rows) // _TRIED)]
        if source.root is None and tried and not any(_is_there(kind, cells[found.places[name]], at) for at, cells in tried):
            raise DataError(
                f"{such} such as {tried[0][1][found.places[name]]!r}, and none of them is "
                f"in the folder of the table. Say where they are: {kind.root_option} FOLDER, or a .zip or .tar"
            )


def _is_there(kind: FileKind[Any], name: str, origin: Origin) -> bool:
    try:
        kind.find(name, origin)
    except MediaError:
        return False
    return True


def _named(files: Files) -> str:
    return ", ".join(paths_of(files.source if isinstance(files, Aligned) else files))
