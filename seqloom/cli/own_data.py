"""A recipe together with files from the command line: its settings, on one's own data."""

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from seqloom.cli.options import parse_files, recognised, with_columns
from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.data.reading.endings import Format
    from seqloom.recipe import Recipe
    from seqloom.recipe.sections import Data, Files

_ENOUGH = 100_000
"""From so many examples on, the shares that are held out no longer depend on their number."""


def with_pairs(
    recipe: "Recipe",
    train: "Files",
    *,
    validation: str | None,
    test: str | None,
    columns: str | None,
    images: str | None,
    format: "Format",
    settings: Sequence[str],
) -> "Recipe":
    """The recipe with these pairs in place of its own data; what is not named is held out of them."""
    from seqloom.data.reading.formats import read_examples

    if recipe.is_language_model:
        raise UsageError("this recipe is one of a language model, which reads plain text. Give it with --text")
    data = recipe.data
    if data.builtin is not None and len(data.text_sources) < len(data.sources):
        raise UsageError(f"this recipe is made for the built-in task {data.builtin} and its pictures. Use another one")
    if format != "auto":
        data = data.model_copy(update={"format": format})
    data = _placed(data, train, columns, images)
    examples = read_examples(train, format=data.format, columns=data.columns, sources=data.sources)
    return _on(recipe, data, train, sum(1 for _ in islice(examples, _ENOUGH)), validation, test, settings)


def with_text(
    recipe: "Recipe",
    train: Sequence[str],
    *,
    validation: str | None,
    test: str | None,
    lines: bool,
    vocabulary: str | None,
    settings: Sequence[str],
) -> "Recipe":
    """The recipe of a language model with these files in place of its own. lines: every line is a sequence by itself."""
    from seqloom.data.reading.formats import read_text
    from seqloom.recipe.sections import VocabularyFile

    if not recipe.is_language_model:
        raise UsageError("this recipe is one of a model that reads a source. Give pairs with --pairs, or name another recipe")
    changes: dict[str, Any] = {"text": "lines"} if lines else {}
    if vocabulary is not None:
        changes["vocabularies"] = recipe.data.vocabularies.model_copy(update={"target": VocabularyFile(file=vocabulary)})
    files = tuple(train)
    count = sum(1 for _ in islice(read_text(files, blank=False), _ENOUGH))
    return _on(recipe, recipe.data.model_copy(update=changes), files, count, validation, test, settings)


def _placed(data: "Data", train: "Files", columns: str | None, images: str | None) -> "Data":
    """The data section with the columns, and the place of images, that fit these files."""
    from seqloom.recipe.sections import FileSource, Named
    from seqloom.recipe.sections.columns import is_lone

    if not data.file_sources and images is not None:
        raise UsageError(
            "--images says where image files are, and this recipe reads none. Leave it out, or name another recipe"
        )
    if not data.file_sources and columns is not None:
        return with_columns(data, columns)
    if not data.file_sources and not is_lone(data.sources):
        return data if data.format == "stories" else _of_several_texts(data, train)
    table = recognised(train, columns, images, data.format)
    if list(table.sources) != list(data.sources):
        wanted = ",".join(f"{name}={number}" for number, name in enumerate((*data.sources, "target"), start=1))
        raise UsageError(
            f"this recipe reads {' and '.join(data.sources)}; in these files there is {' and '.join(table.sources)}. "
            f"Say which column is what: --columns {wanted}"
        )
    places = {
        name: {"column": source.column, **({"root": source.root} if isinstance(source, FileSource) else {})}
        for name, source in table.sources.items()
    }
    sources = Named({name: source.model_copy(update=places[name]) for name, source in data.sources.items()})
    return data.model_copy(update={"columns": table.columns, "sources": sources})


def _of_several_texts(data: "Data", train: "Files") -> "Data":
    """The columns that a header, or what they hold, says to be the recipe's sources; else those of the recipe."""
    from seqloom.recipe.sections import Aligned, Named
    from seqloom.suggest.two_texts import columns_of

    try:
        table = None if isinstance(train, Aligned) else recognised(train, None, None, data.format)
    except UsageError:  # nobody could tell: the recipe does
        return data
    if table is None or set(table.sources) != set(data.sources):
        return data
    places = columns_of(table)
    sources = Named({name: source.model_copy(update={"column": places[name]}) for name, source in data.sources.items()})
    return data.model_copy(update={"columns": table.columns, "sources": sources})


def _on(
    recipe: "Recipe",
    data: "Data",
    train: "Files",
    count: int,
    validation: str | None,
    test: str | None,
    settings: Sequence[str],
) -> "Recipe":
    from seqloom.suggest.defaults import finished, held_out_share

    share = held_out_share(max(1, count))
    body = recipe.model_dump()
    body["data"] = data.model_dump() | {
        "builtin": None,
        "train": train,
        "validation": None,
        "test": None,
        "split": {"validation": share, "test": share, "by": data.split.by},
    }
    held_out = {name: parse_files(file) for name, file in (("validation", validation), ("test", test)) if file}
    return finished(body, held_out.get("validation"), held_out.get("test"), settings)
