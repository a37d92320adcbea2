"""All commands, in the order in which one meets them."""

from importlib import import_module

import typer

from seqloom.cli.help_text import Command

EPILOG = (
    "Exit codes: 0 done, 1 a check failed, 2 bad usage or recipe, 3 bad or missing data, 4 bad run folder, "
    "5 could not write, 130 interrupted."
)

COMMANDS = (
    "demo",
    "train",
    "predict",
    "transcribe",
    "evaluate",
    "errors",
    "score",
    "sample",
    "chat",
    "explain",
    "plane",
    "report",
    "serve",
    "export",
    "average",
    "compare",
    "check",
    "bench",
)
"""Each is the function of its name in the module of its name."""


def app_for(command: str | None) -> typer.Typer:
    """The app with the command that is asked for and no other, or with all if there is no such command.

    To import all of them and set them up takes longer than some of them run.
    """
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
    app.callback()(_main)
    for name in (command,) if command in COMMANDS else COMMANDS:
        app.command(name, cls=Command)(getattr(import_module(f"seqloom.cli.{name}"), name))
    if command not in COMMANDS:
        from seqloom.cli import recipes

        app.add_typer(recipes.app, name="recipes")
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from seqloom import __version__

        typer.echo(f"seqloom {__version__}")
        raise typer.Exit


def _main(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", callback=_version, is_eager=True),
) -> None:
    """Train, see, evaluate and use encoder-decoder models with attention, on your own pairs."""
