"""Where a model listened: the spectrogram above, a row for each word below, and a page that plays the sound and moves along."""

import base64
from collections.abc import Sequence

import numpy as np

from seqloom.results.layouts import Frames
from seqloom.results.predictions import Alignment
from seqloom.views.drawing.elements import Element, as_elements
from seqloom.views.drawing.page import foreign, headline, page, text, wide
from seqloom.views.drawing.sketch import Group, Photo, Rectangle, Shape, Sketch, Stroke, Symbol, TextLine
from seqloom.views.drawing.theme import level
from seqloom.views.maps.exhibits import Exhibit
from seqloom.views.text.labels import estimated_width, label

LARGEST_SOUND = 4 << 20
"""Bytes. A longer recording is not put into a page, which says so."""
LARGEST_AMONG_OTHERS = 1 << 20
"""The same for a page that shows more than this sound, and for what a server sends."""
STYLES, SCRIPTS = ("listen.css",), ("listen.js", "listens.js")

_WIDTH, _SPECTROGRAM, _ROW = 920.0, 150.0, 20.0
_TOP, _TICKS, _MARGIN = 44.0, 22.0, 16.0
_FAINTEST = 0.02
"""Smaller weights would be drawn in the colour of the paper."""


def heard_source(exhibit: Exhibit) -> str | None:
    """The source that is listened to: one whose positions lie in time, with a picture of its sound; None if there is none."""
    for name, alignment in exhibit.prediction.alignment.items():
        if isinstance(alignment.layout, Frames) and alignment.layout.position_seconds and name in exhibit.pictures:
            return name
    return None


def listening_sketch(exhibit: Exhibit, title: str) -> Sketch:
    """The spectrogram, the time below it, and below that for each symbol how much it listened to each moment."""
    name = heard_source(exhibit) or ""
    best, alignment, picture = exhibit.prediction.best, exhibit.prediction.alignment[name], exhibit.pictures[name]
    labels = [label(token) for token in best.tokens]
    left = _MARGIN + max(36.0, *(13 * estimated_width(one.text) + 14 for one in labels))
    scale = (_WIDTH - left - _MARGIN) / _seconds(alignment)
    bottom = _TOP + _SPECTROGRAM
    shapes: list[Shape] = [TextLine(_MARGIN, 26, title, size=14, bold=True)] if title else []
    shapes.append(Photo(picture.pixels, left, _TOP, _WIDTH - left - _MARGIN, _SPECTROGRAM))
    shapes += _ticks(_seconds(alignment), left, scale, bottom)
    for index, (one, weights) in enumerate(zip(labels, alignment.mean, strict=True)):
        y = bottom + _TICKS + _ROW * index
        shapes.append(Group([Symbol(left - 8, y + 14, one, 13, "end"), *_row(weights, alignment, left, scale, y)], index=index))
    return Sketch(_WIDTH, bottom + _TICKS + _ROW * len(labels) + 30, [*shapes, _note(bottom, len(labels), left)])


def listening_drawing(exhibit: Exhibit) -> Element | None:
    """The component as data, for a page whose script makes its elements; None if nothing is listened to."""
    if heard_source(exhibit) is None:
        return None
    return as_elements(component(exhibit, named=False, largest=LARGEST_AMONG_OTHERS))


def _seconds(alignment: Alignment) -> float:
    """How long all positions are together."""
    layout = alignment.layout
    return alignment.weights.shape[-1] * layout.position_seconds if isinstance(layout, Frames) else 1.0


def _ticks(seconds: float, left: float, scale: float, y: float) -> list[Shape]:
    """The time, at about ten places."""
    step = next((one for one in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0) if seconds / one <= 12), 60.0)
    found: list[Shape] = []
    for number in range(int(seconds / step) + 1):
        x = left + number * step * scale
        found += [Stroke([(x, y), (x, y + 4)], "quiet"), TextLine(x, y + 15, f"{number * step:g} s", "quiet", 10.5, "middle")]
    return found


def _row(weights: Sequence[float], alignment: Alignment, left: float, scale: float, y: float) -> list[Shape]:
    """The moments that one symbol listened to."""
    layout = alignment.layout
    wide_one = layout.position_seconds * scale if isinstance(layout, Frames) else 1.0
    ground = Rectangle(left, y + 2, wide_one * len(weights), _ROW - 4, "panel")
    seen = [
        Rectangle(left + place * wide_one, y + 2, wide_one, _ROW - 4, f"w{level(float(weight))}", tooltip=f"{weight:.2f}")
        for place, weight in enumerate(weights)
        if weight >= _FAINTEST
    ]
    return [ground, *seen]


def _note(bottom: float, rows: int, left: float) -> TextLine:
    note = "Above, how loud each pitch is, low ones at the bottom; below, how much each symbol listened to each moment."
    return TextLine(left, bottom + _TICKS + _ROW * rows + 18, note, "quiet", 10.5)


def listening_page(exhibits: Sequence[Exhibit], title: str) -> str:
    """A page of its own: each sound can be played, and a line moves along. Clicking into the picture goes there."""
    parts = "".join(component(one, named=len(exhibits) > 1) for one in exhibits)
    body = f"<main>{headline(title)}{parts}</main>"
    return page(title, body, styles=STYLES, scripts=SCRIPTS)


def component(exhibit: Exhibit, *, named: bool, largest: int = LARGEST_SOUND) -> str:
    """One sound, in a page that carries STYLES and SCRIPTS.

    named: with what it is and what was written, which a page of one says above. largest: bytes of a sound that can be played.
    """
    name = heard_source(exhibit) or ""
    sketch = listening_sketch(exhibit, "")
    alignment = exhibit.prediction.alignment[name]
    photo = next(one for one in sketch.shapes if isinstance(one, Photo))
    moments = np.asarray(alignment.mean.argmax(axis=-1)) * (_seconds(alignment) / alignment.weights.shape[-1])
    facts = (
        f'data-left="{photo.x:g}" data-width="{photo.width:g}" data-seconds="{_seconds(alignment):g}" '
        f'data-moments="{" ".join(f"{one:.3f}" for one in moments)}"'
    )
    whose = foreign(exhibit.label, "whose", "h2") if exhibit.label else ""
    source, written = foreign(exhibit.prediction.sources[name], "source"), foreign(exhibit.prediction.text)
    said = f'<p class="said">{source} \u2192 {written}</p>' if named else ""
    drawing = wide(sketch.inline(f"Where the model listened while it wrote {exhibit.prediction.text}"))
    player = _player(exhibit.sounds.get(name), largest)
    return f'<section class="listening" {facts}>{whose}{said}{player}{drawing}</section>'


def _player(sound: bytes | None, largest: int) -> str:
    if sound is None:
        return ""
    if len(sound) > largest:
        return f'<p class="remark">{text("The recording is too long to be put into a page, so it cannot be played here.")}</p>'
    return f'<audio controls="" preload="auto" src="data:audio/wav;base64,{base64.b64encode(sound).decode("ascii")}"></audio>'
