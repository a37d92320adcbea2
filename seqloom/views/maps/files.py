"""The one entry to heat maps as files: the form follows from the file's ending."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seqloom.errors import UsageError
from seqloom.views.drawing.forms import as_document, write_form
from seqloom.views.drawing.sketch import Sketch
from seqloom.views.maps.exhibits import Exhibit, Shown, as_exhibit
from seqloom.views.maps.heatmap import several_to_html
from seqloom.views.maps.listening import heard_source, listening_page, listening_sketch
from seqloom.views.maps.png import several_to_png
from seqloom.views.maps.strips import pictured
from seqloom.views.maps.svg import several_to_svg
from seqloom.views.text.labels import isolated, shortened

JSON_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away; new fields do not count."""

Predictions = Shown | Sequence[Shown]


def write_map(predictions: Predictions, path: str | Path, *, title: str = "") -> Path:
    """Write the attention of one or several predictions as .html, .svg, .png or .json, and return the path.

    A prediction about a picture is given as an `Exhibit`, with its pixels. SVG and PNG show the best outputs; of heat maps,
    they show those of one prediction, or of one input given to several models. The default title is the source.
    """
    listed = [predictions] if isinstance(predictions, Shown) else list(predictions)
    if not listed:
        raise UsageError(f"{path}: expected at least one prediction to draw, got none.")
    exhibits = [as_exhibit(one) for one in listed]
    title = title or _default_title(exhibits)
    heard = all(heard_source(one) for one in exhibits)

    def listened() -> Sketch:
        return listening_sketch(_one_input(exhibits, path)[0], title)

    return write_form(
        path,
        {
            ".html": lambda: listening_page(exhibits, title) if heard else several_to_html(exhibits, title),
            ".svg": lambda: listened().svg(title) if heard else several_to_svg(_one_input(exhibits, path), title=title),
            ".png": lambda: listened().png() if heard else several_to_png(_one_input(exhibits, path), title=title),
            ".json": lambda: to_json(exhibits[0] if len(exhibits) == 1 else exhibits),
        },
    )


def to_json(predictions: Predictions) -> str:
    """Write the prediction as `predict --json` prints it, plus a version; several under `predictions`, with their labels."""
    if isinstance(predictions, Shown):
        content = _content(as_exhibit(predictions))
    else:
        content = {"predictions": [_content(as_exhibit(one)) for one in predictions]}
    return as_document(JSON_VERSION, _finite(content))


def _content(exhibit: Exhibit) -> dict[str, Any]:
    label = {"label": exhibit.label} if exhibit.label else {}
    return {**label, **exhibit.as_json()}


def _one_input(exhibits: list[Exhibit], path: str | Path) -> list[Exhibit]:
    if not _share_input(exhibits):
        raise UsageError(
            f"{path}: an {Path(path).suffix} file shows one input, got {len(exhibits)}. "
            "Write .html, which holds them all, or a file for each."
        )
    return exhibits


def _share_input(exhibits: list[Exhibit]) -> bool:
    return all(one.prediction.sources == exhibits[0].prediction.sources for one in exhibits)


def _default_title(exhibits: list[Exhibit]) -> str:
    if not _share_input(exhibits):
        return f"Attention for {len(exhibits)} inputs"
    first = exhibits[0].prediction
    source = ", ".join(isolated(one) for one in _shortened_together([*first.sources.values()], 60))
    # Strips and comparisons have each output below them, so only a single heat map names it in its title.
    if len(exhibits) > 1 or pictured(first.best):
        return source
    return f"{source} \u2192 {isolated(shortened(first.text, 60))}"


def _shortened_together(texts: Sequence[str], longest: int) -> list[str]:
    return [shortened(one, max(longest // len(texts), 20)) for one in texts]


def _finite(value: Any) -> Any:
    """JSON knows neither infinity nor not-a-number: both become null."""
    match value:
        case dict():
            return {key: _finite(one) for key, one in value.items()}
        case list():
            return [_finite(one) for one in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
