"""The one entry to heat maps as files: the form follows from the file's ending."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from seqloom.errors import UsageError
from seqloom.predictions import Candidate, Prediction
from seqloom.runs import write_file
from seqloom.views.heatmap import several_to_html
from seqloom.views.labels import shortened
from seqloom.views.png import to_png
from seqloom.views.svg import to_svg

JSON_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away; new fields do not count."""

Predictions = Prediction | Sequence[Prediction]


def write_map(predictions: Predictions, path: str | Path, *, title: str = "") -> Path:
    """Write the attention of one or several predictions as .html, .svg, .png or .json, and return the path.

    HTML and JSON hold any number of predictions; SVG and PNG show the best output of one. The default title is the source.
    """
    path = Path(path)
    listed = [predictions] if isinstance(predictions, Prediction) else list(predictions)
    if not listed:
        raise UsageError(f"{path}: expected at least one prediction to draw, got none.")
    write_file(path, _form(path)(listed, path, title or _default_title(listed)))
    return path


def to_json(predictions: Predictions) -> str:
    """Write the prediction as `predict --json` prints it, plus a version; several under `predictions`."""
    if isinstance(predictions, Prediction):
        content = predictions.as_json()
    else:
        content = {"predictions": [one.as_json() for one in predictions]}
    return json.dumps(_finite({"version": JSON_VERSION, **content}), ensure_ascii=False, allow_nan=False) + "\n"


def _form(path: Path) -> Callable[[list[Prediction], Path, str], bytes]:
    match path.suffix.lower():
        case ".html":
            return lambda predictions, _, title: several_to_html(predictions, title).encode("utf-8")
        case ".json":
            return lambda predictions, _, __: to_json(predictions[0] if len(predictions) == 1 else predictions).encode("utf-8")
        case ".svg":
            return lambda predictions, path, title: to_svg(_only(predictions, path), title=title).encode("utf-8")
        case ".png":
            return lambda predictions, path, title: to_png(_only(predictions, path), title=title)
        case ending:
            got = f"the ending '{ending}'" if ending else "no ending"
            raise UsageError(f"{path}: expected a file name that ends in .html, .svg, .png or .json, got {got}.")


def _only(predictions: list[Prediction], path: Path) -> Candidate:
    if len(predictions) > 1:
        raise UsageError(
            f"{path}: an {path.suffix} file shows one prediction, got {len(predictions)}. "
            "Write .html, which holds them all, or a file for each."
        )
    return predictions[0].best


def _default_title(predictions: list[Prediction]) -> str:
    if len(predictions) > 1:
        return f"Attention for {len(predictions)} inputs"
    first = predictions[0]
    source = next(iter(first.sources.values()), "")
    return f"{shortened(source, 60)} \u2192 {shortened(first.text, 60)}"


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
