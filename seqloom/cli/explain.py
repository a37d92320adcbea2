"""`seqloom explain`."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from seqloom.cli.options import BeamWidth, Feature, Json, Run, print_json
from seqloom.errors import UsageError


def explain(
    run: Run,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The source text; the text itself for a language model.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write: .html, .svg, .png or .json.")] = Path(
        "map.html"
    ),
    beam: BeamWidth = None,
    feature: Feature = None,
    units: Annotated[
        str | None,
        typer.Option(
            "--units", metavar="N,...|top", help="Language model: these hidden units of the last layer (LAYER:N of others)."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Draw where the model looked while it wrote, or what it expected.

    Examples:
        seqloom explain runs/demo "le 3 mai 1979" --out map.html
        seqloom explain runs/demo "2009年12月31日" --feature ja --out map.png
        seqloom explain runs/book "To be, or not to be" --out next.html
        seqloom explain runs/book "To be, or not to be" --units top --out units.html

    HTML shows all outputs of the beam to choose from, and values when one points at a cell. For a language model (.html or
    .json): what it expected at every symbol, or with --units what hidden units show; top: the most selective ones.
    """
    from seqloom.cli.texts import is_text_run

    if is_text_run(run):
        if beam is not None or feature:
            raise UsageError(
                "--beam and --feature are for models that read a source; this one is a language model. Leave them out"
            )
        explain_text(run, text, out, units, json=json)
        return
    if units is not None:
        raise UsageError("--units is for language models; this run reads a source. Leave it out")
    _explain_source(run, text, out, beam, feature, json=json)


def _explain_source(run: str, text: str, out: Path, beam: int | None, feature: list[str] | None, *, json: bool) -> None:
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


# --- language models ------------------------------------------------------------------------------------------------

_MOST_SYMBOLS = 2000
"""A page goes into every symbol, so a long text makes one that nobody reads to its end."""


def explain_text(run: str, text: str, out: Path, units: str | None, *, json: bool) -> None:
    """Write what a language model expected along a text, or what its hidden units show."""
    from seqloom.language import LanguageModel
    from seqloom.readings import Summary
    from seqloom.views.labels import shortened
    from seqloom.views.texts import require_ending, write_next_symbols, write_units

    require_ending(out)
    model = LanguageModel.load(run)
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    scored = model.score(lines)
    summary = Summary.of(scored)
    if summary.symbols > _MOST_SYMBOLS:
        raise UsageError(
            f"the text has {summary.symbols:,} symbols; a page goes into {_MOST_SYMBOLS:,} at most. "
            "Give a shorter one, or use `score --html`"
        )
    title = shortened(lines[0], 60)
    if units is None:
        written = write_next_symbols(model.read(lines), summary, out, title=title)
    else:
        written = write_units(model.activations(lines, parse_units(units, model.layers)), out, title=title)
    if json:
        print_json({"summary": summary.as_json(), "lines": [one.as_json() for one in scored], "written": str(written)})
    else:
        typer.echo(f"log-probability {summary.log_prob:.4f}, {summary.bits_per_symbol:.4f} bits per symbol\n{written}")


def parse_units(text: str, layers: int) -> "list[tuple[int, int]] | None":
    """`top` as None; else hidden units as (layer, number): of the last layer unless the layer is given before a colon."""
    if text.strip() == "top":
        return None
    found = []
    for part in text.split(","):
        layer, colon, number = part.strip().rpartition(":")
        if not number.isdecimal() or (colon and not layer.isdecimal()):
            raise UsageError(f"--units: expected numbers such as 0,5,17 or 1:5 (layer 1), or top; got {part.strip()!r}")
        found.append((int(layer) if colon else layers, int(number)))
    return found
