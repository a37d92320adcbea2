"""Heat maps as SVG, and the colours they share."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from seqloom.errors import UsageError
from seqloom.results.predictions import Prediction
from seqloom.views.drawing.theme import DARK, LEVELS, LIGHT, Theme, level, shade
from seqloom.views.maps.svg import to_svg

from . import samples
from .markup import assert_self_contained

_NAMESPACE = "{http://www.w3.org/2000/svg}"


def _parsed(markup: str) -> ET.Element:
    return ET.fromstring(markup)  # noqa: S314  our own output


def _texts(markup: str) -> list[str]:
    return [one.text or "" for one in _parsed(markup).iter(f"{_NAMESPACE}text")]


def _tooltips(markup: str) -> list[str]:
    return [one.text or "" for one in _parsed(markup).iter(f"{_NAMESPACE}title")]


@pytest.mark.parametrize(
    "prediction",
    [
        samples.characters("रविवार, 15", "2026"),
        samples.characters("شكرا", "shukran"),
        samples.words("תודה רבה", "thank you"),
        samples.characters("é e\u0301👍🏽", "日本"),
        samples.two_sources(),
        samples.without_attention(),
        samples.long(),
        samples.characters("", ""),
    ],
)
def test_every_drawing_is_well_formed_and_needs_nothing_else(prediction: Prediction) -> None:
    markup = to_svg(prediction.best, title="A title")
    assert _parsed(markup).tag == f"{_NAMESPACE}svg"
    assert_self_contained(markup)


def test_labels_and_values_are_in_the_drawing() -> None:
    prediction = samples.characters("कि", "ki")
    weight = prediction.alignment["source"].mean[0, 0]
    markup = to_svg(prediction.best)
    assert {"क", "\u25cc\u093f", "k", "i", "<end>", "coverage", "probability"} <= set(_texts(markup))
    assert f"k \u2190 क  {weight:.3f}" in _tooltips(markup)


def test_foreign_text_stays_text() -> None:
    evil = "</text><script>alert(1)</script>\x00\ud800"
    markup = to_svg(samples.words(f"{evil} b", evil).best, title=evil)
    assert "<script" not in markup
    assert any("<script>alert(1)" in one for one in _texts(markup))


def test_right_to_left_labels_say_so() -> None:
    assert 'direction="rtl"' in to_svg(samples.words("תודה רבה", "x").best)
    assert 'direction="rtl"' not in to_svg(samples.words("thank you", "x").best)


def test_words_lean_and_characters_stand_upright() -> None:
    assert "rotate(-50)" in to_svg(samples.words("thank you all", "merci").best)
    assert to_svg(samples.characters("cat", "kat").best).count("rotate(") == 1  # only the source's <end>


def test_all_sources_are_drawn_unless_one_is_chosen() -> None:
    best = samples.two_sources().best
    assert {"spelling \u2192", "gloss \u2192"} <= set(_texts(to_svg(best)))
    assert "spelling \u2192" not in _texts(to_svg(best, source="gloss"))


def test_an_unknown_source_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"named 'x'\. Sources with attention: gloss, spelling"):
        to_svg(samples.two_sources().best, source="x")


def test_a_head_can_be_chosen_and_must_exist() -> None:
    best = samples.characters("cat", "kat", heads=2).best
    assert to_svg(best, head=0) != to_svg(best, head=1) != to_svg(best)
    with pytest.raises(UsageError, match="no attention head 2: heads run from 0 to 1"):
        to_svg(best, head=2)


def test_a_model_without_attention_is_said_to_have_none() -> None:
    assert "This model has no attention; only probabilities can be shown." in _texts(to_svg(samples.without_attention().best))


def test_what_is_not_a_number_is_drawn_as_nothing() -> None:
    best = samples.characters("cat", "kat").best
    broken = replace(best.alignment["source"], weights=np.full((1, 4, 4), np.nan, dtype=np.float32))
    markup = to_svg(replace(best, alignment={"source": broken}, log_probs=(float("nan"),) * 4))
    assert "nan" not in markup


def _lightness(colour: str) -> float:
    channels = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return float(116 * np.cbrt(luminance) - 16)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_lightness_changes_evenly_with_the_weight(theme: Theme) -> None:
    steps = np.diff([_lightness(shade(theme, index / 8)) for index in range(9)])
    assert np.all(steps < 0) or np.all(steps > 0)
    assert np.abs(steps).max() < 2.2 * np.abs(steps).min()


def test_shades_reach_both_ends() -> None:
    assert (level(0.0), level(1.0), level(1.5), level(-1.0)) == (0, LEVELS, LEVELS, 0)
    assert (shade(LIGHT, 0.0), shade(LIGHT, 1.0)) == (LIGHT.ramp[0], LIGHT.ramp[-1])
