"""The plane of encodings as a drawing and as a page."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from seqloom.errors import UsageError
from seqloom.results.plane import Plane
from seqloom.views.charts.plane import MOST_TEXTS, plane_page, plane_sketch, write_plane

from .markup import Page, assert_self_contained

_NAMESPACE = "{http://www.w3.org/2000/svg}"
EVIL = "</text><script>alert(1)</script>\x00"


def _plane(texts: list[str], groups: list[str]) -> Plane:
    vectors = np.random.default_rng(5).normal(size=(len(texts), 4)).astype(np.float32)
    return Plane.of(vectors, texts, groups)


SMALL = _plane(["a dog", "ein Hund", "שלום", EVIL], ["animal", "animal", "", "<b>"])
LONG = [f"sentence number {index} of all that are there" for index in range(100)]


def plane_svg(plane: Plane, title: str = "") -> str:
    return plane_sketch(plane, title).svg(title)


def _parsed(markup: str) -> ET.Element:
    return ET.fromstring(markup)  # noqa: S314  our own output


@pytest.mark.parametrize(
    "plane", [SMALL, _plane([str(index) for index in range(100)], [str(index % 30) for index in range(100)])]
)
def test_a_drawing_is_well_formed_and_needs_nothing_else(plane: Plane) -> None:
    markup = plane_svg(plane, "A title")
    assert _parsed(markup).tag == f"{_NAMESPACE}svg"
    assert_self_contained(markup)
    page = plane_page(plane, "A title")
    Page(page)
    assert_self_contained(page)


def test_every_text_is_listed_with_its_number_and_under_its_group() -> None:
    shown = [one.text for one in _parsed(plane_svg(SMALL)).iter(f"{_NAMESPACE}text")]
    after = shown.index("animal")
    assert shown[after : after + 5] == ["animal", "1", "a dog", "2", "ein Hund"]
    assert "<script" not in plane_svg(SMALL, EVIL)


def test_many_texts_are_told_by_pointing_and_only_groups_are_listed() -> None:
    markup = plane_svg(_plane(LONG, ["left", "right"] * 50))
    assert [one.text for one in _parsed(markup).iter(f"{_NAMESPACE}text")][2:] == ["left", "right"]
    told = [one.text for one in _parsed(markup).iter(f"{_NAMESPACE}title")]
    assert f"100  {LONG[99]} (right)" in told


def test_long_names_of_groups_are_shortened() -> None:
    shown = _parsed(plane_svg(_plane(LONG[:80], ["word " * 40, "x"] * 40))).iter(f"{_NAMESPACE}text")
    assert max(len(one.text or "") for one in shown) == 90


def test_groups_differ_in_colour_or_shape_as_long_as_there_are_marks() -> None:
    plane = _plane(LONG[:48], [f"group {index % 24}" for index in range(48)])
    marks = {
        (shape.tag, shape.get("class"), (shape.get("points") or "").count(","))
        for point in _parsed(plane_svg(plane)).iter(f"{_NAMESPACE}g")
        if point.get("class") == "point"
        for shape in point
        if shape.tag != f"{_NAMESPACE}title"
    }
    assert len(marks) == 24


def test_all_points_lie_inside_the_frame() -> None:
    for x, y in (one["at"] for one in Page(plane_page(SMALL, "x")).data()["points"]):
        assert 0 < x < 760
        assert 0 < y < 470


def test_a_page_says_whom_the_neighbours_are_and_how_often_they_agree() -> None:
    page = Page(plane_page(SMALL, "x"))
    nearest, able = SMALL.alike
    assert f"for {nearest} of {able} texts" in page.text
    point = page.data()["points"][0]
    assert [other for other, _ in point["near"]] == SMALL.neighbours(0, 3)


def test_the_ending_decides_the_form(tmp_path: Path) -> None:
    assert write_plane(SMALL, tmp_path / "a.svg", title="x").read_bytes().startswith(b"<svg")
    assert write_plane(SMALL, tmp_path / "a.html", title="x").read_bytes().startswith(b"<!doctype html>")
    body = json.loads(write_plane(SMALL, tmp_path / "a.json", title="x").read_text(encoding="utf-8"))
    assert (body["version"], [one["group"] for one in body["points"]]) == (1, ["animal", "animal", None, "<b>"])
    with pytest.raises(UsageError, match=r"ends in .html, .svg, .png or .json, got the ending '.pdf'"):
        write_plane(SMALL, tmp_path / "a.pdf", title="x")


def test_a_picture_is_drawn_with_matplotlib(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert write_plane(SMALL, tmp_path / "a.png", title="x").read_bytes().startswith(b"\x89PNG")


def test_groups_that_are_as_many_as_texts_are_no_groups() -> None:
    plane = _plane([f"word {index}" for index in range(30)], [f"wort {index}" for index in range(30)])
    markup = plane_svg(plane)
    points = [one for one in _parsed(markup).iter(f"{_NAMESPACE}g") if one.get("class") == "point"]
    assert {shape.get("class") for point in points for shape in point if shape.get("class")} == {"g0"}
    assert "wort 7" not in [one.text for one in _parsed(markup).iter(f"{_NAMESPACE}text")]
    assert "<li>" not in plane_page(plane, "x")


def test_labels_cover_neither_points_nor_each_other() -> None:
    plane = _plane([f"word {index}" for index in range(200)], [""] * 200)
    lines = [one for one in _parsed(plane_svg(plane)).iter(f"{_NAMESPACE}text") if (one.text or "").startswith("word")]
    assert 40 < len(lines) < 200
    places = [(float(one.get("x") or 0), float(one.get("y") or 0)) for one in lines if one.get("text-anchor") == "start"]
    assert not [one for one in places for other in places if one < other and _close(one, other)]


def test_too_many_texts_are_refused(tmp_path: Path) -> None:
    count = MOST_TEXTS + 1
    vectors = np.random.default_rng(5).normal(size=(count, 2)).astype(np.float32)
    with pytest.raises(UsageError, match="2,001 texts do not fit"):
        write_plane(Plane.of(vectors, ["x"] * count, [""] * count), tmp_path / "a.svg", title="x")


def _close(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return abs(one[0] - other[0]) < 20 and abs(one[1] - other[1]) < 12
