"""Pages of a language model: surprise, next symbols, hidden units."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from seqloom.errors import UsageError
from seqloom.results.language import Activations, Line, Reading, ScoredText, Summary, Unit
from seqloom.views.drawing.sketch import Symbol
from seqloom.views.language.files import write_next_symbols, write_surprise, write_units
from seqloom.views.language.next_symbols import next_symbols_page
from seqloom.views.language.shading import Shade, shaded
from seqloom.views.language.sketches import surprise_sketch
from seqloom.views.language.surprise import surprise_page
from seqloom.views.language.units import units_page

from .markup import Page, assert_self_contained

EVIL = "</script><img src=x onerror=alert(1)>"


def line(text: str, *, unknown: str = "") -> Line:
    """A line of characters and `end`."""
    symbols = (*("<unknown>" if one in unknown else one for one in text), "<end>")
    spans = (*((index, index + 1) for index in range(len(text))), (len(text), len(text)))
    return Line(text, symbols, spans, (*(one in unknown for one in text), False))


def reading(text: str, number: int = 1, *, unknown: str = "", level: float = -1.0) -> Reading:
    one = line(text, unknown=unknown)
    count = len(one.symbols)
    return Reading(
        number=number,
        line=one,
        log_probs=np.full(count, level, np.float32),
        ranks=np.arange(1, count + 1),
        entropies=np.full(count, 2.5, np.float32),
        alternatives=((("a", -0.5), (EVIL, -1.0), ("<end>", -2.0)),) * count,
        choices=64,
    )


SUMMARY = Summary(lines=2, symbols=20, characters=20, unknown=1, log_prob=-20.0)


def whole(symbols: object) -> Shade:
    return Shade(1.0)


def test_pages_are_well_formed_and_need_nothing_else() -> None:
    readings = [reading("the cat"), reading(f"व {EVIL}", 2, unknown="v")]
    unit = Unit(2, 17, 0.5, tuple(np.linspace(-1, 1, len(one.line.symbols), dtype=np.float32) for one in readings))
    activations = Activations(tuple(one.line for one in readings), (unit,))
    for markup, scripts in [
        (surprise_page(readings, SUMMARY, EVIL), 2),
        (next_symbols_page(readings, SUMMARY, EVIL), 3),
        (units_page(activations, EVIL), 0),
    ]:
        page = Page(markup)
        assert_self_contained(markup)
        assert page.count("img") == 0
        assert len(page.scripts) == scripts
        assert EVIL in page.text


def test_the_text_is_whole_whatever_its_symbols() -> None:
    for text in ["the cat", "क्षत्रिय घर", "مرحبا بك", "今日は😀 x", "", "  two  spaces "]:
        assert Page(shaded(line(text), whole)).text == text + "\u21b5"


def test_words_leave_the_spaces_between_them_unshaded() -> None:
    one = Line("the cat.", ("the", "cat", "."), ((0, 3), (4, 7), (7, 8)), (False,) * 3)
    assert '>the</i> <i data-s="1"' in shaded(one, whole)


def test_symbols_that_share_a_shape_share_a_box() -> None:
    markup = shaded(line("क्ष"), whole)
    assert 'data-s="0,1,2"' in markup
    assert markup.count("<i") == 2


def test_the_more_surprising_the_deeper_the_shade_up_to_a_blind_guess() -> None:
    shades = []
    for bits in (0.0, 3.0, 6.0, 12.0):
        markup = surprise_page([reading("a", level=-bits * np.log(2))], SUMMARY, "x")
        shades.append(markup.split('data-s="0" style="--v:')[1][:4])
    assert shades == ["0.00", "0.50", "1.00", "1.00"]


def test_unknown_symbols_look_unknown() -> None:
    markup = next_symbols_page([reading("aXb", unknown="X")], SUMMARY, "x")
    assert '<i class="unknown" data-s="1"' in markup
    assert 'class="symbol unknown" dir="auto">X<' in markup
    assert "unknown symbols" in Page(markup).text


def test_lines_come_by_their_surprise() -> None:
    readings = [reading("calm", 1, level=-0.1), reading("wild", 2, level=-4.0)]
    markup = surprise_page(readings, SUMMARY, "x")
    assert markup.index('data-number="2"') < markup.index('data-number="1"')
    data = Page(markup).data()
    assert [data["symbols"][one] for one in data["lines"][0]["s"][:4]] == list("wild")
    assert data["lines"][0]["p"][0] == pytest.approx(np.exp(-4), rel=0.01)


def test_lines_that_were_left_out_are_mentioned() -> None:
    assert "The 1 most surprising of 2 lines" in Page(surprise_page([reading("a")], SUMMARY, "x")).text
    assert "most surprising of" not in Page(surprise_page([reading("a"), reading("b", 2)], SUMMARY, "x")).text


def test_the_true_symbol_stands_out_among_what_was_expected() -> None:
    page = Page(next_symbols_page([reading("ab")], SUMMARY, "x"))
    assert page.count("td", kind="alternative own") == 2  # `a` at its place, and `end`
    assert page.count("td", kind="alternative") == 7


def test_a_unit_is_shaded_in_two_colours() -> None:
    unit = Unit(1, 3, 0.25, (np.asarray([0.5, -0.75], np.float32),))
    one = Line("ab", ("a", "b"), ((0, 1), (1, 2)), (False, False))
    markup = units_page(Activations((one,), (unit,)), "x")
    assert '<i data-s="0" style="--v:0.50" title="0.50">a</i>' in markup
    assert '<i class="low" data-s="1" style="--v:0.75" title="\u22120.75">b</i>' in markup
    assert "layer 1, unit 3" in markup


def test_the_ending_says_the_form(tmp_path: Path) -> None:
    readings = [reading("the cat")]
    for write in (write_surprise, write_next_symbols):
        write(readings, SUMMARY, tmp_path / "x.json", title="x")
        body = json.loads((tmp_path / "x.json").read_text())
        assert body["version"] == 1
        assert body["lines"][0]["symbols"][0]["rank"] == 1
        write(readings, SUMMARY, tmp_path / "x.html", title="x")
        assert (tmp_path / "x.html").read_text().startswith("<!doctype html>")
        drawing = write([*readings, reading(f"व {EVIL}", 2, unknown="व")], SUMMARY, tmp_path / "x.svg", title=EVIL).read_text()
        assert ET.fromstring(drawing).tag.endswith("svg")  # noqa: S314  our own output
        assert_self_contained(drawing)
        with pytest.raises(UsageError, match=r"ends in \.html, \.svg, \.png or \.json, got the ending '\.pdf'"):
            write(readings, SUMMARY, tmp_path / "x.pdf", title="x")
    write_units(Activations((), ()), tmp_path / "u.json", title="x")


def test_long_lines_are_wrapped_in_drawings() -> None:
    short, long = (surprise_sketch([reading("a" * count)], "x") for count in (10, 400))
    assert (short.width, long.height > short.height + 40) == (long.width, True)
    assert max(one.x for one in long.shapes if isinstance(one, Symbol)) < long.width


def test_pictures_are_drawn_with_matplotlib(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    unit = Unit(1, 3, 0.5, (np.linspace(-1, 1, 8, dtype=np.float32),))
    written = write_units(Activations((line("the cat"),), (unit,)), tmp_path / "units.png", title="x")
    assert written.read_bytes().startswith(b"\x89PNG")


def test_what_was_written_stays_in_its_order() -> None:
    readings = [reading("b", 1, level=-0.1), reading("a", 2, level=-5.0)]
    page = surprise_page(readings, SUMMARY, "x", ranked=False)
    assert page.index('data-number="1"') < page.index('data-number="2"')
    assert surprise_page(readings, SUMMARY, "x").index('data-number="2"') < page.index('data-number="2"')


def test_a_summary_of_lines_adds_them_up() -> None:
    one = ScoredText("ab", -3.0, ("a", "b", "<end>"), (-1.0, -1.0, -1.0), (1,))
    assert Summary.of([one, one]) == Summary(2, 6, 6, 2, -6.0)
    assert Summary.of([one]).perplexity == pytest.approx(np.e)
