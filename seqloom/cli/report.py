"""`seqloom report`."""

from pathlib import Path
from typing import Annotated

import typer

from seqloom.cli.options import progress_bar


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write; by default report.html in the run folder.")
    ] = None,
    most: Annotated[
        int | None,
        typer.Option("--most", metavar="N", min=1, help="Decode at most this many test examples; by default all of them."),
    ] = None,
) -> None:
    """Write one HTML page with all there is to see of a run.

    Example:
        seqloom report runs/demo

    Curves, metrics with confidence intervals, quality by length, best and worst outputs, attention maps. The page is
    self-contained: it needs no network and can be sent to others.
    """
    typer.echo(str(write_report(run, out, most)))


def write_report(run: Path, out: Path | None = None, most: int | None = None) -> Path:
    """Write a run's report and say where."""
    from seqloom.evaluation.report import collect_report
    from seqloom.system.atomic_files import write_file
    from seqloom.views.pages.report import to_html

    page = to_html(collect_report(run, most=most, watch=progress_bar))
    aim = out or run / "report.html"
    write_file(aim, page.encode())
    return aim
