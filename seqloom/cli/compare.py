"""`seqloom compare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqloom.cli.evaluate import MetricsOption, parse_metrics
from seqloom.cli.judging import ReferencesOption
from seqloom.cli.options import ColumnsOption, FormatOption, Json, open_console, print_json
from seqloom.cli.significance import PairedOutcome, Test, print_outcome, tested
from seqloom.errors import UsageError
from seqloom.system.terminals import visible

if TYPE_CHECKING:
    from seqloom.runs import RunFolder


def compare(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run folders, or folders of several seeds.")],
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            metavar="FILE",
            help="Decode this file of pairs (or SOURCES,TARGETS) with every run, and say which differences from the first "
            "run are more than chance.",
        ),
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="The same, on the test examples that all of the runs held out.")
    ] = False,
    columns: ColumnsOption = None,
    format: FormatOption = None,
    references: ReferencesOption = None,
    metrics: MetricsOption = None,
    json: Json = False,
) -> None:
    """Put runs side by side, and test whether they differ by chance.

    Examples:
        seqloom compare runs/gru runs/lstm
        seqloom compare runs/five
        seqloom compare runs/gru runs/lstm --test held-out.tsv
        seqloom compare runs/gru runs/lstm --held-out --metrics exact_match,cer

    Figures are of the validation at each run's best step; they compare only where the data is the same. Then follows
    where the recipes differ. With --test or --held-out every run answers the same examples, and a paired bootstrap (1,000
    resamples) gives each metric's difference from the first run, its 95 % interval and a p-value.
    """
    from seqloom.metrics import HIGHER_IS_BETTER
    from seqloom.recipe import differences
    from seqloom.runs import RunFolder
    from seqloom.runs.seeds import runs_at

    paths = [one for run in runs for one in runs_at(Path(run))]
    outcome = _outcome(list(map(str, paths)), held_out, Test(test, columns, format, references, parse_metrics(metrics)))
    opened = [RunFolder.open(path) for path in paths]
    bests = [run.validation_at((run.counters() or {}).get("best_step")) for run in opened]
    names = [name for name in HIGHER_IS_BETTER if name == "loss" or any(name in best for best in bests)]
    rows = [_facts(run, best, names) for run, best in zip(opened, bests, strict=True)]
    differing = {str(run.path): differences(opened[0].recipe, run.recipe) for run in opened[1:]}
    if json:
        print_json({"runs": rows, "differences": differing, **({} if outcome is None else {"test": outcome.as_json()})})
        return

    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_column(Text(visible(row["run"])), justify="right", overflow="fold")
    for name in rows[0]:
        if name != "run":
            table.add_row(name, *(_shown(row[name]) for row in rows))
    console = open_console()
    console.print(table)
    for name, lines in differing.items():
        if lines:
            plain = "\n  ".join([f"\n{opened[0].path} -> {name}:", *lines])
            console.print(visible(plain), highlight=False, markup=False, soft_wrap=True)
    if len({run.facts["fingerprint"] for run in opened}) > 1:
        console.print("\nThese runs were trained on different data: their validation figures do not compare.", style="yellow")
    if outcome is not None:
        print_outcome(console, outcome)


def _outcome(runs: list[str], held_out: bool, test: Test) -> PairedOutcome | None:
    """How the runs differ on a test, if one is wanted."""
    from seqloom.cli.texts import is_text_run

    if held_out and test.file is not None:
        raise UsageError("--test names a file, --held-out takes the runs' own test examples. Choose one of them")
    if not held_out and test.file is None:
        if test.columns or test.format or test.references or test.metrics:
            raise UsageError("--columns, --format, --references and --metrics are about a test. Add --test FILE or --held-out")
        return None
    for run in runs:
        if is_text_run(run):
            raise UsageError(f"{run}: is a language model, which has no outputs to compare. Use: seqloom score {run} FILE")
    return tested(runs, test)


def _facts(run: "RunFolder", best: dict[str, Any], names: list[str]) -> dict[str, Any]:
    counters = run.counters() or {}
    return {
        "run": str(run.path),
        "state": counters.get("finished") or "unfinished",
        "parameters": run.num_parameters,
        "steps": counters.get("step", 0),
        "best_step": counters.get("best_step", 0),
        "minutes": round(counters.get("seconds", 0.0) / 60, 2),
        **{name: best.get(name) for name in names},
    }


def _shown(value: Any) -> str:
    match value:
        case None:
            return "-"
        case float():
            return f"{value:.4f}" if value < 1 else f"{value:.2f}"
        case int():
            return f"{value:,}"
        case _:
            return visible(str(value))
