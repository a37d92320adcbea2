"""`seqloom demo`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import Json, open_console, print_json, program, progress_bar, require_torch
from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.predict import Predictor
    from seqloom.predictions import Prediction

_DEMOS = ("dates",)


def demo(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Which one: dates.")] = "dates",
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="The run folder.")] = Path("runs/demo"),
    json: Json = False,
) -> None:
    """See all of seqloom in two minutes, on a built-in task.

    Example:
        seqloom demo

    Trains, shows results, draws attention maps, writes a report. Human dates in 46 locales become ISO 8601; a locale tag
    settles ambiguous orders and may be left out.
    """
    if name not in _DEMOS:
        raise UsageError(f"demo: there is no demo {name!r}. There is: {', '.join(_DEMOS)}")
    require_torch("The demo")
    from seqloom.cli.recipes import find_recipe
    from seqloom.predict import Predictor
    from seqloom.recipe import read_recipe
    from seqloom.training.display import open_display
    from seqloom.training.session import train

    display = open_display()
    try:
        outcome = train(read_recipe(find_recipe(name)), out, display=display)
    finally:
        display.closed()
    if not outcome.finished:
        display.say(f"stopped at step {outcome.step:,}; everything is saved. Go on with the same command")
        raise typer.Exit(130)
    predictor = Predictor.load(out)
    figures = _measure(predictor)
    shown = _showcase(predictor)
    maps = _draw(shown, out / "maps")
    from seqloom.cli.report import write_report

    report = write_report(out)
    if json:
        body = {"run": str(out), "training_seconds": round(outcome.seconds, 1), **figures, "report": str(report)}
        print_json({**body, "maps": [str(one) for one in maps]})
        return
    _tell(outcome.seconds, figures, shown)
    typer.echo(f"\nwritten: {report}, {maps[0].parent}/*.html\n\nnext:")
    for line in (
        f'echo "le 3 mai 1979" | {program()} predict {out}',
        f'{program()} explain {out} "2009年12月31日" --feature ja --out map.html',
        f"{program()} evaluate {out}",
        f"{program()} train --pairs YOUR.tsv --out runs/yours",
    ):
        typer.echo(f"  {line}")


def _measure(predictor: "Predictor") -> dict[str, float]:
    """Exact match on unseen dates, tagged and untagged apart."""
    from seqloom.data.corpus import Corpus

    examples = list(Corpus(predictor.recipe.data, predictor.recipe.seed).examples("test"))
    with progress_bar("testing", len(examples)) as advance:
        predictions = predictor.predict(examples, progress=advance)
    figures = {}
    for label, wanted in (("tagged", True), ("untagged", False)):
        right = [
            prediction.text == example.target
            for prediction, example in zip(predictions, examples, strict=True)
            if bool(example.features) == wanted
        ]
        figures[f"exact_match_{label}"] = round(100 * sum(right) / len(right), 2)
        figures[f"count_{label}"] = len(right)
    return figures


def _showcase(predictor: "Predictor") -> "list[tuple[Prediction, str]]":
    from seqloom.data.builtin.dates import SHOWCASE

    inputs = [{"source": piece.text, "features": [piece.tag] if piece.tag else []} for piece in SHOWCASE]
    predictions = predictor.predict(inputs, nbest=3)
    return [(prediction, piece.target) for prediction, piece in zip(predictions, SHOWCASE, strict=True)]


def _draw(shown: "list[tuple[Prediction, str]]", folder: Path) -> list[Path]:
    from seqloom.views import write_map

    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for index, (prediction, _) in enumerate(shown, start=1):
        label = "-".join([str(index), *prediction.features])
        drawn += [write_map(prediction, folder / f"{label}.html", title=prediction.text)]
        drawn += [write_map(prediction, folder / f"{label}.svg", title=prediction.text)]
    return drawn


def _tell(seconds: float, figures: dict[str, float], shown: "list[tuple[Prediction, str]]") -> None:
    from rich.table import Table
    from rich.text import Text

    console = open_console()
    table = Table(box=None, padding=(0, 2))
    for title in ("tag", "source", "output", "wanted"):
        table.add_column(title)
    for prediction, target in shown:
        right = Text(prediction.text, style="green" if prediction.text == target else "red")
        table.add_row(" ".join(prediction.features) or "-", Text(prediction.sources["source"]), right, Text(target))
    console.print(table)
    console.print(
        f"\n{seconds:.0f} s of training. Exact match on unseen dates: {figures['exact_match_tagged']:.2f} % of "
        f"{figures['count_tagged']:,} with a locale tag, {figures['exact_match_untagged']:.2f} % of "
        f"{figures['count_untagged']:,} without.",
        highlight=False,
    )
