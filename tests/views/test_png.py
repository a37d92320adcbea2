"""Heat maps as PNG, and the search for fonts."""

import struct
import sys
import warnings
from collections.abc import Callable, Iterator

import pytest

from seqloom.errors import MissingExtraError
from seqloom.results.predictions import Prediction
from seqloom.views import MissingFontWarning, to_png
from seqloom.views.drawing import fonts

from . import samples


@pytest.fixture
def only_default_font(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that has no font but matplotlib's own."""
    _forget()
    monkeypatch.setattr(fonts, "installed", lambda: ())
    monkeypatch.setattr(fonts, "_emoji_file", lambda: None)
    yield
    _forget()


def _forget() -> None:
    fonts._families.cache_clear()
    fonts._font_for.cache_clear()


def _size(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def _drawn(prediction: Prediction, title: str = "") -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingFontWarning)
        return to_png(prediction.best, title=title)


@pytest.mark.parametrize(
    "prediction",
    [
        samples.characters("cat", "kat"),
        samples.characters("شكرا", "शुक्रिया"),
        samples.words("תודה רבה", "நன்றி $x$"),
        samples.two_sources(),
        samples.without_attention(),
        samples.characters("e\u0301👍🏽\u200d", "日本"),
        samples.characters("", ""),
    ],
)
def test_every_prediction_becomes_a_png_of_sensible_size(prediction: Prediction) -> None:
    width, height = _size(_drawn(prediction, "A $title$ \U0010fffd"))
    assert 200 < width < 4000
    assert 200 < height < 4000


def test_long_sequences_stay_within_what_can_be_drawn() -> None:
    assert max(_size(_drawn(samples.long(300, 40)))) <= 8000


def test_latin_needs_no_font_beyond_the_default(only_default_font: None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        to_png(samples.characters("cat é", "kat").best, title="plain")


def test_a_missing_font_is_named_with_what_to_install(only_default_font: None) -> None:
    with pytest.warns(MissingFontWarning, match=r"Tamil \(ந U\+0BA8.*apt-get install fonts-noto-core"):
        to_png(samples.characters("n", "ந").best)


def test_missing_characters_are_grouped_by_script() -> None:
    message = fonts.missing_message(["ந", "日", "本", "👍"])
    assert "Tamil (ந U+0BA8); Chinese, Japanese or Korean (日 U+65E5 本 U+672C); emoji and symbols (👍 U+1F44D)" in message


def test_a_mark_and_its_letter_are_drawn_in_one_font(monkeypatch: pytest.MonkeyPatch) -> None:
    has = {"letters": {0x915}, "both": {0x915, 0x93F}}
    monkeypatch.setattr(fonts, "installed", lambda: (("Letters Devanagari", "letters"), ("Sans", "both")))
    monkeypatch.setattr(fonts, "_characters_of", lambda file: frozenset(has[file]))
    monkeypatch.setattr(fonts, "_default_characters", lambda: frozenset({0x41}))
    _forget()
    assert fonts.families("कि") == ["Sans", fonts.DEFAULT_FAMILY]
    assert fonts.families("A") == [fonts.DEFAULT_FAMILY]
    assert fonts.families("Aक") == [fonts.DEFAULT_FAMILY, "Letters Devanagari"]
    _forget()


def test_no_global_plotting_state_is_touched() -> None:
    _drawn(samples.characters("cat", "kat"))
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib_the_extra_is_named(without_library: Callable[[str], None]) -> None:
    without_library("matplotlib")
    with pytest.raises(MissingExtraError, match=r"Drawing PNG pictures needs the extra 'plot'"):
        to_png(samples.characters("cat", "kat").best)
