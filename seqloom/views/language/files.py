"""The one entry to views of a language model as files: the form follows from the file's ending."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqloom.results.language import Activations, Reading, Summary
from seqloom.views.drawing.forms import as_document, write_form
from seqloom.views.language.next_symbols import next_symbols_page
from seqloom.views.language.sketches import next_symbols_sketch, surprise_sketch, units_sketch
from seqloom.views.language.surprise import surprise_page
from seqloom.views.language.units import units_page

JSON_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away; new fields do not count."""


def write_surprise(readings: Sequence[Reading], summary: Summary, path: str | Path, *, title: str, ranked: bool = True) -> Path:
    """Write how surprising a text was, as .html, .svg, .png or .json. ranked: a page has the most surprising lines first."""
    return write_form(
        path,
        {
            ".html": lambda: surprise_page(readings, summary, title, ranked=ranked),
            ".svg": lambda: surprise_sketch(readings, title).svg(title),
            ".png": lambda: surprise_sketch(readings, title).png(),
            ".json": lambda: as_document(JSON_VERSION, _readings_json(readings, summary)),
        },
    )


def write_next_symbols(readings: Sequence[Reading], summary: Summary, path: str | Path, *, title: str) -> Path:
    """Write the distribution of the next symbol along a text, as .html, .svg, .png or .json."""
    return write_form(
        path,
        {
            ".html": lambda: next_symbols_page(readings, summary, title),
            ".svg": lambda: next_symbols_sketch(readings, title).svg(title),
            ".png": lambda: next_symbols_sketch(readings, title).png(),
            ".json": lambda: as_document(JSON_VERSION, _readings_json(readings, summary)),
        },
    )


def write_units(activations: Activations, path: str | Path, *, title: str) -> Path:
    """Write single hidden units over a text, as .html, .svg, .png or .json."""
    return write_form(
        path,
        {
            ".html": lambda: units_page(activations, title),
            ".svg": lambda: units_sketch(activations, title).svg(title),
            ".png": lambda: units_sketch(activations, title).png(),
            ".json": lambda: as_document(JSON_VERSION, activations.as_json()),
        },
    )


def _readings_json(readings: Sequence[Reading], summary: Summary) -> Mapping[str, Any]:
    return {"summary": summary.as_json(), "lines": [one.as_json() for one in readings]}
