"""`seqloom serve`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from seqloom.server.settings import ServedModel

_TOKEN = "SEQLOOM_TOKEN"  # noqa: S105 (the name of a variable)


def serve(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|EXPORT...",
            help="Folders of models. NAME=FOLDER gives a model another name than its folder's.",
        ),
    ],
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen. Beyond this machine a token is needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes any that is free.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help=f"What clients must know, in a file; or the variable {_TOKEN}."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A name under which the server may be addressed. Repeatable."),
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option(
            "--languages",
            metavar="[NAME=]FROM:TO",
            help="Codes of what a model reads and writes, as in de:en, for /translate. Repeatable.",
        ),
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", metavar="X", min=0.1, help="The time limit of an answer.")] = 10.0,
    queue: Annotated[int, typer.Option("--queue", metavar="N", min=1, help="Inputs that may wait; more are told to.")] = 512,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", min=1, help="Of one computation.  [default: all cores]")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log method, route, status and time of every request.")] = False,
) -> None:
    """Serve models over HTTP, with a page that shows how they think.

    Examples:
        seqloom serve runs/dates
        seqloom serve runs/dates runs/book --port 8080
        seqloom serve en-de=runs/multi30k --languages en:de
        seqloom serve exports/dates --host 0.0.0.0 --token-file token.txt --allow-host example.org

    Open the address that it prints in a browser. The routes are described at /openapi.json and in docs/serving.md; /translate
    speaks LibreTranslate's language. Models are loaded when they are first asked, and again when their folders have changed.
    Ctrl+C stops it after what it has begun.
    """
    if threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(threads)
    try:
        from seqloom.server.running import serve as run
        from seqloom.server.settings import Limits, Settings
    except ModuleNotFoundError as problem:
        if problem.name is not None and problem.name.startswith("seqloom"):
            raise
        raise MissingExtraError("Serving models", "serve") from problem
    settings = Settings(
        models=_models(folders, languages or []),
        host=host,
        port=port,
        token=_token(token_file),
        hosts=tuple(allow_host or ()),
        limits=Limits(seconds=seconds, queue=queue),
    )
    run(settings, verbose=verbose, started=lambda address: _say(settings.models, address))


def _models(folders: list[str], languages: list[str]) -> "tuple[ServedModel, ...]":
    from seqloom.server.settings import ServedModel

    named = [_named(one) for one in folders]
    names = [name for name, _ in named]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two models are called {repeated[0]!r}. Give one another name: other={dict(named)[repeated[0]]}")
    codes = dict(_codes(one, names) for one in languages)
    return tuple(ServedModel(name, folder, codes.get(name)) for name, folder in named)


def _named(place: str) -> tuple[str, Path]:
    name, separator, folder = place.partition("=")
    if separator and not Path(place).exists():
        return name, Path(folder)
    return Path(place).resolve().name, Path(place)


def _codes(given: str, names: list[str]) -> tuple[str, tuple[str, str]]:
    name, separator, pair = given.rpartition("=")
    source, colon, target = pair.partition(":")
    if not (colon and source and target):
        raise UsageError(f"--languages {given}: expected codes such as de:en, or NAME=de:en")
    if not separator and len(names) > 1:
        raise UsageError(f"--languages {given}: there are several models. Say whose it is: {names[0]}={pair}")
    if separator and name not in names:
        raise UsageError(f"--languages {given}: there is no model {name!r} among {', '.join(names)}")
    return (name if separator else names[0]), (source, target)


def _token(file: Path | None) -> str | None:
    from seqloom.system.files import read_regular

    if file is None:
        return os.environ.get(_TOKEN) or None
    try:
        return read_regular(file, limit=4096).decode().strip()
    except (OSError, ValueError) as problem:
        raise UsageError(f"{file}: expected a file with the token in it, but: {problem}") from None


def _say(models: "tuple[ServedModel, ...]", address: str) -> None:
    names = ", ".join(one.name for one in models)
    typer.echo(f"seqloom: serving {names} at {address}  (Ctrl+C stops)", err=True)
