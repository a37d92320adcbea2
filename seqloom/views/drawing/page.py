"""The shell of a page: one file that needs nothing else, and text that can do no harm in it."""

import json
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
from typing import Any

from seqloom.views.drawing.theme import drawing_style, page_variables
from seqloom.views.text.labels import clean, starts_right_to_left

_MODULE_LINE = re.compile(r"^(import .*\n|export )", re.MULTILINE)
"""What makes a module of a script, as `assets` write it: imports on a line each, exports before what they offer."""


def page(title: str, body: str, *, styles: Sequence[str] = (), scripts: Sequence[str] = (), policy: str = "") -> str:
    """Make a whole HTML document. styles and scripts name files in `assets`; body is trusted markup.

    policy: what the browser may load and run for it, in words of Content-Security-Policy.
    """
    css = page_variables() + drawing_style() + "".join(asset(name) for name in ("page.css", *styles))
    code = f"<script>{script(scripts)}</script>" if scripts else ""
    rules = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
    return (
        f'<!doctype html>\n<html lang="en" class="seqloom"><head><meta charset="utf-8">{rules}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{text(title)}</title><style>{css}</style></head>\n<body class="page">{body}{code}</body></html>\n'
    )


def sheet(title: str, *parts: str, styles: Sequence[str] = (), scripts: Sequence[str] = ()) -> str:
    """A page of a header and sections below each other, which are trusted markup."""
    body = f'<main class="report">{"".join(parts)}</main>'
    return page(title, body, styles=(*styles, "report.css"), scripts=scripts)


def header(
    title: str, summary: str = "", *, notes: Sequence[str] = (), facts: Sequence[tuple[str, str]] = (), links: str = ""
) -> str:
    """The top of a sheet: title, a sentence, notes, facts as label and value; links are trusted markup."""
    sentence = f'<p class="summary" dir="auto">{text(summary)}</p>' if summary else ""
    remarks = "".join(f'<p class="remark" dir="auto">{text(note)}</p>' for note in notes)
    values = "".join(f'<div><dt>{text(label)}</dt><dd dir="auto">{text(value)}</dd></div>' for label, value in facts)
    listed = f'<dl class="facts">{values}</dl>' if values else ""
    return f"<header>{headline(title)}{sentence}{remarks}{listed}{links}</header>"


def section(title: str, content: str, *, name: str = "") -> str:
    """A part of a sheet, below its heading if it has one; nothing if there is nothing in it. name: what links call it."""
    if not content:
        return ""
    heading = f"<h2>{text(title)}</h2>" if title else ""
    return f"<section{f' id={name!r}' if name else ''}>{heading}{content}</section>"


def wide(content: str) -> str:
    """What may be wider than the page, and is then scrolled by itself."""
    return f'<div class="wide">{content}</div>'


def wide_table(head: str, rows: str, kind: str = "") -> str:
    """A table of the given cells of its head, and rows."""
    named = f' class="{kind}"' if kind else ""
    return wide(f"<table{named}><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")


def text(value: str) -> str:
    """Foreign text as HTML, safe between tags and in quoted attributes."""
    return escape(clean(value), quote=True)


def headline(title: str) -> str:
    """The title of a page. Its direction is that of its first letter, unless that is part of an isolated text.

    `dir="auto"` would look into isolated texts, and turn the arrow between a source and its output around.
    """
    return f'<h1 dir="{"rtl" if starts_right_to_left(title) else "ltr"}">{text(title)}</h1>'


def foreign(value: str, kind: str = "", tag: str = "span") -> str:
    """Foreign text in an element of its own, whose direction follows its script."""
    attribute = f' class="{kind}"' if kind else ""
    return f'<{tag}{attribute} dir="auto">{text(value)}</{tag}>'


def number(value: float, digits: int = 3) -> str:
    """Write a number for people, with a true minus sign; what rounds to zero has none."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "\u2212")


def embedded(data: Any) -> str:
    """Put data as JSON inside a script element that no text in it can close."""
    written = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json">{written}</script>'


def script(names: Sequence[str]) -> str:
    """Modules of `assets` as one classic script, which works in a file that is opened as it is: those imported stand first."""
    code = "".join(_MODULE_LINE.sub("", asset(name)) for name in names)
    return f'(() => {{\n"use strict";\n{code}}})();\n'


@cache
def asset(name: str) -> str:
    """Read a style sheet or script of this package."""
    return resources.files("seqloom.views").joinpath("assets", name).read_text(encoding="utf-8")
