"""`seqloom demo`: trains a built-in task and shows what came of it. What each demo shows is in a file of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.demo_captions import show_captions
from seqloom.cli.demo_dates import show_dates
from seqloom.cli.demo_lesson import teach
from seqloom.cli.demo_showing import Showing
from seqloom.cli.demo_sound import show_sound
from seqloom.cli.demo_video import show_films
from seqloom.cli.options import Json, next_commands, open_console, print_json, require_torch
from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.prediction.predictor import Predictor


@dataclass(frozen=True)
class _Demo:
    """recipe: its name. run: the folder unless another is asked for. show: what is to be seen of the trained model.

    settings: what is changed in the recipe, so that nobody has to wait long.
    """

    recipe: str
    run: str
    show: "Callable[[Predictor, Path], Showing]"
    settings: Sequence[str] = ()


_DEMOS = {
    "dates": _Demo("dates", "runs/demo", show_dates),
    "captions": _Demo("scenes", "runs/demo-captions", show_captions, ["training.steps=2300"]),
    "sound": _Demo("tones", "runs/demo-sound", show_sound),
    "video": _Demo("moves", "runs/demo-video", show_films),
}


def demo(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Which one: dates, captions, sound, video or lesson.")
    ] = "dates",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="RUN", help="The run folder; by default runs/demo, runs/demo-NAME or runs/lesson."),
    ] = None,
    json: Json = False,
) -> None:
    """See all of seqloom in a few minutes, on a built-in task.

    Examples:
        seqloom demo
        seqloom demo captions
        seqloom demo sound
        seqloom demo video
        seqloom demo lesson

    Trains, shows results, draws attention maps, writes a report. dates: human dates in 46 locales become ISO 8601; a locale tag
    settles ambiguous orders and may be left out. captions: drawn scenes are described; among them are combinations of size,
    colour and shape that training never shows, and it is measured whether the model looks at what it names. sound: the notes of
    melodies are written down; it is measured whether the model listens to what it names. video: drawn films, in which things
    move, grow and shrink one after the other, are told; it is measured whether the model looks at frames in which it happens.
    lesson: three small models that see the source in different ways, for the guided steps of the studio (`seqloom serve`).
    """
    if name not in (*_DEMOS, "lesson"):
        raise UsageError(f"demo: there is no demo {name!r}. There is: {', '.join((*_DEMOS, 'lesson'))}")
    require_torch("The demo")
    if name == "lesson":
        teach(out or Path("runs/lesson"), _train, json=json)
        return
    chosen = _DEMOS[name]
    run = out or Path(chosen.run)
    seconds = _train(chosen.recipe, chosen.settings, run)
    from seqloom.cli.report import write_report
    from seqloom.prediction.predictor import Predictor

    shown = chosen.show(Predictor.load(run), run / "maps")
    report = write_report(run)
    if json:
        body = {"run": str(run), "training_seconds": round(seconds, 1), **shown.figures, "report": str(report)}
        print_json({**body, "maps": [str(one) for one in shown.maps]})
        return
    _tell(shown, seconds)
    typer.echo(f"\nwritten: {report}, {run / 'maps'}/*.html\n\nnext:")
    typer.echo(next_commands(line.format(run=run) for line in shown.next_commands))
    typer.echo(f"\nThe studio shows in a browser how it thinks:\n{next_commands([f'serve {run}'])}")


def _train(recipe: str, settings: Sequence[str], run: Path) -> float:
    """Train, or finish what was begun; the seconds that it took. What is stopped can go on."""
    from seqloom.cli.recipes import find_recipe
    from seqloom.recipe import read_recipe
    from seqloom.training.reporting.display import open_display
    from seqloom.training.session import train

    display = open_display()
    try:
        outcome = train(read_recipe(find_recipe(recipe), settings), run, display=display)
    finally:
        display.closed()
    if not outcome.finished:
        display.say(f"stopped at step {outcome.step:,}; everything is saved. Go on with the same command")
        raise typer.Exit(130)
    return outcome.seconds


def _tell(shown: Showing, seconds: float) -> None:
    from rich.table import Table
    from rich.text import Text

    console = open_console()
    table = Table(box=None, padding=(0, 2))
    for title in (*shown.titles, "output", "wanted"):
        table.add_column(title)
    for sample in shown.samples:
        right = Text(sample.output, style="green" if sample.output == sample.wanted else "red")
        table.add_row(*map(Text, sample.given), right, Text(sample.wanted))
    console.print(table)
    console.print(f"\n{seconds:.0f} s of training. {shown.sentence}", highlight=False)
