"""A page that runs a model in the browser: what is typed, what the model writes, and where it looked. It needs nothing else."""

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqloom.views.drawing.page import embedded, headline, page, text
from seqloom.views.drawing.theme import LEVELS
from seqloom.views.maps.heatmap import NO_ATTENTION, SCALE, STYLES
from seqloom.views.maps.svg import UNKNOWN_NOTE

SCRIPTS = (
    "elements.js",
    "grid.js",
    "look.js",
    "map.js",
    "tokenisation.js",
    "decoding.js",
    "arranging.js",
    "web.js",
)
_WIDTHS = {1: "greedy", 3: "beam of 3", 5: "beam of 5"}
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "connect-src data: blob:; base-uri 'none'; form-action 'none'"
)
"""The browser is told to ask nobody for anything."""


@dataclass(frozen=True)
class WebModel:
    """A model for a page. facts: what the page's script has to know of it; files: graphs and runtime by name.

    features: those that may be given with a text. sample: a text to begin with. width: that of the search at first.
    about: sentences below it all.
    """

    title: str
    facts: Mapping[str, Any]
    files: Mapping[str, bytes]
    features: Sequence[str] = ()
    sample: str = ""
    width: int = 1
    about: str = ""


def web_page(model: WebModel) -> str:
    """The page, as one HTML file."""
    facts = {
        **model.facts,
        "drawing": {"scale": SCALE, "levels": LEVELS},
        "note": NO_ATTENTION,
        "unknown": UNKNOWN_NOTE,
    }
    body = (
        f'<main class="seqloom-web">{headline(model.title)}{_form(model)}<p class="state" role="status"></p>'
        f'<div class="result"></div><footer>{text(model.about)}</footer>{embedded(facts)}</main>'
        f"{''.join(_carried(name, content) for name, content in model.files.items())}"
    )
    return page(model.title, body, styles=(*STYLES, "web.css"), scripts=SCRIPTS, policy=_POLICY)


def _form(model: WebModel) -> str:
    offered = sorted({*_WIDTHS, model.width})
    widths = "".join(
        f'<option value="{one}"{" selected" if one == model.width else ""}>{_WIDTHS.get(one, f"beam of {one}")}</option>'
        for one in offered
    )
    features = "".join(f'<option value="{text(one)}">{text(one)}</option>' for one in model.features)
    feature = (
        f'<label>feature<select name="feature"><option value="">none</option>{features}</select></label>' if features else ""
    )
    return (
        f'<form><textarea name="text" rows="2" dir="auto" autocomplete="off" spellcheck="false" aria-label="Text to read">'
        f"{text(model.sample)}</textarea>"
        f'<div class="choices"><label>search<select name="width">{widths}</select></label>{feature}</div>'
        '<button type="submit">Write</button></form>'
    )


def _carried(name: str, content: bytes) -> str:
    """A file inside the page, packed. The same content gives the same page: no time is written into it."""
    packed = base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()
    return f'<script type="text/plain" data-file="{name}">{packed}</script>'
