"""`seqloom check`: the data doctor."""

from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import ColumnsOption, Json, open_console, parse_columns, parse_files, print_json
from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.data.doctor import Diagnosis
    from seqloom.data.picture_checks import Pictures
    from seqloom.recipe.sections import Files, ImageSource

_COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}


def check(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE...]", help="Files of training pairs, or one recipe (.yaml).")
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", metavar="FILE", help="Instead of FILE: a text file of sources ...")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="FILE", help="... and one of targets, line by line.")
    ] = None,
    validation: Annotated[
        str | None, typer.Option("--validation", metavar="FILE", help="A file of validation pairs, or SOURCES,TARGETS.")
    ] = None,
    test: Annotated[
        str | None, typer.Option("--test", metavar="FILE", help="A file of test pairs, or SOURCES,TARGETS.")
    ] = None,
    columns: ColumnsOption = None,
    json: Json = False,
) -> None:
    """Examine data: what is broken, odd or leaking between splits.

    Examples:
        seqloom check train.tsv --validation dev.tsv --test test.tsv --columns source=2,target=1
        seqloom check --source train.de --target train.en --test test.de,test.en
        seqloom check recipe.yaml --json

    Exit code 1 if training on it would be unwise.
    """
    from seqloom.data.doctor import examine
    from seqloom.recipe.sections import Aligned, Columns

    if bool(files) == bool(source or target) or bool(source) != bool(target):
        raise UsageError("check: give files of pairs, or both --source and --target. See: seqloom check --help")
    if files and len(files) == 1 and files[0].endswith((".yaml", ".yml")):
        if validation or test or columns:
            raise UsageError(f"check: {files[0]} is a recipe, which says itself what --validation, --test and --columns say")
        diagnosis = _of_recipe(files[0])
    else:
        train: Files = Aligned(source=tuple(source), target=tuple(target)) if source and target else tuple(files or ())
        splits: dict[str, Files] = {"train": train}
        splits |= {name: parse_files(file) for name, file in (("validation", validation), ("test", test)) if file}
        diagnosis = examine(splits, columns=parse_columns(columns) or Columns())
    if json:
        print_json(diagnosis.as_json())
    else:
        _show(diagnosis)
    if diagnosis.unwise:
        raise typer.Exit(1)


def _of_recipe(path: str) -> "Diagnosis":
    from seqloom.data.doctor import examine
    from seqloom.recipe import read_recipe

    data = read_recipe(path).data
    if data.builtin is not None:
        raise UsageError(f"{path}: its data is built in ({data.builtin}); there are no files to check")
    named = {"train": data.train, "validation": data.validation, "test": data.test}
    splits = {name: files for name, files in named.items() if files is not None}
    return examine(
        splits,
        format=data.format,
        columns=data.columns,
        maximum_length=data.maximum_length,
        sources=data.sources,
        further=[_pictures(name, source) for name, source in data.file_sources.items()],
    )


def _pictures(name: str, source: "ImageSource") -> "Pictures":
    """The check of what an image source names."""
    from seqloom.data.media import MediaFinder
    from seqloom.data.picture_checks import Pictures

    height, width = source.height_and_width
    return Pictures(MediaFinder(source).find, height=height, width=width, source=name)


def _show(diagnosis: "Diagnosis") -> None:
    from rich.table import Table
    from rich.text import Text

    console = open_console()
    sizes = Table(box=None, padding=(0, 2))
    for title in ("split", "pairs", "side", "median characters", "95 %", "longest"):
        sizes.add_column(title, justify="left" if title in {"split", "side"} else "right")
    for name, summary in diagnosis.splits.items():
        for index, (side, spread) in enumerate(summary.characters.items()):
            lead = (name, f"{summary.pairs:,}") if index == 0 else ("", "")
            sizes.add_row(*lead, side, f"{spread.median:g}", f"{spread.percentile_95:g}", f"{spread.maximum:g}")
    console.print(sizes)
    findings = Table(box=None, padding=(0, 2))
    for title in ("", "finding", "count", "first example"):
        findings.add_column(title, justify="right" if title == "count" else "left", overflow="fold")
    for severity, what, count, example in diagnosis.rows():
        findings.add_row(Text(severity, style=_COLOURS[severity]), Text(what), f"{int(count):,}", Text(str(example)))
    if diagnosis.findings:
        console.print(findings)
    console.print(
        "training would be unwise" if diagnosis.unwise else "fit for training",
        style="bold red" if diagnosis.unwise else "bold green",
    )
