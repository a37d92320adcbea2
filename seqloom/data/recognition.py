"""What the columns of a table hold if no recipe says it: text, or names of image files, which are known by their endings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from seqloom.data.formats import ending_format, first_names, paths_of, stream_examples
from seqloom.data.lines import require_file
from seqloom.data.records import Example, ignore
from seqloom.data.vectors import ONE_TEXT
from seqloom.errors import UsageError
from seqloom.recipe.sections import SOURCE, TARGET, Aligned, Columns, Files, ImageSource, Source, TextSource

IMAGE = "image"
"""What a source of image files is called if nobody gave it another name."""

_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
_LOOK = 200
_ENOUGH = 0.8
"""From this share of names on, a column holds image files. The others are mistakes to be told of, not another kind of data."""

_HEADINGS: Mapping[str, tuple[str, ...]] = {
    IMAGE: ("image", "picture", "photo", "photograph", "img", "file", "filename", "file_name", "image_name", "image_path"),
    "question": ("question",),
    TARGET: ("answer", "caption", "target", "description", "label", "text"),
}
"""How tables with a header call what they hold, the most telling name first."""

_PARTS = frozenset(Columns.model_fields)


@dataclass(frozen=True)
class Recognised:
    """What the sources are, by name, and where the other parts of an example stand."""

    sources: Mapping[str, Source]
    columns: Columns

    @property
    def has_images(self) -> bool:
        """Whether a source is an image file."""
        return any(isinstance(source, ImageSource) for source in self.sources.values())


def recognise(files: Files, parts: Mapping[str, Any], *, root: str | None = None) -> Recognised:
    """Find out which sources a table has.

    parts: the columns that a person named: `source` or the names of sources, `target`, `weight`, `features`. Where none are
    named, a header tells, or the first column holds the source. root: where the names of images begin.
    """
    for file in _tables(files):
        require_file(file)
        if not Path(file).is_file():  # a pipe, which cannot be read twice
            return Recognised(ONE_TEXT, Columns(**{name: parts[name] for name in _PARTS & parts.keys()}))
    if not parts and (headed := _with_kinds(files, _headed(files), root)).has_images:
        return headed
    found = _with_kinds(files, parts, root)
    names = list(found.sources)
    if not found.has_images and names != [SOURCE]:
        raise UsageError(
            f"--columns: names of sources other than `source` are for tables of images, and none of {', '.join(names)} holds "
            "names of image files. Use source, target, weight and features, or write a recipe for several sources"
        )
    if not found.has_images and root is not None:
        raise UsageError(
            f"--images says where image files are, and the first column of {_tables(files)[0]} names none. "
            "Leave it out, or say which column does: --columns image=2,target=1"
        )
    return found


def _with_kinds(files: Files, told: Mapping[str, Any], root: str | None) -> Recognised:
    """The sources that columns are told of, each as what its column holds."""
    names = [name for name in told if name == SOURCE or name not in _PARTS] or [SOURCE]
    lone = names == [SOURCE]
    others = {name: column for name, column in told.items() if name in _PARTS and name != SOURCE}
    if lone:
        columns, texts = Columns(**told), ONE_TEXT
    else:
        numbers = [column for name in names if isinstance(column := told[name], int)]
        columns = Columns(**{"source": None, "target": max(numbers, default=0) + 1, **others})
        texts = {name: TextSource(column=told[name]) for name in names}
    stream = stream_examples(files, format="auto", columns=columns, report=ignore, sources=texts)
    examples = list(islice(stream, _LOOK))
    image = ImageSource(root=root)
    if lone and not told and _are_images(examples, SOURCE):
        _require_two_columns(files)
        return Recognised({IMAGE: image}, Columns(source=None, target=2))
    kinds: dict[str, Source] = {
        name: image.model_copy(update={"column": source.column}) if _are_images(examples, name) else source
        for name, source in texts.items()
    }
    return Recognised(kinds, columns)


def _are_images(examples: Sequence[Example], name: str) -> bool:
    named = sum(PurePath(example.sources[name].strip()).suffix.lower() in _ENDINGS for example in examples)
    return bool(examples) and named >= _ENOUGH * len(examples)


def _headed(files: Files) -> dict[str, str]:
    """The columns of a table of images whose first line names them; none if it does not."""
    names = [] if isinstance(files, Aligned) else first_names(_tables(files)[0])
    found = {}
    for part, headings in _HEADINGS.items():
        for heading in headings:
            if spelled := [name for name in names if name.strip().lower() == heading]:
                found[part] = spelled[0]
                break
    return found if {IMAGE, TARGET} <= found.keys() else {}


def _require_two_columns(files: Files) -> None:
    """Of three columns and more nobody can tell which is the question, and which an index."""
    first = _tables(files)[0]
    if isinstance(files, Aligned) or ending_format(first) not in ("tsv", "csv"):
        return
    if (count := len(first_names(first))) > 2:
        raise UsageError(
            f"{first}: the first of its {count} columns names images; what are the others? Say it: "
            "--columns image=1,target=2 for captions, image=1,question=2,target=3 for questions and answers"
        )


def _tables(files: Files) -> tuple[str, ...]:
    """The files that hold the sources."""
    return paths_of(files.source if isinstance(files, Aligned) else files)
