"""`seqloom train`."""

import shlex
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.choosing import Asked, choose_recipe
from seqloom.cli.options import ColumnsOption, FormatOption, ImagesOption, Json, next_commands, print_json, require_torch

if TYPE_CHECKING:
    from seqloom.recipe import Recipe
    from seqloom.training.reporting.display import Display
    from seqloom.training.session import Outcome


def train(
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="The run folder. An unfinished run in it is resumed.")],
    recipe: Annotated[
        str | None, typer.Argument(metavar="[RECIPE]", help="A YAML file, or a name that `seqloom recipes ls` lists.")
    ] = None,
    pairs: Annotated[
        list[str] | None,
        typer.Option("--pairs", metavar="FILE", help="A file of pairs; for a recipe, instead of its own. Repeatable."),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", metavar="FILE", help="Plain text, for a language model. Repeatable.")
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="With --text: every line is a sequence by itself, not part of a running text.")
    ] = False,
    vocabulary: Annotated[
        Path | None,
        typer.Option("--vocabulary", metavar="RUN", help="With --text: the target symbols of this run, so as to fuse the two."),
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", metavar="FILE", help="Instead of --pairs: a text file of sources ...")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="FILE", help="... and one of targets, line by line.")
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(
            "--validation", metavar="FILE", help="A file of validation pairs, or SOURCES,TARGETS; by default some of the data."
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="FILE", help="A file of test pairs, or SOURCES,TARGETS; by default some of the data."),
    ] = None,
    columns: ColumnsOption = None,
    format: FormatOption = None,
    images: ImagesOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a recipe setting, e.g. training.epochs=5. Repeatable."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", metavar="N", help="Train for this long: as many updates as fit; the schedule ends on time."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN", help="Start with the weights of this run; with data alone, take its recipe too."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", metavar="N", min=1, help="Train N models, seed, seed + 1, ..., into --out/1, --out/2, ..."),
    ] = None,
    json: Json = False,
) -> None:
    """Train a model, from a recipe or straight from pairs or text.

    Examples:
        seqloom train dates --out runs/dates
        seqloom train recipe.yaml --set training.epochs=20 --out runs/mine
        seqloom train --pairs words.tsv --columns source=2,target=1 --out runs/words
        seqloom train --pairs words.lst --format tsv --out runs/words
        seqloom train transliteration --pairs words.tsv --out runs/words
        seqloom train --source a.de --target a.en --validation b.de,b.en --out runs/de-en
        seqloom train --pairs claims.tsv --columns premise=2,hypothesis=3,target=4 --out runs/claims
        seqloom train --pairs captions.tsv --images photos.zip --out runs/captions
        seqloom train --pairs table.tsv --columns image=1,question=2,target=3 --out runs/questions
        seqloom train --pairs words.tsv --minutes 15 --out runs/words
        seqloom train --text book.txt --out runs/book
        seqloom train dates --seeds 5 --out runs/five
        seqloom train --pairs more.tsv --from runs/words --out runs/tuned

    Without --columns, the columns are worked out from a header or from their content, and printed before training begins; if
    that is not possible, you are asked. A target column with few distinct values becomes classes.

    Ctrl-C saves the run, and it can be used as it is. The same command resumes it, and ends with the same weights as a run that
    was never stopped. --minutes times a few updates first, and writes the number of updates that fit into the run's recipe.
    Several seeds are trained one after the other, each for --minutes; `predict`, `evaluate` and `score` use them as an ensemble
    if given the folder above them.
    """
    require_torch("Training")
    asked = Asked(
        recipe=recipe,
        pairs=tuple(pairs or ()),
        source=tuple(source or ()),
        target=tuple(target or ()),
        text=tuple(text or ()),
        lines=lines,
        vocabulary=vocabulary,
        validation=validation,
        test=test,
        columns=columns,
        format=format,
        images=images,
        settings=tuple(settings or ()),
        start=start,
        begun=out if seeds is None else out / "1",
    )
    chosen = choose_recipe(asked)

    from seqloom.training.reporting.display import open_display

    display = open_display()
    outcome = _trained(chosen, asked, out, display, minutes=minutes, seeds=seeds)
    if json:
        print_json(_as_json(outcome))
    display.say(_what_is_next(chosen, outcome))
    if not outcome.finished:
        raise typer.Exit(130)


def _trained(
    recipe: "Recipe", asked: Asked, out: Path, display: "Display", *, minutes: float | None, seeds: int | None
) -> "Outcome":
    """Train, after saying what was chosen if nobody named a recipe."""
    from seqloom.suggest.reasons import reasons
    from seqloom.training.session import train as train_recipe
    from seqloom.training.weights.starting import StartingRun

    try:
        if asked.recipe is None and asked.start is None:
            display.say(f"chosen for this data: {reasons(recipe, timed=minutes is not None)}")
        wish = None if asked.start is None else StartingRun(asked.start, keeps_vocabularies=asked.recipe is None)
        return train_recipe(recipe, out, display=display, minutes=minutes, seeds=seeds, start=wish)
    finally:
        display.closed()


def _what_is_next(recipe: "Recipe", outcome: "Outcome") -> str:
    """What came of it, and commands to try."""
    if outcome.finished:
        said = f"done: {outcome.path}, best {outcome.metric} {outcome.best:.4g}, {outcome.seconds:.0f} s of training. Next:"
        commands = _next_commands(recipe, outcome)
    else:
        last = outcome.members[-1] if outcome.members else outcome
        said = f"stopped at step {last.step:,}; everything is saved. Go on with the same command, or try what there is:"
        commands = _next_commands(recipe, last)[:1]
    return f"{said}\n{next_commands(commands)}"


def _as_json(outcome: "Outcome") -> dict[str, object]:
    body: dict[str, object] = {
        "run": str(outcome.path),
        "step": outcome.step,
        "seconds": round(outcome.seconds, 2),
        "finished": outcome.finished,
        "metric": outcome.metric,
        "best": None if outcome.best != outcome.best else outcome.best,
    }
    return {**body, "members": [_as_json(one) for one in outcome.members]} if outcome.members else body


def _next_commands(recipe: "Recipe", outcome: "Outcome") -> list[str]:
    """What one does with a run of this recipe, or with several."""
    run = outcome.path
    if outcome.members and recipe.is_language_model:
        return [f"compare {run}", f"score {outcome.members[0].path} FILE"]
    if outcome.members:
        return [f"predict {run} {_an_input(recipe)}", f"evaluate {run}", f"compare {run}"]
    if recipe.is_language_model:
        return [f"sample {run}", f"score {run} FILE", f"report {run}"]
    if recipe.data.file_sources and len(recipe.data.sources) == 1:
        return [f"explain {run} FILE --out map.html", f"evaluate {run}", f"report {run}"]
    return [f"predict {run} {_an_input(recipe)}", f"evaluate {run}", f"report {run}"]


def _an_input(recipe: "Recipe") -> str:
    """An input such as this run reads, for a shell."""
    files = recipe.data.file_sources
    if len(recipe.data.sources) > 1:
        return shlex.quote(
            dumps({name: "FILE" if name in files else "some text" for name in recipe.data.sources}, ensure_ascii=False)
        )
    return "FILE" if files else '"some text"'
