"""The few shapes that SVG drawings are made of. Text stays text, so whatever shows the file shapes every script by itself."""

from html import escape

from seqloom.views.drawing.theme import drawing_style
from seqloom.views.text.labels import Label, clean


def document(width: float, height: float, body: str, *, description: str, style: str = "") -> str:
    """Make a whole SVG file on a ground of paper."""
    background = rectangle(0, 0, width, height, "paper")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sl" role="img" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}"><title>{escape(clean(description))}</title>'
        f"<style>{drawing_style()}{style}</style>{background}{body}</svg>\n"
    )


def text_line(x: float, y: float, text: str, kind: str, *, size: float, anchor: str = "start", rtl: bool = False) -> str:
    """Draw a line of text. In a right-to-left text `start` is its right end, so the anchors change places."""
    if rtl and anchor != "middle":
        anchor = "start" if anchor == "end" else "end"
    direction = ' direction="rtl" unicode-bidi="isolate"' if rtl else ""
    return (
        f'<text x="{x:g}" y="{y:g}" class="{kind}" font-size="{size:g}" text-anchor="{anchor}"{direction}>{escape(text)}</text>'
    )


def rectangle(x: float, y: float, width: float, height: float, kind: str, *, tooltip: str = "", opacity: float = 1.0) -> str:
    """Draw a rectangle of the theme's class."""
    faint = f' opacity="{opacity:.2g}"' if opacity < 1 else ""
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"{faint}'
    return f"{shape}><title>{escape(tooltip)}</title></rect>" if tooltip else f"{shape}/>"


def label_text(one: Label, x: float, y: float, *, size: float, anchor: str) -> str:
    """Draw a symbol's label; marks more quietly, unknown ones underlined, since an emoji has a colour of its own."""
    kind = "doubt underlined" if one.unknown else one.kind
    return text_line(x, y, one.text, kind, size=size, anchor=anchor, rtl=one.rtl)
