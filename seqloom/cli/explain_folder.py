"""What `seqloom explain RUN FOLDER` does: a gallery of the pictures in a folder."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seqloom.cli.options import print_json, progress_bar
from seqloom.errors import DataError, UsageError
from seqloom.system.terminals import for_output

if TYPE_CHECKING:
    from seqloom.prediction.predictor import Predictor

_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")


def explain_folder(runs: list[str], folder: Path, out: Path, beam: int | None, *, json: bool) -> None:
    """Write a gallery: every picture of a folder, in the order of their names, with what the model says of it."""
    from seqloom.cli.explain import told_of
    from seqloom.cli.searching import choose_search
    from seqloom.prediction.predictor import Predictor
    from seqloom.views import MissingFontWarning
    from seqloom.views.drawing.forms import require_ending
    from seqloom.views.pages.gallery import write_gallery

    require_ending(out)
    if len(runs) > 1:
        raise UsageError(f"a gallery shows one run, and there are {len(runs)}. Name one, or one picture for all of them")
    predictor = Predictor.load(runs[0])
    source = _only_source(predictor, folder)
    pictures = _pictures(folder)
    search = choose_search(predictor.recipe.search, beam={"width": beam})
    with progress_bar("describing", len(pictures)) as advance:
        given = [{source: str(one)} for one in pictures]
        predictions = predictor.predict(given, search=search, progress=advance)
    with told_of(MissingFontWarning):
        written = write_gallery([one.exhibit() for one in predictions], out, title=f"{Path(runs[0]).name}: {folder.name}")
    if json:
        print_json({"predictions": [one.as_json() for one in predictions], "written": str(written)})
        return
    lines = [f"{picture.name}\t{one.text}" for picture, one in zip(pictures, predictions, strict=True)]
    typer.echo(for_output("\n".join([*lines, str(written)])))


def _only_source(predictor: "Predictor", folder: Path) -> str:
    """The name of the one source, which has to be a picture."""
    data = predictor.recipe.data
    if len(data.sources) == 1 and data.file_sources:
        return next(iter(data.sources))
    raise UsageError(
        f"{folder}: is a folder, and this run reads {' and '.join(data.sources)}. A gallery is for runs of one picture"
    )


def _pictures(folder: Path) -> list[Path]:
    from seqloom.views.pages.gallery import MOST

    found = sorted(one for one in folder.iterdir() if one.suffix.lower() in _PICTURES and one.is_file())
    if not found:
        raise DataError(f"{folder}: holds no pictures. A gallery shows files that end in {', '.join(_PICTURES)}")
    if len(found) > MOST:
        raise UsageError(f"{folder}: holds {len(found):,} pictures, and a gallery shows {MOST} at most. Give a smaller folder")
    return found
