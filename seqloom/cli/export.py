"""`seqloom export`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from seqloom.cli.options import Json, print_json, require_torch
from seqloom.errors import UsageError


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run whose best weights to export.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FOLDER|PAGE", help="The folder to write, or the page; it must not exist yet."),
    ],
    precision: Annotated[
        Literal["fp32", "int8"] | None,
        typer.Option(
            "--precision",
            metavar="fp32|int8",
            help="int8 is about a quarter of the size, and faster; it rounds more.  [default: fp32]",
        ),
    ] = None,
    shortlist: Annotated[
        int | None,
        typer.Option("--shortlist", metavar="N", min=1, help="Keep only the N target symbols most frequent in training."),
    ] = None,
    web: Annotated[
        bool, typer.Option("--web", help="Write one HTML page that runs the model in a browser, with its attention maps.")
    ] = False,
    ort: Annotated[
        Path | None,
        typer.Option("--ort", metavar="FOLDER", help="With --web: where `npm install onnxruntime-web` was run."),
    ] = None,
    json: Json = False,
) -> None:
    """Write a model as ONNX graphs, which run without torch.

    Examples:
        seqloom export runs/mine --out model
        seqloom export runs/mine --out model-int8 --precision int8
        seqloom predict model-int8 input.txt --beam 5
        seqloom export runs/mine --web --ort FOLDER --out page.html

    The folder has all that is needed to use the model: graphs, vocabularies, the recipe and the model card. `predict`,
    `evaluate`, `score`, `sample`, `explain`, `plane` and `seqloom.load` take it wherever they take a run, and need only the
    extra `runtime` for it. Before the command ends, it compares the exported model with the run and prints the largest
    difference between their log-probabilities.

    With --web, RUN may be an exported model, too. The page opens by a double-click, asks nobody for anything, and has 100 MB at
    most.
    """
    if web:
        _write_page(run, out, ort, precision, shortlist, json=json)
        return
    if ort is not None:
        raise UsageError("--ort goes with --web: it is what the page runs the model with")
    require_torch("Exporting a model")
    from seqloom.export.writing import export_run

    found = export_run(run, out, precision=precision or "fp32", shortlist=shortlist)
    if json:
        print_json(found.as_json())
        return
    compared = (
        f"log-probabilities of {found.checked:,} symbols differ from the run's by at most {found.difference:.2g}"
        if found.checked
        else "nothing to compare with: the run keeps no samples that can be read"
    )
    typer.echo(f"{found.path}: {found.parameters:,} parameters in {found.size / 1e6:.2f} MB, {found.precision}; {compared}")


def _write_page(
    run: Path, out: Path, ort: Path | None, precision: Literal["fp32", "int8"] | None, shortlist: int | None, *, json: bool
) -> None:
    from seqloom.export.web import export_page

    page = export_page(run, out, ort, precision=precision, shortlist=shortlist)
    if json:
        print_json(page.as_json())
    else:
        typer.echo(f"{page.path}: {page.size / 1e6:.1f} MB, {page.precision}; open it in a browser")
