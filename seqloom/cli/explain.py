"""`seqloom explain`."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from seqloom.cli.options import Feature, Json, print_json


def explain(
    run: Annotated[str, typer.Argument(help="A run folder.")],
    text: Annotated[str, typer.Argument(metavar="INPUT", help="The source text.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write: .html, .svg, .png or .json.")] = Path("map.html"),
    beam: Annotated[
        int | None, typer.Option("--beam", min=1, help="Beam search of this width, instead of the recipe's search.")
    ] = None,
    feature: Feature = None,
    json: Json = False,
) -> None:
    """Draw where the model looked in the source while it wrote each symbol.

    Examples:
        seqloom explain runs/demo "le 3 mai 1979" --out map.html

        seqloom explain runs/demo "2009年12月31日" --feature ja --out map.png

    HTML shows all outputs of the beam to choose from, and values when one points at a cell.
    """
    from seqloom.cli.predict import choose_search
    from seqloom.predict import Predictor
    from seqloom.recipe.sections import Beam
    from seqloom.views import MissingFontWarning, write_map

    predictor = Predictor.load(run)
    search = choose_search(predictor.recipe.search, {"beam": {"width": beam}, "sample": {}, "common": {}})
    nbest = search.width if isinstance(search, Beam) else 1
    prediction = predictor.predict([{"source": text, "features": feature or []}], search=search, nbest=nbest)[0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MissingFontWarning)
        written = write_map(prediction, out, title=prediction.text)
    for warning in caught:
        if issubclass(warning.category, MissingFontWarning):
            typer.echo(f"seqloom: {warning.message}", err=True)
    if json:
        print_json({**prediction.as_json(), "written": str(written)})
    else:
        typer.echo(f"{prediction.text}\n{written}")
