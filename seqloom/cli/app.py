"""All commands, in the order in which one meets them."""

import copy

import typer

from seqloom.cli import (
    average,
    bench,
    chat,
    check,
    compare,
    demo,
    errors,
    evaluate,
    explain,
    export,
    plane,
    predict,
    recipes,
    report,
    sample,
    score,
    serve,
    train,
    transcribe,
)
from seqloom.cli.help_text import Command

EPILOG = (
    "Exit codes: 0 done, 1 a check failed, 2 bad usage or recipe, 3 bad or missing data, 4 bad run folder, "
    "5 could not write, 130 interrupted."
)

app = typer.Typer(
    name="seqloom",
    help="Train, see, evaluate and use encoder-decoder models with attention, on your own pairs.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
)

app.command("demo", cls=Command)(demo.demo)
app.command("train", cls=Command)(train.train)
app.command("predict", cls=Command)(predict.predict)
app.command("transcribe", cls=Command)(transcribe.transcribe)
app.command("evaluate", cls=Command)(evaluate.evaluate)
app.command("errors", cls=Command)(errors.errors)
app.command("score", cls=Command)(score.score)
app.command("sample", cls=Command)(sample.sample)
app.command("chat", cls=Command)(chat.chat)
app.command("explain", cls=Command)(explain.explain)
app.command("plane", cls=Command)(plane.plane)
app.command("report", cls=Command)(report.report)
app.command("serve", cls=Command)(serve.serve)
app.command("export", cls=Command)(export.export)
app.command("average", cls=Command)(average.average)
app.command("compare", cls=Command)(compare.compare)
app.command("check", cls=Command)(check.check)
app.command("bench", cls=Command)(bench.bench)
app.add_typer(recipes.app, name="recipes")


def app_for(command: str | None) -> typer.Typer:
    """The app, with no more than the command that is asked for: to set all of them up takes longer than some of them run."""
    asked = [one for one in app.registered_commands if one.name == command]
    if not asked:
        return app
    alone = copy.copy(app)
    alone.registered_commands, alone.registered_groups = asked, []
    return alone


def _version(wanted: bool) -> None:
    if wanted:
        from seqloom import __version__

        typer.echo(f"seqloom {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", callback=_version, is_eager=True),
) -> None:
    """Train, see, evaluate and use encoder-decoder models with attention, on your own pairs."""
