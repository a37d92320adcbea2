"""Colours and type, in one place for pages, SVG and PNG.

Weights run through a single-hue blue whose lightness falls evenly from 0 to 1 (and rises in the dark), so that it reads the
same for colour-blind people and in a grey print. Doubt about an output symbol is orange, the safe counterpart of blue.
"""

from dataclasses import dataclass

LEVELS = 40
"""Weights are drawn in LEVELS + 1 shades; a step is too small to see."""

VEIL = "#0d1218"
GLOW = "#ffdf9e"
SPOT = "#ffffff"
NAMED = "#ff9d45"
"""Over a picture: the veil where a model did not look and the light where it did; outlines of a single place, and of the thing
that a word names. A picture looks the same in both schemes, and so do these."""

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', sans-serif"


@dataclass(frozen=True)
class Theme:
    """The colours of one scheme. ramp: nine stops from weight 0 to weight 1, evenly spaced. groups: to tell groups apart."""

    paper: str
    ink: str
    quiet: str
    line: str
    accent: str
    doubt: str
    ramp: tuple[str, ...]
    groups: tuple[str, ...]


LIGHT = Theme(
    paper="#ffffff",
    ink="#1a2129",
    quiet="#5d6873",
    line="#dde3e9",
    accent="#2f7fc1",
    doubt="#d9730d",
    ramp=("#f3f6f9", "#d9e6f2", "#bad3e9", "#94bcdd", "#6ba2cf", "#4586bd", "#286aa5", "#154e86", "#0a3260"),
    groups=("#2f7fc1", "#d9730d", "#1b9470", "#a2509f", "#a78307", "#c6405f"),
)
DARK = Theme(
    paper="#12161b",
    ink="#e4e9ee",
    quiet="#95a1ad",
    line="#2c343d",
    accent="#4ea1e0",
    doubt="#f0984a",
    ramp=("#1b2128", "#1c344b", "#1d496f", "#225f92", "#3578b0", "#5593c7", "#7eb0d9", "#adcee9", "#e3f0f9"),
    groups=("#4ea1e0", "#f0984a", "#45c7a0", "#cf8ccd", "#dcc04f", "#f2809a"),
)


def level(weight: float) -> int:
    """Give the shade of a weight, 0 to LEVELS. Python and the page's script round alike."""
    return int(min(max(weight, 0.0), 1.0) * LEVELS + 0.5)


def shade(theme: Theme, weight: float) -> str:
    """Give the colour of a weight, between the two nearest stops."""
    place = min(max(weight, 0.0), 1.0) * (len(theme.ramp) - 1)
    lower = min(int(place), len(theme.ramp) - 2)
    low, high = channels(theme.ramp[lower]), channels(theme.ramp[lower + 1])
    mixed = (round(a + (b - a) * (place - lower)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{one:02x}" for one in mixed)


def drawing_style() -> str:
    """CSS for all SVG of the package: plain rules without variables, because many SVG viewers know no others.

    Dark colours are for screens only, so paper stays white.
    """
    base = (
        f".sl text{{font-family:{FONTS}}}.sl .num{{font-variant-numeric:tabular-nums}}"
        ".sl .bold{font-weight:600}.sl .underlined{text-decoration:underline}.sl .bar{opacity:.6}"
        f".sl .outline{{fill:none;stroke:{SPOT}}}.sl .outline.named{{stroke:{NAMED}}}.sl .casing{{fill:none;stroke:{VEIL}}}"
    )
    return base + _rules(LIGHT) + f"@media screen and (prefers-color-scheme:dark){{{_rules(DARK)}}}"


def group_style() -> str:
    """CSS of classes g0, g1 ... in the colours of groups, for drawings that have them."""
    light, dark = (
        "".join(f".sl .g{index}{{fill:{colour}}}" for index, colour in enumerate(theme.groups)) for theme in (LIGHT, DARK)
    )
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"


def style_sheet() -> str:
    """All of these for a page that loads its style from a server."""
    return page_variables() + drawing_style() + group_style()


def page_variables() -> str:
    """CSS variables of both schemes, for whatever is not SVG."""
    over_pictures = f"--spot:{SPOT};--named:{NAMED};--casing:{VEIL}a6;"
    return (
        f".seqloom{{color-scheme:light dark;--fonts:{FONTS};{over_pictures}{_variables(LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{.seqloom{{{_variables(DARK)}}}}}"
    )


def _variables(theme: Theme) -> str:
    names = ("paper", "ink", "quiet", "line", "accent", "doubt")
    panel = f"--panel:{theme.ramp[0]};--ramp:linear-gradient(to right,{','.join(theme.ramp)})"
    return "".join(f"--{name}:{getattr(theme, name)};" for name in names) + panel


def _rules(theme: Theme) -> str:
    fills = {
        "paper": theme.paper,
        "ink": theme.ink,
        "quiet": theme.quiet,
        "accent": theme.accent,
        "doubt": theme.doubt,
        "rule": theme.line,
        "panel": theme.ramp[0],
    }
    strokes = {"axis": theme.line, "line-a": theme.accent, "line-b": theme.doubt, "line-c": theme.quiet, "cursor": theme.ink}
    shades = {f"w{index}": shade(theme, index / LEVELS) for index in range(LEVELS + 1)}
    return "".join(f".sl .{name}{{fill:{colour}}}" for name, colour in (fills | shades).items()) + "".join(
        f".sl .{name}{{stroke:{colour};fill:none}}" for name, colour in strokes.items()
    )


def colour(kind: str) -> str:
    """The colour that a class of the drawing style has on paper: `ink`, `w12`, `g3` and so on."""
    if kind[1:].isdecimal():
        index = int(kind[1:])
        return shade(LIGHT, index / LEVELS) if kind[0] == "w" else LIGHT.groups[index]
    return {"rule": LIGHT.line, "panel": LIGHT.ramp[0]}.get(kind) or str(getattr(LIGHT, kind))


def channels(colour: str) -> tuple[int, int, int]:
    """Give red, green and blue of `#rrggbb`, 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
