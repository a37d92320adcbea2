"""`seqloom recipes`: recipes that come with seqloom, and your own."""

from pathlib import Path
from typing import Annotated

import typer

from seqloom.cli.help_text import Command
from seqloom.cli.options import Json, print_json
from seqloom.errors import RecipeError, UsageError
from seqloom.system.files import Found, found_at

app = typer.Typer(help="List, show, copy and check recipes.", no_args_is_help=True, rich_markup_mode=None)


def find_recipe(name: str) -> Path:
    """A recipe by its file or by the name of a shipped one; a file wins."""
    if found_at(name) is Found.FILE or name.endswith((".yaml", ".yml")) or "/" in name:
        return Path(name)
    from seqloom.recipe.shipped import shipped

    known = shipped()
    if name not in known:
        raise RecipeError(f"{name}: neither a file nor a recipe that comes with seqloom. Those are: {', '.join(known)}")
    return known[name]


def _headline(path: Path) -> str:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    return first.lstrip("# ")


@app.command("ls", cls=Command)
def list_recipes(json: Json = False) -> None:
    """List the recipes that come with seqloom.

    Example:
        seqloom recipes ls
    """
    from seqloom.recipe.shipped import shipped

    rows = [{"name": name, "about": _headline(path)} for name, path in shipped().items()]
    if json:
        print_json(rows)
        return
    widest = max(len(row["name"]) for row in rows)
    for row in rows:
        typer.echo(f"{row['name']:{widest + 2}}{row['about']}")


@app.command("show", cls=Command)
def show(name: Annotated[str, typer.Argument(metavar="RECIPE", help="A recipe's name or file.")], json: Json = False) -> None:
    """Show a recipe: a summary in six parts, then its text.

    The parts are task, data, model, loss, learning algorithm and evaluation.

    Example:
        seqloom recipes show dates
    """
    from seqloom.recipe import jars, read_recipe

    path = find_recipe(name)
    recipe = read_recipe(path)
    if json:
        print_json({"jars": dict(jars(recipe)), "recipe": recipe.model_dump(mode="json")}, indent=1)
        return
    for jar, text in jars(recipe):
        typer.echo(f"{jar:20}{text}")
    typer.echo("\n" + path.read_text(encoding="utf-8").rstrip())


@app.command("copy", cls=Command)
def copy(
    name: Annotated[str, typer.Argument(metavar="RECIPE", help="A recipe's name or file.")],
    to: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Where to; by default its own name, here.")] = None,
) -> None:
    """Copy a recipe to change it.

    Example:
        seqloom recipes copy transliteration mine.yaml
    """
    from seqloom.system.atomic_files import write_file

    path = find_recipe(name)
    aim = to or Path(path.name)
    if aim.is_dir():
        aim = aim / path.name
    if aim.exists():
        raise UsageError(f"{aim}: exists already. Choose another name")
    write_file(aim, path.read_bytes())
    typer.echo(str(aim))


@app.command("check", cls=Command)
def check(names: Annotated[list[str], typer.Argument(metavar="RECIPE...", help="Names or files.")]) -> None:
    """Validate recipes: every mistake with its line.

    Example:
        seqloom recipes check mine.yaml
    """
    from seqloom.recipe import read_recipe

    mistakes = []
    for name in names:
        try:
            read_recipe(find_recipe(name))
        except RecipeError as problem:
            mistakes.append(str(problem))
        else:
            typer.echo(f"{name}: valid")
    if mistakes:
        raise RecipeError("\n".join(mistakes))
