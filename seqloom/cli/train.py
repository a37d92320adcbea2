"""`seqloom train`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqloom.cli.options import (
    ColumnsOption,
    ImagesOption,
    Json,
    parse_files,
    print_json,
    program,
    recognised,
    require_torch,
)
from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.recipe import Recipe


def train(
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="The run folder. An unfinished run in it is resumed.")],
    recipe: Annotated[
        str | None, typer.Argument(metavar="[RECIPE]", help="A YAML file, or a name that `seqloom recipes ls` lists.")
    ] = None,
    pairs: Annotated[
        list[str] | None, typer.Option("--pairs", metavar="FILE", help="Instead of a recipe: a file of pairs. Repeatable.")
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", metavar="FILE", help="Instead: plain text, for a language model. Repeatable.")
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
    json: Json = False,
) -> None:
    """Train a model, from a recipe or straight from pairs or text.

    Examples:
        seqloom train dates --out runs/dates
        seqloom train recipe.yaml --set training.epochs=20 --out runs/mine
        seqloom train --pairs words.tsv --columns source=2,target=1 --out runs/words
        seqloom train --source a.de --target a.en --validation b.de,b.en --out runs/de-en
        seqloom train --pairs claims.tsv --columns premise=2,hypothesis=3,target=4 --out runs/claims
        seqloom train --pairs captions.tsv --images photos.zip --out runs/captions
        seqloom train --pairs table.tsv --columns image=1,question=2,target=3 --out runs/questions
        seqloom train --text book.txt --out runs/book

    Without --columns, a header or the content of the columns tells what is what; it is said before training begins, and asked
    where it cannot be told. Targets of which there are few become classes.

    Ctrl-C saves; the same command goes on from there, and ends with the same weights as if it had never stopped.
    """
    require_torch("Training")
    files = _files(pairs, source, target)
    if sum(given is not None for given in (recipe, files, text or None)) != 1:
        raise UsageError(
            "train: give either a recipe or data (--pairs, --source and --target, or --text). See: seqloom train --help"
        )
    if recipe is not None and (validation or test):
        raise UsageError("train: --validation and --test go with data; a recipe names its own files in `data`")
    if not text and (lines or vocabulary is not None):
        raise UsageError("train: --lines and --vocabulary go with --text; a recipe says it in `data`")
    if files is None and images is not None:
        raise UsageError("train: --images goes with --pairs; a recipe says it as `root` of a source in data.sources")
    if recipe is not None:
        chosen = _from_recipe(recipe, columns, settings)
    elif text:
        chosen = _from_text(text, validation, test, columns, lines=lines, vocabulary=vocabulary, settings=settings)
    else:
        chosen = _from_data(files, validation, test, columns, images, settings)

    from seqloom.training.display import open_display
    from seqloom.training.session import train as train_recipe

    display = open_display()
    try:
        outcome = train_recipe(chosen, out, display=display)
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
        display.say(f"stopped at step {outcome.step:,}; everything is saved. Go on with the same command")
        raise typer.Exit(130)
    display.say(
        f"done: {outcome.path}, best {outcome.metric} {outcome.best:.4g}, {outcome.seconds:.0f} s of training. Next:\n"
        + "\n".join(f"  {program()} {command}" for command in _next_commands(chosen, outcome.path))
    )


def _next_commands(recipe: "Recipe", run: Path) -> list[str]:
    """What one does with a run of this recipe."""
    if recipe.is_language_model:
        return [f"sample {run}", f"score {run} FILE", f"report {run}"]
    if recipe.data.file_sources and len(recipe.data.sources) == 1:
        return [f"explain {run} FILE --out map.html", f"evaluate {run}", f"report {run}"]
    return [f"predict {run} FILE", f"evaluate {run}", f"report {run}"]


def _files(
    pairs: list[str] | None, source: list[str] | None, target: list[str] | None
) -> "list[str] | tuple[list[str], list[str]] | None":
    if pairs and (source or target):
        raise UsageError("--pairs goes without --source and --target: give one file with both sides, or two aligned files")
    if bool(source) != bool(target):
        raise UsageError("--source and --target go together: line i of one belongs to line i of the other")
    if source and target:
        return source, target
    return pairs or None


def _from_recipe(recipe: str, columns: str | None, settings: list[str] | None) -> "Recipe":
    from seqloom.cli.recipes import find_recipe
    from seqloom.recipe import read_recipe

    if columns is not None:
        raise UsageError("--columns goes with --pairs; a recipe says it in data.columns (or: --set data.columns.source=2)")
    return read_recipe(find_recipe(recipe), settings or ())


def _from_text(
    text: list[str],
    validation: str | None,
    test: str | None,
    columns: str | None,
    *,
    lines: bool,
    vocabulary: Path | None,
    settings: list[str] | None,
) -> "Recipe":
    from seqloom.data.defaults import recipe_for_text
    from seqloom.runs import RunFolder

    if columns is not None:
        raise UsageError("train: --columns goes with --pairs; plain text has no columns")
    if vocabulary is not None:
        RunFolder.open(vocabulary)  # refuses what is not a run
    return recipe_for_text(
        text,
        validation=validation,
        test=test,
        lines=lines,
        vocabulary=str((vocabulary / "tokenizers" / "target.json").resolve()) if vocabulary is not None else None,
        overrides=settings or (),
    )


def _from_data(
    files: "list[str] | tuple[list[str], list[str]] | None",
    validation: str | None,
    test: str | None,
    columns: str | None,
    images: str | None,
    settings: list[str] | None,
) -> "Recipe":
    from seqloom.data.defaults import recipe_for
    from seqloom.data.image_defaults import recipe_for_images
    from seqloom.recipe.sections import Aligned

    if files is None:
        raise UsageError("no data was given")
    train_files = Aligned(source=tuple(files[0]), target=tuple(files[1])) if isinstance(files, tuple) else tuple(files)
    held_out = {
        "validation": parse_files(validation) if validation else None,
        "test": parse_files(test) if test else None,
    }
    table = recognised(train_files, columns, images)
    if table.has_images:
        return recipe_for_images(train_files, table, **held_out, overrides=settings or ())
    return recipe_for(train_files, table, **held_out, overrides=settings or ())
