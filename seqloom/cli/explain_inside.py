"""What `seqloom explain --tree` and `--steps` do: look at one model at work on one input."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seqloom.cli.options import print_json
from seqloom.errors import UsageError

if TYPE_CHECKING:
    from seqloom.prediction.predictor import Predictor
    from seqloom.recipe.sections import Search

_TREE_WIDTH = 3
"""A tree of more is hard to read."""


def explain_tree(
    run: str, given: "dict[str, Any]", predictor: "Predictor", out: Path, beam: int | None, prefix: str = "", *, json: bool
) -> None:
    """Write the tree of the search for one input: every step's continuations, and which were kept."""
    from seqloom.evaluation.tracing import grow_tree
    from seqloom.views.charts.tree import write_tree

    tree = grow_tree(predictor, given, search=_search(predictor, beam, _TREE_WIDTH), prefix=prefix)
    written = write_tree(tree, out)
    if json:
        print_json({"run": run, **tree.as_json(), "written": str(written)})
        return
    kept = sum(one.stays for step in tree.steps for one in step)
    typer.echo(f"{tree.outputs[0].text}\n{sum(map(len, tree.steps)):,} continuations, {kept:,} kept\n{written}")


def explain_steps(
    run: str, given: "dict[str, Any]", predictor: "Predictor", out: Path, beam: int | None, prefix: str = "", *, json: bool
) -> None:
    """Write how each output symbol comes about: scores, weights, context, word."""
    from seqloom.evaluation.tracing import walk_through
    from seqloom.views.charts.steps import write_steps

    walk = walk_through(predictor, given, search=_search(predictor, beam, None), prefix=prefix)
    written = write_steps(walk, out)
    if json:
        print_json({"run": run, **walk.as_json(), "written": str(written)})
        return
    typer.echo(f"{walk.text}\n{written}")


def require_alone(runs: list[str], *, tree: bool, steps: bool, oracle: str | None) -> None:
    """Refuse what --tree and --steps cannot be combined with."""
    if tree and steps:
        raise UsageError("--tree and --steps are two pictures. Give one of them, then the other with another --out")
    option = "--tree" if tree else "--steps"
    if len(runs) > 1:
        raise UsageError(f"{option} looks into one run, and there are {len(runs)}. Name one")
    if oracle is not None:
        raise UsageError(f"{option} shows where the model looks by itself. Leave --oracle out")


def _search(predictor: "Predictor", beam: int | None, usual: int | None) -> "Search":
    from seqloom.cli.searching import choose_search

    return choose_search(predictor.recipe.search, beam={"width": beam or usual})
