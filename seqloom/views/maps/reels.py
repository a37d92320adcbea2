"""The film strip of an output about a film: its frames side by side, and once per symbol with the attention over them.

Planned once for SVG, PNG and pages. A word's brightest place always has full light, as in strips of pictures; frames at which
it did not look lie in the dark. Of a long film, as many frames are shown as fit, each standing for those up to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from seqloom.results.layouts import Film, Frames
from seqloom.results.predictions import Alignment, Candidate, FloatArray
from seqloom.views.drawing.page import text
from seqloom.views.drawing.pixels import Pixels, data_uri, rgb_png, shrunk
from seqloom.views.drawing.shapes import label_text, text_line
from seqloom.views.maps.chosen import chosen_weights, probability
from seqloom.views.maps.exhibits import Exhibit
from seqloom.views.maps.layout import row_labels
from seqloom.views.maps.overlays import composed, light, lights_png, smooth
from seqloom.views.text.labels import Label, clean, estimated_width, label

GAP, HEAD = 3.0, 16.0
_WIDTH = 900.0
_MOST = 14
"""So many frames stand beside each other at most."""
_LARGEST = 96.0
_LONGEST_SIDE = 160
_MASK = 24
"""How finely light is drawn over a frame in a page."""
_LABEL, _NUMBER = 14.0, 10.5


@dataclass(frozen=True)
class ReelStep:
    """One symbol of the output: how much light falls on each frame that is shown, [shown, height, width]."""

    label: Label
    probability: float
    weights: FloatArray
    """Over all frames and their places, [frames, rows, columns]."""

    @property
    def spoken(self) -> str:
        """Say in words what the row shows."""
        over = self.weights.sum(axis=(1, 2))
        frame = int(over.argmax())
        return f"{self.label.full}: probability {self.probability:.3f}, looks most at frame {frame + 1} ({over[frame]:.2f})"


@dataclass(frozen=True)
class Reel:
    """All that a film strip shows. frames: of the film as the model saw it, [frames, height, width, 3]."""

    source: str
    frames: Pixels
    steps: Sequence[ReelStep]

    @property
    def name(self) -> str:
        """Of the source, as it is shown."""
        return clean(self.source)

    @cached_property
    def starts(self) -> list[int]:
        """The frames at which the parts begin that are shown as one frame each."""
        count = min(len(self.frames), _MOST)
        return [round(one * len(self.frames) / count) for one in range(count)]

    @cached_property
    def margin(self) -> float:
        """Room for words, and for the name of the source."""
        labels = [label(self.name, mark=True), *(one.label for one in self.steps)]
        return max(estimated_width(one.text) for one in labels) * _LABEL + 14

    @cached_property
    def panel(self) -> tuple[float, float]:
        """Width and height of one frame."""
        height, width = self.frames.shape[1:3]
        wide = min((_WIDTH - self.margin - 40) / len(self.starts) - GAP, _LARGEST, _LARGEST * width / height)
        return round(wide), round(wide * height / width)

    @property
    def width(self) -> float:
        """Of the whole strip."""
        return self.margin + len(self.starts) * (self.panel[0] + GAP) + 40

    @property
    def height(self) -> float:
        """Of the whole strip."""
        return HEAD + (len(self.steps) + 1) * (self.panel[1] + GAP)

    def place(self, row: int, column: int) -> tuple[float, float]:
        """The upper left corner of a frame; row 0 is the film itself."""
        return self.margin + column * (self.panel[0] + GAP), HEAD + row * (self.panel[1] + GAP)

    def lit(self, step: ReelStep) -> list[Pixels]:
        """The frames that are shown as light falls on them at a step."""
        height, width = self.frames.shape[1:3]
        ends = [*self.starts[1:], len(self.frames)]
        parts = np.stack([step.weights[start:end].max(axis=0) for start, end in zip(self.starts, ends, strict=True)])
        lights = light(np.stack([smooth(one, height, width) for one in parts]))
        return [composed(self.frames[frame], one) for frame, one in zip(self.starts, lights, strict=True)]

    @property
    def notes(self) -> list[str]:
        """How the strip is to be read."""
        return ["light: when and where the model looked while it wrote the word", "number: probability of the word"]


def plan_reels(exhibit: Exhibit, head: int | None = None) -> list[Reel]:
    """The film strips of an exhibit's best output, one for each source that is a film and can be shown."""
    best = exhibit.prediction.best
    return [
        _reel(best, name, best.alignment[name], frames, head)
        for name, frames in exhibit.films.items()
        if name in best.alignment and len(frames)
    ]


def without_reels(candidate: Candidate, reels: Sequence[Reel]) -> Candidate | None:
    """What is left of a candidate to draw beside its film strips; None if there is nothing."""
    shown = {reel.source for reel in reels}
    left = {name: one for name, one in candidate.alignment.items() if name not in shown}
    return replace(candidate, alignment=left) if left or not reels else None


def _reel(candidate: Candidate, name: str, alignment: Alignment, frames: Pixels, head: int | None) -> Reel:
    rows, columns, stride = 1, 1, 1
    match alignment.layout:
        case Film(rows, columns):
            pass
        case Frames(stride):
            pass
    weights = chosen_weights(alignment, head).reshape(len(candidate.tokens), -1, rows, columns)
    seen = np.stack([shrunk(frame, _LONGEST_SIDE) for frame in frames[::stride]])
    steps = [
        ReelStep(one, probability(log_prob), over[: len(seen)])
        for one, log_prob, over in zip(row_labels(candidate), candidate.log_probs, weights, strict=True)
    ]
    return Reel(name, seen, steps)


def reel_svg(reel: Reel) -> str:
    """Draw the strip."""
    parts = [_svg_row(reel, 0, label(reel.name, mark=True), [reel.frames[one] for one in reel.starts], "")]
    parts += [
        text_line(reel.place(0, index)[0] + reel.panel[0] / 2, HEAD - 5, str(frame + 1), "quiet num", size=10, anchor="middle")
        for index, frame in enumerate(reel.starts)
    ]
    for row, step in enumerate(reel.steps, start=1):
        parts.append(_svg_row(reel, row, step.label, reel.lit(step), f"{step.probability:.2f}"))
    return "".join(parts)


def _svg_row(reel: Reel, row: int, word: Label, frames: Sequence[Pixels], certainty: str) -> str:
    """A row as one picture, with its word before it and its probability behind."""
    (x, y), (width, height) = reel.place(row, 0), reel.panel
    middle, along = y + height / 2 + 4, len(frames) * (width + GAP)
    pictures = "".join(
        f'<image x="{x + index * (width + GAP):g}" y="{y:g}" width="{width:g}" height="{height:g}" preserveAspectRatio="none"'
        f' href="{data_uri(rgb_png(one))}"/>'
        for index, one in enumerate(frames)
    )
    named = label_text(word, x - 8, middle, size=_LABEL, anchor="end")
    return named + pictures + text_line(x + along + 4, middle, certainty, "quiet num", size=_NUMBER)


def reel_markup(reel: Reel) -> str:
    """The strip in a page: a screen on which the film runs, and a row for each word, which the script makes buttons."""
    height, width = reel.frames.shape[1:3]
    sheet = data_uri(rgb_png(reel.frames.reshape(-1, width, 3)))
    shown = text(f"{reel.name}, as the model saw it")
    film = _row(label(reel.name, mark=True), np.concatenate([reel.frames[one] for one in reel.starts], axis=1), "", "")
    rows = "".join(
        _row(step.label, np.concatenate(reel.lit(step), axis=1), f"{step.probability:.2f}", step.spoken) for step in reel.steps
    )
    return (
        f'<div class="reel" data-frames="{len(reel.frames)}"'
        f' style="--film:url({sheet});--ratio:{width}/{height};--frames:{len(reel.frames)}">'
        f'<div class="screen"><div class="picture" role="img" aria-label="{shown}"></div><p class="status"></p></div>'
        f'<div class="side"><div class="tools"></div><ol class="rows">{film}{rows}</ol>'
        f'<p class="notes">{text("; ".join(reel.notes))}</p></div></div>'
    )


def _row(word: Label, frames: Pixels, certainty: str, spoken: str) -> str:
    kind = "word mark" if word.mark else "word"
    return (
        f'<li><bdi class="{kind}">{text(word.text)}</bdi><img alt="{text(spoken)}" src="{data_uri(rgb_png(frames))}"/>'
        f'<span class="num">{certainty}</span></li>'
    )


def reel_data(reel: Reel) -> dict[str, Any]:
    """What the script needs beside the markup: the light of each word over the whole film, and how it is shared out."""
    return {
        "masks": [f"url({data_uri(_mask(step.weights))})" for step in reel.steps],
        "shares": [np.round(step.weights.sum(axis=(1, 2)).astype(np.float64), 4).tolist() for step in reel.steps],
    }


def _mask(weights: FloatArray) -> bytes:
    """The light of a word, one frame below the other."""
    rows, columns = weights.shape[1:]
    finer = max(1, _MASK // max(rows, columns))
    lights = light(np.concatenate([smooth(one, rows * finer, columns * finer) for one in weights]))
    return lights_png(lights)
