"""`seqloom export`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from seqloom.cli.options import Json, print_json, require_torch


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run whose best weights are exported.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder to write; it must not exist yet.")],
    precision: Annotated[
        Literal["fp32", "int8"],
        typer.Option("--precision", help="int8: a quarter of the size, and faster; every row has a scale of its own."),
    ] = "fp32",
    shortlist: Annotated[
        int | None, typer.Option("--shortlist", metavar="N", min=1, help="Write only the N symbols most frequent in training.")
    ] = None,
    json: Json = False,
) -> None:
    """Write a model that runs without torch: ONNX graphs, vocabularies, and a card.

    Examples:
        seqloom export runs/mine --out model
        seqloom export runs/mine --out model-int8 --precision int8
        seqloom predict model-int8 input.txt --beam 5

    An exported model is used as a run is: `predict`, `evaluate`, `score`, `sample`, `explain` and `seqloom.load` take its
    folder. They need the extra `runtime` only. It is compared with the run before the command ends: the largest difference of
    a log-probability is printed.
    """
    require_torch("Exporting a model")
    from seqloom.export.writing import export_run

    found = export_run(run, out, precision=precision, shortlist=shortlist)
    if json:
        print_json(found.as_json())
        return
    compared = (
        f"log-probabilities of {found.checked:,} symbols differ from the run's by at most {found.difference:.2g}"
        if found.checked
        else "nothing to compare with: the run keeps no samples that can be read"
    )
    typer.echo(f"{found.path}: {found.parameters:,} parameters in {found.size / 1e6:.2f} MB, {found.precision}; {compared}")
