"""A gallery: what a model says of each of many pictures."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import numpy as np

from seqloom.errors import UsageError
from seqloom.views.drawing.forms import write_form
from seqloom.views.drawing.page import foreign, header, section, sheet, text
from seqloom.views.drawing.pixels import Pixels, data_uri, rgb_png, shrunk
from seqloom.views.drawing.sketch import Photo, Shape, Sketch, TextLine
from seqloom.views.maps import heatmap
from seqloom.views.maps.exhibits import Exhibit
from seqloom.views.maps.files import to_json
from seqloom.views.text.labels import wrapped
from seqloom.wording import counted

MOST = 200
"""More pictures than this make a page that nobody looks through."""

_MOST_MAPS = 24
"""Of so many pictures, a page also has where the model looked."""
_SIDE = 320
_COLUMNS, _WIDTH, _GAP, _MARGIN = 4, 212.0, 18.0, 16.0
_FONT, _LINE = 12.5, 17.0


def write_gallery(exhibits: Sequence[Exhibit], path: str | Path, *, title: str) -> Path:
    """Write pictures with what a model says of each, as .html, .svg, .png or .json, and return the path."""
    if len(exhibits) > MOST:
        raise UsageError(f"{len(exhibits):,} pictures do not fit into a gallery, {MOST} do. Put fewer into the folder")
    return write_form(
        path,
        {
            ".html": lambda: gallery_page(exhibits, title),
            ".svg": lambda: gallery_sketch(exhibits, title).svg(title),
            ".png": lambda: gallery_sketch(exhibits, title).png(),
            ".json": lambda: to_json(exhibits),
        },
    )


def gallery_page(exhibits: Sequence[Exhibit], title: str) -> str:
    """Pictures beside each other; those of a small gallery open to show where the model looked."""
    looks = len(exhibits) <= _MOST_MAPS
    figures = "".join(_figure(one, looks=looks) for one in exhibits)
    summary = counted(len(exhibits), "picture") + ", with what the model says of each, and how probable it finds that."
    gallery = section("", f'<div class="gallery">{figures}</div>')
    scripts = heatmap.SCRIPTS if looks else ()
    return sheet(title, header(title, summary), gallery, styles=(*heatmap.STYLES, "gallery.css"), scripts=scripts)


def _figure(exhibit: Exhibit, *, looks: bool) -> str:
    prediction = exhibit.prediction
    name = PurePath(_named(exhibit)).name
    image = f'<img src="{data_uri(rgb_png(_pixels(exhibit, _SIDE)))}" alt="{text(name)}" title="{text(name)}">'
    said = f"{foreign(prediction.text or chr(0x2205), tag='b')} <small>{_probability(exhibit)}</small>"
    opened = ""
    if looks and prediction.alignment:
        opened = f"<details><summary>where it looked</summary>{heatmap.component(exhibit, compact=True)}</details>"
    return f"<figure>{image}<figcaption>{said}</figcaption>{opened}</figure>"


def gallery_sketch(exhibits: Sequence[Exhibit], title: str) -> Sketch:
    """Pictures in rows of four, each with what is said of it."""
    shapes: list[Shape] = [TextLine(_MARGIN, 26, title, size=15, bold=True)]
    top = 46.0
    for start in range(0, len(exhibits), _COLUMNS):
        bottoms = [top]
        for column, exhibit in enumerate(exhibits[start : start + _COLUMNS]):
            drawn = list(_shapes(exhibit, _MARGIN + column * (_WIDTH + _GAP), top))
            shapes += drawn
            bottoms.append(max(one.y for one in drawn if isinstance(one, TextLine)))
        top = max(bottoms) + 26
    return Sketch(2 * _MARGIN + _COLUMNS * _WIDTH + (_COLUMNS - 1) * _GAP, top, shapes)


def _shapes(exhibit: Exhibit, left: float, top: float) -> Iterator[Shape]:
    pixels = _pixels(exhibit, _SIDE)
    height = _WIDTH * pixels.shape[0] / pixels.shape[1]
    yield Photo(pixels, left, top, _WIDTH, height)
    y = top + height + _LINE
    for line in wrapped(exhibit.prediction.text or "\u2205", _WIDTH / _FONT):
        yield TextLine(left, y, line, size=_FONT, bold=True)
        y += _LINE
    yield TextLine(left, y, _probability(exhibit), "quiet", 10.5)


def _named(exhibit: Exhibit) -> str:
    return next(iter(exhibit.prediction.sources.values()))


def _pixels(exhibit: Exhibit, longest: int) -> Pixels:
    """The first picture of an exhibit; grey if it is gone."""
    for picture in exhibit.pictures.values():
        return shrunk(picture.pixels, longest)
    return np.full((3, 4, 3), 200, np.uint8)


def _probability(exhibit: Exhibit) -> str:
    return f"p {np.exp(min(0.0, exhibit.prediction.log_prob)):.2g}"
