"""Finding installed fonts for any script, for pictures that must bring their own letters.

A label is drawn in one font that has all of its characters if there is one: a mark and the letter or dotted circle under it
only join within a font. Only when no single font will do are several lined up for it.
"""

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.errors import MissingExtraError

DEFAULT_FAMILY = "DejaVu Sans"
"""It comes with matplotlib, so it is always there."""

_CJK = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "FULLWIDTH")
_PLACEHOLDER = "Last Resort"  # comes with matplotlib; has a box for every character and a letter for none
_EMOJI_SIZE = 109  # the one size that Noto Color Emoji has

Font = tuple[str, str]
"""Family name and file."""


class MissingFontWarning(UserWarning):
    """A picture was drawn with empty boxes, because no installed font has some of its characters."""


def families(text: str) -> list[str]:
    """Font families that together draw the text as far as any can: one if possible, the default last."""
    return list(_families("".join(sorted(_needing_font(text)))))


def missing_characters(texts: Iterable[str]) -> list[str]:
    """List the characters of the texts that no installed font has, sorted."""
    wanted = {character for text in texts for character in _needing_font(text)}
    return sorted(character for character in wanted if _font_for(character) is None)


def missing_message(characters: Iterable[str]) -> str:
    """Tell a person what is missing: which scripts and characters, and what to install."""
    by_script: dict[str, list[str]] = {}
    for character in characters:
        by_script.setdefault(script(character), []).append(character)
    named = "; ".join(f"{name} ({_listed(found)})" for name, found in by_script.items())
    return (
        f"No installed font has some characters of this picture: {named}. They are drawn as boxes. "
        "Install a font for them (Debian and Ubuntu: apt-get install fonts-noto-core, for Chinese, Japanese and Korean "
        "fonts-noto-cjk, for emoji fonts-noto-color-emoji fonts-symbola), "
        "or write HTML or SVG, where the viewer finds the fonts."
    )


def script(character: str) -> str:
    """Name the script, roughly: the first word of the character's Unicode name."""
    first = unicodedata.name(character, "").split(" ")[0]
    if first.startswith(_CJK):
        return "Chinese, Japanese or Korean"
    if unicodedata.category(character) == "So":
        return "emoji and symbols"
    return first.capitalize() or "unnamed characters"


def colour_emoji(text: str) -> npt.NDArray[np.uint8] | None:
    """Draw the text as a small picture from a colour emoji font; None if it is no emoji or no such font is installed.

    matplotlib draws outlines only, and emoji fonts hold pictures; Pillow, which comes with matplotlib, can read those.
    """
    font_file = _emoji_file()
    base = [character for character in _needing_font(text) if not unicodedata.category(character).startswith("M")]
    if font_file is None or not base or not all(ord(one) in _characters_of(font_file) and ord(one) > 0x2000 for one in base):
        return None
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(font_file, _EMOJI_SIZE)
    left, top, right, bottom = font.getbbox(text)
    canvas = Image.new("RGBA", (max(int(right - left), 1), max(int(bottom - top), 1)))
    ImageDraw.Draw(canvas).text((-left, -top), text, font=font, embedded_color=True)
    return np.asarray(canvas)


@lru_cache(maxsize=4096)
def _families(characters: str) -> tuple[str, ...]:
    wanted = {ord(one) for one in characters}
    singles = [DEFAULT_FAMILY] if wanted <= _default_characters() else []
    for character in characters:
        if singles:
            break
        singles = [name for name, file in _ranked(character) if wanted <= _characters_of(file)][:1]
    if singles:
        return tuple(dict.fromkeys([*singles, DEFAULT_FAMILY]))
    found = [_font_for(character) for character in characters]
    return tuple(dict.fromkeys([DEFAULT_FAMILY, *(one[0] for one in found if one is not None)]))


@lru_cache(maxsize=65536)
def _font_for(character: str) -> Font | None:
    """Find a font that has the character. Fonts named after its script are asked first, so few files are opened."""
    if ord(character) in _default_characters():
        return DEFAULT_FAMILY, ""
    return next((font for font in _ranked(character) if ord(character) in _characters_of(font[1])), None)


def _ranked(character: str) -> list[Font]:
    name = script(character)
    word = "CJK" if name.startswith("Chinese") else name
    return sorted(installed(), key=lambda font: (word not in font[0], "Noto Sans" not in font[0], font[0]))


def _needing_font(text: str) -> set[str]:
    """Characters that leave ink. Joiners and variation selectors do not, and most fonts leave them out."""
    return {one for one in text if unicodedata.category(one) not in ("Cf", "Zs", "Cc") and not "\ufe00" <= one <= "\ufe0f"}


def _listed(characters: list[str], most: int = 8) -> str:
    shown = " ".join(f"{one} U+{ord(one):04X}" for one in characters[:most])
    return shown if len(characters) <= most else f"{shown} and {len(characters) - most} more"


@cache
def installed() -> tuple[Font, ...]:
    """Upright fonts of normal weight, also those installed after matplotlib made its own list."""
    manager = _font_manager().fontManager
    known = {Path(entry.fname) for entry in manager.ttflist}
    for file in _font_manager().findSystemFonts():
        if Path(file) not in known and "coloremoji" not in file.lower():
            _add(manager, file)
    usable = (entry for entry in manager.ttflist if entry.style == "normal" and _plain(entry.weight))
    return tuple((entry.name, entry.fname) for entry in usable if not entry.name.startswith(_PLACEHOLDER))


def _add(manager: Any, file: str) -> None:
    """Add a font. One that cannot be read, or has pictures instead of outlines, is no help and no reason to stop."""
    try:
        manager.addfont(file)
    except (OSError, RuntimeError, NotImplementedError):
        return


def _plain(weight: int | str) -> bool:
    return weight in ("normal", "regular", "book", "medium") or (isinstance(weight, int) and 380 <= weight <= 500)


@cache
def _emoji_file() -> str | None:
    files = sorted(_font_manager().findSystemFonts())
    return next((file for file in files if "coloremoji" in Path(file).name.lower()), None)


@cache
def _default_characters() -> frozenset[int]:
    return _characters_of(_font_manager().findfont(DEFAULT_FAMILY))


@cache
def _characters_of(file: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(file).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def _font_manager() -> Any:
    try:
        from matplotlib import font_manager
    except ImportError:
        raise MissingExtraError("Drawing PNG pictures", "plot") from None
    return font_manager
