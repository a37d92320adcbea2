"""`seqloom check`: the data doctor."""

from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import (
    ColumnsOption,
    FormatOption,
    ImagesOption,
    Json,
    open_console,
    parse_files,
    parse_format,
    print_json,
    recognised,
)
from seqloom.errors import UsageError
from seqloom.system.terminals import visible
from seqloom.wording import counted

if TYPE_CHECKING:
    from seqloom.data.doctor.examination import Diagnosis
    from seqloom.recipe.sections import Files

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
    format: FormatOption = None,
    images: ImagesOption = None,
    json: Json = False,
) -> None:
    """Examine data: what is broken, odd or leaking between splits.

    Examples:
        seqloom check train.tsv --validation dev.tsv --test test.tsv --columns source=2,target=1
        seqloom check --source train.de --target train.en --test test.de,test.en
        seqloom check words.lst --format tsv
        seqloom check captions.tsv --images photos.zip
        seqloom check recipe.yaml --json

    Exit code 1 if there are errors: they would stop or spoil a training.
    """
    from seqloom.data.doctor.answer_checks import answer_checks
    from seqloom.data.doctor.examination import examine
    from seqloom.data.doctor.file_checks import file_checks
    from seqloom.recipe.sections import Aligned
    from seqloom.suggest.two_texts import ANSWERS, recipe_of_two_texts

    if bool(files) == bool(source or target) or bool(source) != bool(target):
        raise UsageError("check: give files of pairs, or both --source and --target. See: seqloom check --help")
    if files and len(files) == 1 and files[0].endswith((".yaml", ".yml")):
        if validation or test or columns or format or images:
            raise UsageError(f"check: {files[0]} is a recipe, which says itself what other options say. Leave them out")
        diagnosis, taken = _of_recipe(files[0]), dict[str, object]()
    else:
        train: Files = Aligned(source=tuple(source), target=tuple(target)) if source and target else tuple(files or ())
        splits: dict[str, Files] = {"train": train}
        splits |= {name: parse_files(file) for name, file in (("validation", validation), ("test", test)) if file}
        table = recognised(train, columns, images, parse_format(format))
        taken = {"columns": table.as_json()}
        text = "text" if recipe_of_two_texts(table) == ANSWERS else None
        diagnosis = examine(
            splits,
            format=table.format,
            columns=table.columns,
            sources=table.sources,
            classes=table.classes,
            further=[*file_checks(table.sources, sized=False), *answer_checks(text, text)],
        )
    if json:
        print_json({**diagnosis.as_json(), **taken})
    else:
        _show(diagnosis)
    if diagnosis.unwise:
        raise typer.Exit(1)


def _of_recipe(path: str) -> "Diagnosis":
    from seqloom.data.doctor.answer_checks import answer_checks
    from seqloom.data.doctor.examination import examine
    from seqloom.data.doctor.file_checks import file_checks
    from seqloom.recipe import read_recipe

    recipe = read_recipe(path)
    data, several = recipe.data, len(recipe.data.sources) > 1
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
        classes=data.vocabularies.target.kind == "whole",
        further=[
            *file_checks(data.sources, sized=True),
            *answer_checks(data.split.by if several else None, recipe.copied if several else None),
        ],
    )


def _show(diagnosis: "Diagnosis") -> None:
    from rich.table import Table
    from rich.text import Text

    console = open_console()
    sizes = Table(box=None, padding=(0, 2))
    for title in ("split", "pairs", "side", "median characters", "95 %", "longest"):
        sizes.add_column(title, justify="left" if title in {"split", "side"} else "right")
    for name, summary in diagnosis.splits.items():
        rows = [
            *((side, counted(count, "file")) for side, count in summary.named.items()),
            *(
                (side, f"{spread.median:g}", f"{spread.percentile_95:g}", f"{spread.maximum:g}")
                for side, spread in summary.characters.items()
            ),
        ]
        for index, row in enumerate(rows):
            sizes.add_row(*((name, f"{summary.pairs:,}") if index == 0 else ("", "")), *row)
    console.print(sizes)
    findings = Table(box=None, padding=(0, 2))
    for title in ("", "finding", "count", "first example"):
        findings.add_column(title, justify="right" if title == "count" else "left", overflow="fold")
    for severity, what, count, example in diagnosis.rows():
        findings.add_row(
            Text(severity, style=_COLOURS[severity]), Text(visible(what)), f"{int(count):,}", Text(visible(str(example)))
        )
    if diagnosis.findings:
        console.print(findings)
    console.print(
        "do not train yet: mend the errors first" if diagnosis.unwise else "fit for training",
        style="bold red" if diagnosis.unwise else "bold green",
    )
