"""`seqloom explain`."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from seqloom.cli.options import BeamWidth, Feature, Json, Run, print_json


def explain(
    run: Run,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The source text.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write: .html, .svg, .png or .json.")] = Path(
        "map.html"
    ),
    beam: BeamWidth = None,
    feature: Feature = None,
    json: Json = False,
) -> None:
    """Draw where the model looked while it wrote each symbol.

    Examples:
        seqloom explain runs/demo "le 3 mai 1979" --out map.html
        seqloom explain runs/demo "2009年12月31日" --feature ja --out map.png

    HTML shows all outputs of the beam to choose from, and values when one points at a cell.
    """
    from seqloom.cli.searching import choose_search
    from seqloom.predict import Predictor
    from seqloom.recipe.sections import Beam
    from seqloom.views import MissingFontWarning, write_map

    predictor = Predictor.load(run)
    search = choose_search(predictor.recipe.search, beam={"width": beam})
    nbest = search.width if isinstance(search, Beam) else 1
    prediction = predictor.predict([{"source": text, "features": feature or []}], search=search, nbest=nbest)[0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MissingFontWarning)
        written = write_map(prediction, out)
    for warning in caught:
        if issubclass(warning.category, MissingFontWarning):
            typer.echo(f"seqloom: {warning.message}", err=True)
    if json:
        print_json({**prediction.as_json(), "written": str(written)})
    else:
        typer.echo(f"{prediction.text}\n{written}")
