"""The part of a map that shows attention over a picture: the large picture, and a strip with a small one for each symbol.

The strip is markup, so it can be read without the script, which makes it the way to choose a word.
"""

from typing import Any

from seqloom.results.predictions import Alignment, Candidate
from seqloom.views.drawing.page import text
from seqloom.views.drawing.pixels import data_uri
from seqloom.views.drawing.theme import GLOW, VEIL, channels
from seqloom.views.maps.exhibits import Picture
from seqloom.views.maps.overlays import (
    GLOW_STRENGTH,
    SPREAD,
    VEIL_STRENGTH,
    grid_of,
    is_hard,
    mask_png,
    spoken_place,
    weights_on_grid,
)
from seqloom.views.maps.strips import Outline, PictureStep, Strip, named_outlines
from seqloom.views.text.labels import Label, label

LIGHTING = {
    "veil": [*channels(VEIL), VEIL_STRENGTH],
    "glow": [*channels(GLOW), GLOW_STRENGTH],
    "spread": SPREAD,
}
"""What the script needs to light a picture as Python does."""


def look(strip: Strip, *, compact: bool, scripted: bool = False) -> str:
    """Make the look at one picture. compact: the strip alone, with the picture as its first part.

    scripted: without the steps, which the script draws.
    """
    height, width = strip.pixels.shape[:2]
    small = [_small_picture(strip)] if compact else []
    still = [] if scripted else [_small_step(step, as_blocks=strip.hard) for step in strip.steps]
    steps = "".join([*small, *still])
    kind = "look compact" if compact else "look"
    return (
        f'<div class="{kind}" data-name="{text(strip.name)}"'
        f' style="--picture:url({strip.picture_uri});--ratio:{width}/{height}">'
        f"{'' if compact else _view(strip)}"
        f'<div class="side"><div class="tools"></div><ol class="strip">{steps}</ol>'
        f'<p class="notes">{text("; ".join(strip.notes))}</p></div></div>'
    )


def look_data(candidate: Candidate, alignment: Alignment, picture: Picture | None) -> dict[str, Any]:
    """What the script draws looks from, besides the weights."""
    boxes = named_outlines(picture, candidate) if picture is not None else [[] for _ in candidate.tokens]
    return {
        "grid": list(grid_of(alignment)),
        "hard": int(is_hard(alignment)),
        "boxes": [
            [[round(side, 4) for side in (one.left, one.top, one.width, one.height)] for one in found] for found in boxes
        ],
        "places": [spoken_place(one) for one in weights_on_grid(alignment)],
        "columns": [],
        "segments": [],
    }


def _sides(one: Outline) -> list[float]:
    return [round(side, 4) for side in (one.left, one.top, one.width, one.height)]


def _view(strip: Strip) -> str:
    spoken = text(f"{strip.name}, as the model saw it")
    return f'<div class="view"><div class="picture" role="img" aria-label="{spoken}"></div><p class="status"></p></div>'


def _small_picture(strip: Strip) -> str:
    return f'<li class="plain"><span class="picture"></span>{_word(label(strip.name, mark=True))}</li>'


def _small_step(step: PictureStep, *, as_blocks: bool) -> str:
    mask = data_uri(mask_png(step.weights, as_blocks=as_blocks))
    outlines = "".join(_outline(one) for one in step.outlines)
    return (
        f'<li><span class="picture"><img class="mask" alt="{text(step.spoken)}" src="{mask}">{outlines}</span>'
        f'{_word(step.label)}<span class="num">{step.probability:.2f}</span></li>'
    )


def _word(one: Label) -> str:
    kind = "word mark" if one.mark else "word"
    return f'<bdi class="{kind}">{text(one.text)}</bdi>'


def _outline(one: Outline) -> str:
    kind = "outline named" if one.named else "outline"
    sides = {"left": one.left, "top": one.top, "width": one.width, "height": one.height}
    place = ";".join(f"{side}:{share:.2%}" for side, share in sides.items())
    return f'<i class="{kind}" style="{place}"></i>'
