"""`seqloom train`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.choosing import Asked, choose_recipe
from seqloom.cli.options import ColumnsOption, ImagesOption, Json, next_commands, print_json, require_torch

if TYPE_CHECKING:
    from seqloom.recipe import Recipe


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
    images: ImagesOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a recipe setting, e.g. training.epochs=5. Repeatable."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", metavar="N", help="Train so long: as many updates as fit, and a schedule that ends on time."),
    ] = None,
    json: Json = False,
) -> None:
    """Train a model, from a recipe or straight from pairs or text.

    Examples:
        seqloom train dates --out runs/dates
        seqloom train recipe.yaml --set training.epochs=20 --out runs/mine
        seqloom train --pairs words.tsv --columns source=2,target=1 --out runs/words
        seqloom train transliteration --pairs words.tsv --out runs/words
        seqloom train --source a.de --target a.en --validation b.de,b.en --out runs/de-en
        seqloom train --pairs claims.tsv --columns premise=2,hypothesis=3,target=4 --out runs/claims
        seqloom train --pairs captions.tsv --images photos.zip --out runs/captions
        seqloom train --pairs table.tsv --columns image=1,question=2,target=3 --out runs/questions
        seqloom train --pairs words.tsv --minutes 15 --out runs/words
        seqloom train --text book.txt --out runs/book

    Without --columns, a header or the content of the columns tells what is what; it is said before training begins, and asked
    where it cannot be told. Targets of which there are few become classes.

    Ctrl-C saves, and what is there can be tried; the same command goes on from there, and ends with the same weights as if it
    had never stopped. --minutes times a few updates when a run begins, and writes into its recipe how many there will be.
    """
    require_torch("Training")
    chosen = choose_recipe(
        Asked(
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
            images=images,
            settings=tuple(settings or ()),
        )
    )

    from seqloom.data.reasons import reasons
    from seqloom.training.display import open_display
    from seqloom.training.session import train as train_recipe

    display = open_display()
    try:
        if recipe is None:
            display.say(f"chosen for this data: {reasons(chosen, timed=minutes is not None)}")
        outcome = train_recipe(chosen, out, display=display, minutes=minutes)
    finally:
        display.closed()
    if json:
        print_json(
            {
                "run": str(outcome.path),
                "step": outcome.step,
                "seconds": round(outcome.seconds, 2),
                "finished": outcome.finished,
                "metric": outcome.metric,
                "best": None if outcome.best != outcome.best else outcome.best,
            }
        )
    if not outcome.finished:
        display.say(
            f"stopped at step {outcome.step:,}; everything is saved. Go on with the same command, or try what there is:\n"
            + next_commands(_next_commands(chosen, outcome.path)[:1])
        )
        raise typer.Exit(130)
    display.say(
        f"done: {outcome.path}, best {outcome.metric} {outcome.best:.4g}, {outcome.seconds:.0f} s of training. Next:\n"
        + next_commands(_next_commands(chosen, outcome.path))
    )


def _next_commands(recipe: "Recipe", run: Path) -> list[str]:
    """What one does with a run of this recipe."""
    if recipe.is_language_model:
        return [f"sample {run}", f"score {run} FILE", f"report {run}"]
    if recipe.data.file_sources and len(recipe.data.sources) == 1:
        return [f"explain {run} FILE --out map.html", f"evaluate {run}", f"report {run}"]
    return [f'predict {run} "some text"', f"evaluate {run}", f"report {run}"]
