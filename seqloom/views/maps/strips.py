"""The strip of an output about a picture: the picture once, then once per symbol with the attention over it.

Planned once for SVG, PNG and pages; measures are in pixels, outlines in shares of the picture.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np

from seqloom.results.predictions import Candidate, FloatArray
from seqloom.views.drawing.page import number
from seqloom.views.drawing.pixels import Pixels, data_uri, rgb_png, shrunk
from seqloom.views.drawing.shapes import label_text, text_line
from seqloom.views.drawing.theme import LIGHT, channels
from seqloom.views.maps.chosen import probability
from seqloom.views.maps.exhibits import Picture
from seqloom.views.maps.layout import row_labels
from seqloom.views.maps.overlays import grid_of, is_hard, is_pictured, mask_png, spoken_place, weights_on_grid
from seqloom.views.text.labels import Label, clean, estimated_width, isolated, label, starts_right_to_left, wrapped

GAP = 12.0
CAPTION_SIZE, CAPTION_LINE, PROBABILITY_SIZE = 14.0, 20.0, 10.5

_WIDTH = 920.0
_NARROWEST, _WIDEST, _TALLEST = 132.0, 208.0, 176.0
_BELOW = 46.0
_WORD_SIZE = 14.0
_LONGEST_SIDE = 640
_GROUND_CELL = 24


@dataclass(frozen=True)
class Outline:
    """A rectangle over the picture, in shares of its sides. named: a thing that the word names; else a place looked at."""

    left: float
    top: float
    width: float
    height: float
    named: bool


@dataclass(frozen=True)
class PictureStep:
    """One symbol of the output: where the model looked when it wrote it, [rows, columns], and what is outlined."""

    label: Label
    probability: float
    weights: FloatArray
    outlines: Sequence[Outline]

    @property
    def spoken(self) -> str:
        """Say in words what the panel shows."""
        greatest = float(self.weights.max(initial=0.0))
        place = spoken_place(self.weights)
        word = isolated(self.label.full)
        return f"{word}: probability {self.probability:.3f}, looks {place}, greatest weight {greatest:.3f}"


@dataclass(frozen=True)
class Strip:
    """All that a strip shows. hard: each step looked at one place, so cells are drawn as they are."""

    name: str
    text: str
    scores: str
    pixels: Pixels
    hard: bool
    steps: Sequence[PictureStep]

    @cached_property
    def per_row(self) -> int:
        """How many pictures stand beside each other: as many as fit, then evened out, so that no row is nearly empty."""
        count, (least, _) = len(self.steps) + 1, self._fitted(_NARROWEST)
        rows = math.ceil(count / int((_WIDTH + GAP) // (least + GAP)))
        return math.ceil(count / rows)

    @cached_property
    def panel(self) -> tuple[float, float]:
        """Width and height of one picture: larger where there are few."""
        return self._fitted(min(_WIDTH / self.per_row - GAP, _WIDEST))

    def _fitted(self, widest: float) -> tuple[float, float]:
        height, width = self.pixels.shape[:2]
        wide = min(widest, _TALLEST * width / height)
        return round(wide), round(wide * height / width)

    @cached_property
    def caption(self) -> list[str]:
        """The whole output, in lines that fit."""
        return wrapped(self.text, (self.width - estimated_width(self.scores) * PROBABILITY_SIZE - GAP) / CAPTION_SIZE)

    @property
    def width(self) -> float:
        """Of the whole strip; a single picture leaves the caption some room, too."""
        return max(self.per_row * (self.panel[0] + GAP) - GAP, 400.0)

    @property
    def height(self) -> float:
        """Of the whole strip with its caption."""
        return self.caption_top + (len(self.caption) - 1) * CAPTION_LINE + GAP

    @property
    def caption_top(self) -> float:
        """Where the caption's first line stands."""
        rows = math.ceil((len(self.steps) + 1) / self.per_row)
        return rows * (self.panel[1] + _BELOW) + CAPTION_SIZE - 2

    def place(self, index: int) -> tuple[float, float]:
        """The upper left corner of a picture; 0 is the one without attention."""
        row, column = divmod(index, self.per_row)
        return column * (self.panel[0] + GAP), row * (self.panel[1] + _BELOW)

    def label_size(self, one: Label) -> float:
        """The size of type in which a label fits below its picture."""
        return max(min(_WORD_SIZE, self.panel[0] / max(estimated_width(one.text), 1e-6)), 7.0)

    @property
    def notes(self) -> list[str]:
        """How the strip is to be read."""
        named = any(one.named for step in self.steps for one in step.outlines)
        return [
            "light: where the model looked while it wrote the word",
            *(["white frame: the one place it chose"] if self.hard else []),
            *(["orange frame: what the word names"] if named else []),
            "number: probability of the word",
        ]

    @cached_property
    def picture_uri(self) -> str:
        """The picture as an address that holds it."""
        return data_uri(rgb_png(self.pixels))


def plan_strip(candidate: Candidate, name: str, picture: Picture | None, head: int | None = None) -> Strip:
    """Plan the strip of one source that is a picture. Without its pixels it is a plain ground."""
    alignment = candidate.alignment[name]
    known, hard = picture or Picture(_ground(*grid_of(alignment))), is_hard(alignment)
    weights, named = weights_on_grid(alignment, head), named_outlines(known, candidate)
    steps = [
        PictureStep(one, probability(log_prob), place, [*(_cells(place) if hard else []), *boxes])
        for one, log_prob, place, boxes in zip(row_labels(candidate), candidate.log_probs, weights, named, strict=True)
    ]
    return Strip(clean(name), clean(candidate.text), _scores(candidate), shrunk(known.pixels, _LONGEST_SIDE), hard, steps)


def named_outlines(picture: Picture, candidate: Candidate) -> list[list[Outline]]:
    """For each output symbol, the outlines of what it names."""
    height, width = picture.pixels.shape[:2]
    return [
        [Outline(x / width, y / height, (right - x) / width, (low - y) / height, True) for x, y, right, low in boxes]
        for boxes in picture.named_boxes(candidate)
    ]


def strip_svg(strip: Strip, key: str) -> str:
    """Draw the strip. key: a name for its picture that no other strip of the drawing has; it is held once and shown often."""
    drawn = [f"<defs>{_svg_image(strip, strip.picture_uri, key)}</defs>"]
    drawn.append(_svg_panel(strip, 0, key, label(strip.name, mark=True), f"{strip.name}, as the model saw it"))
    for index, step in enumerate(strip.steps, start=1):
        over, certainty = _svg_over(strip, step), f"{step.probability:.2f}"
        drawn.append(_svg_panel(strip, index, key, step.label, step.spoken, over, certainty))
    return "".join(drawn) + _svg_caption(strip)


def pictured(candidate: Candidate) -> list[str]:
    """Name the sources that are pictures."""
    return [name for name, one in candidate.alignment.items() if is_pictured(one)]


def _scores(candidate: Candidate) -> str:
    return f"score {number(candidate.score)}, log p {number(candidate.log_prob)}"


def _ground(rows: int, columns: int) -> Pixels:
    return np.full((rows * _GROUND_CELL, columns * _GROUND_CELL, 3), channels(LIGHT.ramp[2]), np.uint8)


def _cells(weights: FloatArray) -> list[Outline]:
    """Frames around the cells that were looked at; several if heads differ."""
    rows, columns = weights.shape
    places = np.argwhere(weights > 0.5 * weights.max(initial=0.0)).tolist()
    return [Outline(column / columns, row / rows, 1 / columns, 1 / rows, False) for row, column in places]


def _svg_image(strip: Strip, uri: str, key: str = "") -> str:
    width, height = strip.panel
    named = f' id="{key}"' if key else ""
    return f'<image{named} width="{width:g}" height="{height:g}" preserveAspectRatio="none" href="{uri}"/>'


def _svg_panel(strip: Strip, index: int, key: str, word: Label, spoken: str, over: str = "", certainty: str = "") -> str:
    """One picture with what lies over it, and its word and probability below."""
    x, y = strip.place(index)
    width, height = strip.panel
    below = label_text(word, width / 2, height + 17, size=strip.label_size(word), anchor="middle")
    if certainty:
        below += text_line(width / 2, height + 31, certainty, "quiet num", size=PROBABILITY_SIZE, anchor="middle")
    title = f"<title>{escape(clean(spoken))}</title>"
    return f'<g class="step" transform="translate({x:g} {y:g})">{title}<use href="#{key}"/>{over}{below}</g>'


def _svg_over(strip: Strip, step: PictureStep) -> str:
    mask = _svg_image(strip, data_uri(mask_png(step.weights, as_blocks=strip.hard)))
    return mask + "".join(_svg_outline(one, *strip.panel) for one in step.outlines)


def _svg_outline(one: Outline, width: float, height: float) -> str:
    """A bright line on a dark one, so that it shows on any picture."""
    sides = {"x": one.left * width, "y": one.top * height, "width": one.width * width, "height": one.height * height}
    place = " ".join(f'{side}="{value:.1f}"' for side, value in sides.items())
    kind = "outline named" if one.named else "outline"
    return f'<rect class="casing" {place} stroke-width="3.2" opacity=".65"/><rect class="{kind}" {place} stroke-width="1.4"/>'


def _svg_caption(strip: Strip) -> str:
    y, rtl = strip.caption_top, starts_right_to_left(strip.text)
    lines = (
        text_line(0, y + index * CAPTION_LINE, line, "ink bold", size=CAPTION_SIZE, rtl=rtl)
        for index, line in enumerate(strip.caption)
    )
    return "".join(lines) + text_line(strip.width, y, strip.scores, "quiet num", size=PROBABILITY_SIZE, anchor="end")
