"""The report page and its charts."""

import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from seqloom.results.confusion import Classes
from seqloom.views.charts.plots import Panel, bar_chart, line_chart, nice_ticks, spoken, thinned, tick_labels
from seqloom.views.pages import report as views
from seqloom.views.pages.report import Metric, Report, ShownExample

from . import pictures, samples
from .markup import Page, assert_self_contained

EVIL = "</script></pre><img src=x onerror=alert(1)>"


def _full(text: str = "") -> Report:
    loss = [(step, 3 * math.exp(-step / 500)) for step in range(0, 5000, 10)]
    example = ShownExample(samples.characters(f"रविवार{text}", f"2026{text}", tag="hi"), f"2025{text}", f"1 error{text}")
    return Report(
        title=f"Dates{text}",
        summary=f"A summary{text}",
        facts=[(f"Parameters{text}", f"412,338{text}")],
        notes=[f"A note{text}"],
        metrics=[Metric(f"exact_match{text}", 97.42, (96.9, 97.9)), Metric("bleu", 31.25, None, f"nrefs:1{text}")],
        panels=[
            Panel(f"Loss{text}", {f"training{text}": loss, "validation": loss[::50]}),
            Panel("Learning rate", {"rate": loss}),
        ],
        validation=[{"step": 100, f"loss{text}": 0.5, "when": f"noon{text}"}],
        by_length=[
            {"from": 1, "to": 5, "count": 90, "exact_match": 99.0, f"cer{text}": 0.4},
            {"from": 6, "to": 6, "count": 10, "exact_match": 92.5},
        ],
        classes=Classes.of([("ja", "ja"), ("ja", f"nein{text}"), (f"nein{text}", f"nein{text}")]),
        best=[example],
        worst=[example],
        maps=[samples.characters(f"cat{text}", f"kat{text}"), samples.two_sources()],
        recipe_text=f"data: {{builtin: dates}}{text}",
    )


def test_a_full_report_is_well_formed_and_needs_nothing_else() -> None:
    markup = views.to_html(_full())
    Page(markup)
    assert_self_contained(markup)


def test_everything_that_was_collected_is_shown() -> None:
    shown = Page(views.to_html(_full())).text
    expected = [
        "Dates",
        "412,338",
        "A note",
        "97.42",
        "96.90 \u2013 97.90",
        "nrefs:1",
        "1\u20135",
        "n=90",
        "92.5",
        "builtin: dates",
    ]
    assert [one for one in expected if one not in shown] == []


def test_whatever_is_empty_is_left_out() -> None:
    page = Page(views.to_html(Report("Empty")))
    assert page.count("section") == 0
    assert page.count("script") == 0


def test_only_a_share_is_drawn_on_a_line_of_shares() -> None:
    shown = [views.to_html(Report(title="r", metrics=[Metric("m", 42.0, percent=percent)])) for percent in (True, False)]
    assert ["accent bar" in markup for markup in shown] == [True, False]


def test_maps_in_one_report_do_not_clash() -> None:
    page = Page(views.to_html(_full()))
    assert page.count("section", kind="seqloom-map") == 2
    assert not any("id" in attributes for _, attributes in page.elements)
    assert page.data(0)["sources"] == ["source"]
    assert page.data(1)["sources"] == ["spelling", "gloss"]


def test_foreign_text_cannot_leave_its_place_anywhere() -> None:
    page = Page(views.to_html(_full(EVIL)))
    assert page.count("img") == 0
    assert page.count("script") == 3
    assert page.text.count("<img src=x") >= 12


def test_errors_are_marked_in_reference_and_output() -> None:
    markup = views.to_html(_full())
    assert '202<mark class="lacking">5</mark>' in markup
    assert '202<mark class="wrong">6</mark>' in markup


def test_charts_are_well_formed_with_values_to_hover() -> None:
    chart = line_chart(Panel("Loss", {"training": [(0, 2.5), (10, 1.25)]}))
    ET.fromstring(chart)  # noqa: S314  our own output
    assert "<title>training, 10: 1.25</title>" in chart


def test_points_that_are_not_numbers_are_left_out() -> None:
    assert "nan" not in line_chart(Panel("Loss", {"a": [(0, 1.0), (1, math.nan), (2, math.inf), (3, 2.0)]}))
    assert line_chart(Panel("Loss", {"a": [(0, math.nan)]})) == ""


@pytest.mark.parametrize("points", [[(5.0, 1.0)], [(0.0, 0.0)], [(1.0, 2.0), (2.0, 2.0)], [(1.0, -1e-9), (2.0, 1e9)]])
def test_unusual_curves_are_drawn_within_the_frame(points: list[tuple[float, float]]) -> None:
    places = re.findall(r'c[xy]="([^"]+)"', line_chart(Panel("x", {"a": points})))
    assert all(-1 <= float(one) <= 521 for one in places)


def test_a_long_curve_is_thinned_to_means_and_keeps_its_end() -> None:
    kept = thinned([(float(step), float(step % 2)) for step in range(10_000)], 100)
    assert len(kept) == 100
    assert kept[-1] == (9999.0, 0.5)


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (0.03, 3.07), (-5.0, 5.0), (97.1, 99.9), (0.0, 12345.0), (2.0, 2.0), (0.0, 3e-14)]
)
def test_ticks_enclose_the_range_with_round_numbers(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low
    assert ticks[-1] >= high
    assert 3 <= len(ticks) <= 8


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (97.42, "97.42"),
        (0.003, "0.003"),
        (0.0001, "1.00e\u22124"),
        (12345.0, "12,345"),
        (-1.5, "\u22121.5"),
        (100.0, "100"),
    ],
)
def test_values_are_written_short(value: float, written: str) -> None:
    assert spoken(value) == written


def test_bars_of_nothing_are_nothing() -> None:
    assert bar_chart("empty", []) == ""


def test_bars_leave_room_for_the_letters_of_narrow_screens() -> None:
    letters = 15.0  # report.css
    chart = bar_chart("match", [("3\u20135", 100.0, "n=15")], highest=100.0, x_label="symbols")
    lines = {
        content: float(y) for y, content in re.findall(r'y="([\d.]+)" font-size="[\d.]+" text-anchor="\w+">([^<]+)<', chart)
    }
    over_bar = min(float(y) for y in re.findall(r'class="ink num" x="[\d.]+" y="([\d.]+)"', chart))
    assert over_bar >= letters
    below = sorted(lines[one] for one in ("3\u20135", "n=15", "symbols"))
    assert all(after - before >= letters for before, after in pairwise(below))


def test_few_classes_have_a_table_of_confusions_and_many_a_list() -> None:
    few = Page(views.to_html(Report("Few", classes=Classes.of([("ja", "ja"), ("ja", "nein")])))).text
    assert "Rows: wanted. Columns: written." in few
    many = Page(views.to_html(Report("Many", classes=Classes.of((str(one), str(one // 2)) for one in range(30))))).text
    assert "The 10 rarest classes are not shown." in many
    assert "written instead" in many


def test_a_prediction_about_a_picture_is_a_strip_without_a_large_picture() -> None:
    page = Page(views.to_html(Report(title="Captions", maps=[pictures.caption("a red ball")])))
    assert (page.count("div", kind="look compact"), page.count("div", kind="view")) == (1, 0)
    assert page.count("img", kind="mask") == 4


def test_a_curve_of_next_to_nothing_is_drawn() -> None:
    assert "<polyline" in line_chart(Panel("Scores", {"bleu": [(2, 4.2e-14)]}))


def test_labels_of_an_axis_differ() -> None:
    assert tick_labels([0.0, 0.0005, 0.001, 0.0015]) == ["0", "0.0005", "0.0010", "0.0015"]
    assert tick_labels([-50.0, 0.0, 50.0]) == ["\u221250", "0", "50"]
    assert tick_labels([0.0, 2500.0, 5000.0]) == ["0", "2,500", "5,000"]
    assert tick_labels([3.0]) == ["3"]
