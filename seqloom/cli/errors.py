"""`seqloom errors`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.judging import JudgedPlaces, ReferencesOption, judged_examples, runs_and_file
from seqloom.cli.options import (
    BatchSize,
    BeamWidth,
    ColumnsOption,
    FormatOption,
    Json,
    open_console,
    open_predictor,
    print_json,
    progress_bar,
)
from seqloom.errors import UsageError
from seqloom.system.terminals import visible
from seqloom.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from seqloom.prediction.drawn import DrawnPrediction
    from seqloom.results.mistakes import Grouping, Mistakes

_MOST_CONFUSIONS = 15


def errors(
    places: JudgedPlaces,
    columns: ColumnsOption = None,
    format: FormatOption = None,
    beam: BeamWidth = None,
    references: ReferencesOption = None,
    worst: Annotated[int, typer.Option("--worst", metavar="N", min=0, help="How many of the worst outputs are shown.")] = 10,
    batch_size: BatchSize = 64,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.html", help="Write a page as well, with attention maps of the worst.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what goes wrong: confusions, when they happen, the worst.

    Examples:
        seqloom errors runs/words
        seqloom errors runs/words held-out.tsv --worst 20 --out errors.html
        seqloom errors runs/pronunciation test.tsv --references grouped --json

    Confusions are edits between each output and its closest reference: in characters, in symbols between spaces, or in words
    (for words and subwords); where targets are classes, a table of classes. The worst outputs are wrong ones only: those with
    the most edits for their length first, and of these the ones that the model was surest of.
    """
    from seqloom.cli.searching import choose_search
    from seqloom.evaluation.error_analysis import diagnose

    runs, file = runs_and_file("errors", places)
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--out: expected a file that ends in .html, got {str(out)!r}. Use --json for other programs")
    predictor = open_predictor(runs)
    search = choose_search(predictor.recipe.search, beam={"width": beam})
    examples = judged_examples(predictor, file, columns, format, references)
    with progress_bar("decoding", len(examples)) as advance:
        stream = predictor.predict_stream(examples, search=search, batch_size=batch_size, progress=advance)
        predictions = [one.without_alignment() for one in stream]  # all maps would fill the memory
    with progress_bar("counting training examples", None) as advance:
        mistakes = diagnose(predictor, examples, predictions, worst=worst, progress=advance)
    on = f"{len(examples):,} examples of {file or 'the test split'}, search: {search.kind}"
    if out is not None:
        worst_ones = predictor.predict([examples[one.number] for one in mistakes.worst], search=search)
        _write_page(out, f"Errors of {' and '.join(Path(run).name for run in runs)}", on, mistakes, worst_ones)
    if json:
        print_json({"measured_on": on, **mistakes.as_json()})
        return
    _print_mistakes(open_console(), mistakes, on)
    if out is not None:
        typer.echo(str(out))


def _write_page(out: Path, title: str, on: str, mistakes: "Mistakes", worst: "Sequence[DrawnPrediction]") -> None:
    from seqloom.system.atomic_files import write_file
    from seqloom.views.pages.mistakes import Page, to_html

    write_file(out, to_html(Page(title, on, mistakes, [one.exhibit() for one in worst])).encode())


def _print_mistakes(console: "Console", mistakes: "Mistakes", on: str) -> None:
    """All of it as tables; --json has every confusion."""
    from seqloom.cli.evaluate import print_classes

    edits = ", ".join(f"{count:,} {kind}" for kind, count in mistakes.edits.items())
    summary = f"{mistakes.wrong:,} of {mistakes.count:,} outputs are wrong ({on})."
    if mistakes.classes is None:
        summary += f" Edits: {edits}; {mistakes.error_rate:.2f} per 100 {mistakes.unit}."
    if mistakes.unseen:
        summary += f" {counted(mistakes.unseen, 'wanted symbol')} never seen in training."
    console.print(summary, highlight=False, markup=False, soft_wrap=True)
    if mistakes.classes is None:
        _print_confusions(console, mistakes)
    else:
        print_classes(console, mistakes.classes)
    for grouping in mistakes.by:
        _print_grouping(console, grouping, mistakes)
    _print_worst(console, mistakes)
    for note in mistakes.notes:
        console.print(note, style="yellow", highlight=False, markup=False, soft_wrap=True)


def _print_confusions(console: "Console", mistakes: "Mistakes") -> None:
    from rich.table import Table
    from rich.text import Text

    from seqloom.views.pages.mistakes import LONGEST, seen
    from seqloom.views.text.labels import shortened

    if not mistakes.confusions:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("", "wanted", "written"):
        table.add_column(title)
    for title in ("times", "of all edits", "of wanted"):
        table.add_column(title, justify="right")
    table.add_column("for example: source, reference, output", overflow="fold")
    for one in mistakes.confusions[:_MOST_CONFUSIONS]:
        of = "" if one.of is None else f"{100 * one.count / max(1, one.of):.1f} % of {one.of:,}"
        case = one.examples[0]
        shown = " -> ".join(shortened(text, LONGEST) for text in (case.source, case.wanted, case.written))
        counts = f"{one.count:,}", f"{one.share:.1f} %", of
        table.add_row(
            one.kind, *(Text(visible(seen(symbol))) for symbol in (one.wanted, one.written)), *counts, Text(visible(shown))
        )
    console.print()
    console.print(table)
    left = len(mistakes.confusions) - _MOST_CONFUSIONS
    if left > 0:
        console.print(f"{left:,} rarer confusions are not shown (--json has all)", style="dim", highlight=False)


def _print_grouping(console: "Console", grouping: "Grouping", mistakes: "Mistakes") -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(grouping.name, no_wrap=True)
    for one in grouping.groups:
        table.add_column(one.title, justify="right")
    table.add_row("examples", *(f"{one.count:,}" for one in grouping.groups))
    table.add_row("exact_match", *(f"{one.exact_match:.2f}" for one in grouping.groups))
    if mistakes.classes is None:
        table.add_row(f"edits per 100 {mistakes.unit}", *(f"{one.error_rate:.2f}" for one in grouping.groups))
    console.print()
    console.print(table)
    console.print(f"counted: {grouping.counted}", style="dim", highlight=False, markup=False, soft_wrap=True)


def _print_worst(console: "Console", mistakes: "Mistakes") -> None:
    from rich.table import Table
    from rich.text import Text

    if not mistakes.worst:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("worst: source", "reference", "output"):
        table.add_column(title, overflow="fold")
    for title in ("edits", "rate", "p"):
        table.add_column(title, justify="right")
    for one in mistakes.worst:
        counts = f"{one.edits:,}", f"{one.error_rate:.0f} %", f"{one.probability:.2g}"
        texts = one.case.source, one.case.wanted, one.case.written or "(nothing)"
        table.add_row(*(Text(visible(text)) for text in texts), *counts)
    console.print()
    console.print(table)
