"""`seqloom chat`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import Json, print_json
from seqloom.cli.searching import choose_search
from seqloom.system.terminals import visible

if TYPE_CHECKING:
    from seqloom.prediction.chat import Chat

_HELP = ":why shows what the last reply looked at, :new begins anew, :quit ends"


def chat(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run, or the exported model, that replies.")],
    turns: Annotated[
        int | None,
        typer.Option("--turns", metavar="N", min=0, help="So many earlier turns are remembered; else as many as in training."),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature", metavar="X", min=0.01, help="Draw replies at random in place of searching for the best one."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of what is drawn.")] = 1,
    json: Json = False,
) -> None:
    r"""Talk to a model, turn by turn.

    Examples:
        seqloom chat runs/dialogue
        seqloom chat runs/dialogue --turns 2 --temperature 0.7
        printf "Hello .\nHow are you ?\n:why\n" | seqloom chat runs/dialogue --json

    Each line of standard input is a turn, and is replied to at once. Earlier turns, of both sides, precede it as they did in
    training (`data.columns.preceding`). `:why` shows what the last reply looked at, word by word, `:new` forgets the
    conversation, and `:quit`, or the end of the input, ends it. From Python: `seqloom.chat("runs/dialogue").say("Hello .")`.
    """
    from seqloom.prediction.chat import Chat
    from seqloom.prediction.predictor import Predictor

    predictor = Predictor.load(run)
    drawn = {} if temperature is None else {"count": 1, "temperature": temperature, "seed": seed}
    talk = Chat(predictor, remembered=turns, search=choose_search(predictor.recipe.search, sample=drawn))
    asked = sys.stdin.isatty()
    if asked:
        typer.echo(_HELP, err=True)
    while (line := _line(asked)) is not None and line != ":quit":
        if line:
            _answer(talk, line, json=json)


def _line(asked: bool) -> str | None:
    """What was said; None at the end. asked: whether a person is at a terminal."""
    if asked:
        typer.echo("> ", nl=False, err=True)
    read = sys.stdin.readline()
    return read.strip() if read else None


def _answer(talk: "Chat", line: str, *, json: bool) -> None:
    match line:
        case ":why":
            _explain(talk, json=json)
        case ":new":
            talk.forget()
        case command if command.startswith(":"):
            typer.echo(f"seqloom: there is no {visible(command)}: {_HELP}", err=True)
        case _:
            found = talk.say(line)
            if json:
                print_json({"said": line, "turns": talk.turns[:-2], **found.as_json()})
            else:
                typer.echo(visible(found.text))
    sys.stdout.flush()


def _explain(talk: "Chat", *, json: bool) -> None:
    """What the last reply looked at."""
    from seqloom.prediction.chat import looks

    if talk.last is None:
        typer.echo("seqloom: nothing has been replied yet", err=True)
        return
    source = next(iter(talk.last.sources.values()))
    found = looks(talk.last)
    if json:
        rows = [
            {"written": symbol, "looked_at": [{"symbol": one, "weight": weight} for one, weight in seen]}
            for symbol, seen in found
        ]
        print_json({"why": {"source": source, "looks": rows}})
        return
    typer.echo(f"  read: {visible(source)}")
    width = max((len(symbol) for symbol, _ in found), default=0)
    for symbol, seen in found:
        shown = ", ".join(f"{visible(one)} {100 * weight:.0f} %" for one, weight in seen)
        typer.echo(f"  {visible(symbol):<{width}}  {shown}")
    if not found:
        typer.echo("  this model looks at nothing: it has no attention")
