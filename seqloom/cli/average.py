"""`seqloom average`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import Json, open_console, print_json, require_torch
from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.training.weights.averaging import Averaged


def average(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run that keeps weights (`training.keep` in its recipe).")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="The new run; by default RUN-average beside RUN.")
    ] = None,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=2, help="Average the weights of the latest N validations.")
    ] = None,
    best: Annotated[
        int | None, typer.Option("--best", metavar="N", min=2, help="Average those of the best N validations instead.")
    ] = None,
    json: Json = False,
) -> None:
    """Average the weights of several validations of a run.

    Examples:
        seqloom train recipe.yaml --set training.keep.last=5 --out runs/mine
        seqloom average runs/mine --out runs/mean
        seqloom average runs/mine --best 3 --out runs/mean-of-3

    Without --last and --best all weights that the run kept are averaged. The mean is judged on the validation data, beside the
    run's best weights, to see whether it is better, and written as a run of its own, which predicts like any other.
    """
    require_torch("Averaging weights")
    if last is not None and best is not None:
        raise UsageError("average: give --last or --best, not both")

    from seqloom.training.reporting.display import open_display
    from seqloom.training.weights.averaging import average_run

    display = open_display()
    try:
        found = average_run(run, out or run.with_name(f"{run.resolve().name}-average"), last=last, best=best, display=display)
    finally:
        display.closed()
    if json:
        print_json(_as_json(found))
        return
    _print_table(found)
    verdict = "better" if found.is_better else "not better"
    typer.echo(f"by {found.metric} the mean is {verdict} than the best single weights; written: {found.path}", err=True)


def _as_json(found: "Averaged") -> dict[str, object]:
    def finite(value: float) -> float | None:
        return value if abs(value) < float("inf") else None

    return {
        "run": str(found.path),
        "of": str(found.of),
        "steps": list(found.steps),
        "metric": found.metric,
        "better": found.is_better,
        "average": {name: finite(value) for name, value in found.average.items()},
        "best": {name: finite(value) for name, value in found.best.items()},
        "best_step": found.best_step,
    }


def _print_table(found: "Averaged") -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("validation", no_wrap=True)
    steps = ", ".join(f"{step:,}" for step in found.steps)
    for title in (f"mean of steps {steps}", f"best, step {found.best_step:,}"):
        table.add_column(title, justify="right")
    for name in found.measures:
        table.add_row(name, f"{found.average[name]:.4f}", f"{found.best[name]:.4f}")
    open_console().print(table)
