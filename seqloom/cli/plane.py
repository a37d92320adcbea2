"""`seqloom plane`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from seqloom.cli.options import (
    ColumnsOption,
    Feature,
    FormatOption,
    Json,
    MaximumInput,
    Run,
    parse_format,
    print_json,
    with_columns,
)
from seqloom.errors import DataError
from seqloom.wording import counted


def plane(
    run: Run,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Texts, one a line; after a tab, the group of each, if any.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write: .html, .svg, .png or .json.")] = Path(
        "plane.html"
    ),
    columns: ColumnsOption = None,
    format: FormatOption = None,
    feature: Feature = None,
    maximum_input: MaximumInput = None,
    json: Json = False,
) -> None:
    """Draw texts as points, close if the encoder finds them alike.

    Examples:
        seqloom plane runs/translation sentences.tsv --out plane.html
        seqloom plane runs/translation table.csv --columns source=text,target=meaning --out plane.svg

    The points are the encoder's summaries of the texts, projected to the two directions in which they differ most. Short
    texts stand beside their points, as far as there is room. Texts of a group have one colour, if there are 24 groups at
    most; the group is the second column, or the one that --columns calls target. HTML shows a text and its nearest
    neighbours when one points at it. A model with the bridge `initial` must put all it needs into the summary; one with
    attention need not. Of several sources, the first is drawn.
    """
    from seqloom.data.reading.endings import format_beside
    from seqloom.data.reading.prediction_inputs import read_sources
    from seqloom.prediction.predictor import Predictor
    from seqloom.recipe.sections import Columns, is_lone
    from seqloom.results.plane import Plane
    from seqloom.views.charts.plane import write_plane
    from seqloom.views.drawing.forms import require_ending

    require_ending(out)
    predictor = Predictor.load(run, maximum_input=maximum_input)
    placed = with_columns(predictor.recipe.data, columns)
    usual = Columns() if is_lone(placed.sources) and columns is None else placed.columns
    read_as = format_beside(file, parse_format(format), placed.format)
    examples = list(read_sources(file, usual, format=read_as, sources=placed.sources))
    drawn_source = next(iter(placed.sources))
    blank = next((one for one in examples if not one.sources[drawn_source].strip()), None)
    if blank is not None:
        raise DataError(f"{blank.origin}: expected a text to encode, found none. Remove the line")
    features = [piece for one in feature or () for piece in placed.form.features_of(one)]
    given = [replace(one, features=(*one.features, *features)) for one in examples]
    encodings = predictor.encode(given).get(drawn_source)
    if encodings is None:
        raise DataError(f"{file}: holds no texts. Give a file with some")
    drawn = Plane.of(encodings, [one.sources[drawn_source] for one in examples], [one.target or "" for one in examples])
    written = write_plane(drawn, out, title=f"{Path(run).name}: {counted(len(examples), 'text')} of {Path(file).name}")
    if json:
        print_json({**drawn.as_json(), "written": str(written)})
        return
    nearest, able = drawn.alike
    if able:
        typer.echo(f"nearest neighbour of the same group: {nearest:,} of {able:,} texts")
    typer.echo(str(written))
